"""Run checks against a plug-in: first the checks that others depend on, then the others. Each has its own process."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from framedex.base.errors import FramedexError
from framedex.plugins.conformance import sandbox
from framedex.plugins.conformance.client import Client, Options
from framedex.plugins.conformance.model import PREREQUISITES, REGISTRY, Check, CheckResult, Report, Stage, Status
from framedex.plugins.conformance.plugin import BrokenRuleError, NotAPluginError, Plugin, PluginError, UnsupportedError

GROUPS = (
    "table", "clients", "errors", "devices", "memories", "buffers", "host_buffers", "element_types", "layouts",
    "events", "compiling", "executables", "executing", "transfers", "host_transfers", "topologies", "serialization",
    "extensions", "struct_sizes", "threads", "limits", "lifetimes",
)  # fmt: skip
_OUTPUT_CHARACTERS = 4000
_LAST_WORDS = re.compile(r"Check failed|^F\d{4} |what\(\):")


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of a run. `options` are passed to PJRT_Client_Create. `variables` are set in each check's process.

    `preload` names modules that are imported once, before the forks: a plug-in that uses this Python needs them.
    """

    options: Options = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    preload: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    jobs: int = 2
    limit_s: float = 60.0


@functools.cache
def all_checks() -> tuple[Check, ...]:
    """Every check, by group."""
    for group in GROUPS:
        import_module(f"framedex.plugins.conformance.checks.{group}")
    order = {group: number for number, group in enumerate(GROUPS)}
    return tuple(sorted(REGISTRY, key=lambda check: order[check.group]))


def select_checks(only: Sequence[str]) -> tuple[Check, ...]:
    """The checks whose name, group or covered function matches a pattern; all without a pattern."""
    return tuple(check for check in all_checks() if check.matches(only))


def run_checks(path: Path, settings: Settings) -> Report:
    """Run the selected checks and their prerequisites. Raises FramedexError if the file is not a plug-in."""
    for name in settings.preload:
        import_module(name)
    description = _describe(path, settings)
    selected = _with_prerequisites(select_checks(settings.only))
    results: dict[str, CheckResult] = {}
    for name in PREREQUISITES.values():
        _run_unblocked(path, settings, [check for check in selected if check.name == name], results)
    _run_unblocked(path, settings, [check for check in selected if check.name not in results], results)
    return Report(
        str(path),
        (description["major"], description["minor"]),
        description["missing"],
        tuple(description["extensions"]),
        tuple(results[check.name] for check in selected),
    )


def _with_prerequisites(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return these checks and their prerequisites, in the order of `all_checks`."""
    by_name = {check.name: check for check in all_checks()}
    needed = {check.name for check in checks}
    for name in reversed(PREREQUISITES.values()):
        if any(PREREQUISITES.get(by_name[each].stage) == name for each in needed):
            needed.add(name)
    return tuple(check for check in all_checks() if check.name in needed)


def _run_unblocked(path: Path, settings: Settings, checks: Sequence[Check], results: dict[str, CheckResult]) -> None:
    """Run checks in parallel, and add their results. Checks whose prerequisite did not pass are skipped."""
    unblocked = []
    for check in checks:
        needed = results.get(PREREQUISITES.get(check.stage, ""))
        if needed is None or needed.status is Status.PASS:
            unblocked.append(check)
        else:
            results[check.name] = CheckResult(check, Status.SKIPPED, needed.detail)
    _run(path, settings, unblocked, results)


def _run(path: Path, settings: Settings, checks: Sequence[Check], results: dict[str, CheckResult]) -> None:
    """Run checks in parallel, and add their results."""

    def finish(check: Check, outcome: sandbox.Outcome) -> None:
        results[check.name] = _build_result(check, outcome)

    works: list[sandbox.Work] = [
        (functools.partial(_run_check, path, settings, check), functools.partial(finish, check)) for check in checks
    ]
    sandbox.run_all(works, settings.jobs, settings.limit_s)


def _describe(path: Path, settings: Settings) -> dict[str, Any]:
    """Load the plug-in in a child, and return the version and the extensions of its table."""

    def work() -> dict[str, Any]:
        os.environ.update(settings.variables)
        try:
            plugin = Plugin(path)
        except NotAPluginError as error:
            return {"problem": str(error)}
        version = {"major": plugin.major, "minor": plugin.minor}
        return version | {"missing": plugin.missing_functions(), "extensions": list(plugin.extensions())}

    found: list[sandbox.Outcome] = []
    sandbox.run_all([(work, found.append)], 1, settings.limit_s)
    report = found[0].report or {"problem": _describe_end(found[0])}
    if problem := report.get("problem") or report.get("fault"):
        raise FramedexError(
            f"{path} cannot be used as a PJRT plug-in. {problem}",
            "Name a shared library for this machine that exports GetPjrtApi.",
        )
    return report


def _run_check(path: Path, settings: Settings, check: Check) -> dict[str, Any]:
    """Load the plug-in, run the check, and return the result as JSON: in the child."""
    os.environ.update(settings.variables)
    plugin = Plugin(path)
    status, detail = Status.PASS, ""
    try:
        detail = check.run(_prepare(plugin, settings, check))
    except UnsupportedError as error:
        status, detail = Status.UNSUPPORTED, str(error)
    except PluginError as error:
        status = Status.UNSUPPORTED if error.code == "UNIMPLEMENTED" else Status.FAIL
        detail = str(error)
    except BrokenRuleError as failure:
        status, detail = Status.FAIL, str(failure)
    outcomes = {name: sorted(codes) for name, codes in plugin.outcomes.items()}
    return {"status": status.value, "detail": detail, "outcomes": outcomes}


def _prepare(plugin: Plugin, settings: Settings, check: Check) -> Plugin | Client:
    if check.stage is not Stage.TABLE and plugin.slot("PJRT_Plugin_Initialize"):
        plugin.call("PJRT_Plugin_Initialize")
    return plugin if check.stage in (Stage.TABLE, Stage.PLUGIN) else Client(plugin, settings.options)


def _build_result(check: Check, outcome: sandbox.Outcome) -> CheckResult:
    report = outcome.report
    if report is not None and "fault" in report:
        return CheckResult(check, Status.FAIL, f"The check itself failed: {report['fault']}", outcome.seconds)
    if report is not None:
        return CheckResult(check, Status(report["status"]), report["detail"], outcome.seconds, report["outcomes"])
    status = Status.HANG if outcome.is_timeout else Status.CRASH
    detail = _describe_end(outcome)
    return CheckResult(
        check, status, detail, outcome.seconds, {}, outcome.signal, outcome.frames,
        outcome.output[-_OUTPUT_CHARACTERS:],
    )  # fmt: skip


def _describe_end(outcome: sandbox.Outcome) -> str:
    """The end of a child that sent no report."""
    where = next((f" in {frame.function}" for frame in outcome.frames if frame.function), "")
    lines = [line.strip() for line in outcome.output.splitlines() if line.strip()]
    last_words = next(filter(_LAST_WORDS.search, lines), lines[-1] if lines else "")
    said = last_words and f": {last_words}"
    if outcome.is_timeout:
        return f"did not end in {outcome.seconds:.0f} s{where}"
    if outcome.signal:
        return f"{outcome.signal}{where}{said}"
    return f"exited with status {outcome.status}{said}"
