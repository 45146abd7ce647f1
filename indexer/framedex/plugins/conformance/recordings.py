"""Recordings as checks: a plug-in gives the recorded results when it replays them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.plugins.conformance.model import Check, CheckResult, Stage, Status
from framedex.plugins.replay.comparison import Tolerance
from framedex.plugins.replay.judging import FailedCall, Verdict, judge_reads
from framedex.plugins.replay.plan import Plan
from framedex.plugins.replay.runner import Target

_RULE = "A replay of the recording gives the recorded results."
_OUT_OF_RANGE, _UNIMPLEMENTED = 11, 12
_NO_DEVICE = "there is no device "  # with OUT_OF_RANGE: native/replay/plugin.cc


def build_recording_check(name: str) -> Check:
    """Return the check of a recording."""
    return Check(f"recordings.{name}", (), _RULE, Stage.PROGRAM, lambda: None)


def check_recording(
    check: Check, plan: Plan, target: Target, tolerance: Tolerance, seed: int, limit_s: float
) -> CheckResult:
    """Replay a recording, and compare what it reads with the recorded contents.

    A plug-in for CPUs gets the recorded number of devices.
    """
    began = time.monotonic()
    flags = f"--xla_force_host_platform_device_count={plan.machine.devices}"
    target = target if target.is_mock else replace(target, flags=flags)
    try:
        verdict = judge_reads(plan, target, tolerance, seed=seed, limit_s=limit_s)
    except FramedexError as error:  # it has no client, which another check reports
        return CheckResult(check, Status.SKIPPED, error.message, time.monotonic() - began)
    status, detail = _outcome(plan, verdict)
    output = verdict.crashes[0].output if verdict.crashes else ""
    return CheckResult(check, status, detail, time.monotonic() - began, output=output)


def _outcome(plan: Plan, verdict: Verdict) -> tuple[Status, str]:
    if verdict.crashes:
        crash = verdict.crashes[0]
        return Status.HANG if crash.is_hang else Status.CRASH, _format_place_text(plan, crash.row) + crash.reason
    if first := verdict.first_difference:
        found = first.comparison
        size = "" if found is None else f", {found.differing:,} of {words.count(found.elements, 'element')}"
        differing = f"{words.count(len(verdict.differences), 'content')} of {verdict.compared:,} differ, the first: "
        inexact = f"; {verdict.inexact_note}" if verdict.inexact else ""
        return (
            Status.FAIL,
            f"{differing}{_format_place_text(plan, first.execution)}{first.type}[{first.shape}]{size}{inexact}",
        )
    if verdict.failed:
        failed = _find_decisive_failure(verdict.failed)
        is_unsupported = failed.code == _UNIMPLEMENTED or _lacks_device(failed)
        status = Status.UNSUPPORTED if is_unsupported else Status.FAIL
        return status, _format_place_text(plan, failed.row) + failed.message
    if not verdict.compared:
        return Status.SKIPPED, "it has no contents to compare: record it with --contents"
    return Status.PASS, f"{words.count(verdict.compared, 'content')} equal"


def _find_decisive_failure(failed: Sequence[FailedCall]) -> FailedCall:
    """Return the failure that explains the others: too few devices, or else one that is not a missing feature."""
    return min(failed, key=lambda each: 0 if _lacks_device(each) else 2 if each.code == _UNIMPLEMENTED else 1)


def _lacks_device(failed: FailedCall) -> bool:
    return failed.code == _OUT_OF_RANGE and failed.message.startswith(_NO_DEVICE)


def _format_place_text(plan: Plan, row: int | None) -> str:
    """The program that a call compiles or executes, and the number of the execution, before a text."""
    program = plan.programs.get(plan.executables.get(-1 if row is None else row, -1), "")
    number = next((number for number, each in enumerate(plan.executions, 1) if each.row == row), None)
    place = program if number is None else f"{program}, execution {number}"
    return f"{place}: " if place else ""
