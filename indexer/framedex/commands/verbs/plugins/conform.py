"""`framedex conform`: check a PJRT plug-in against the C API."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base.errors import FramedexError
from framedex.commands.launching.replayed import (
    MOCK,
    create_option,
    find_recordings,
    find_target,
    open_recording,
    sandbox_option,
)
from framedex.commands.output.console import json_option, print_json, print_lines

if TYPE_CHECKING:
    from framedex.plugins.conformance import CheckResult, Settings
    from framedex.plugins.conformance.model import Check
    from framedex.plugins.replay.plan import OptionValue

_MOCK_MODULES = ("jax", "jaxlib.mlir.dialects.stablehlo")  # imported once, instead of in each check of the mock


@click.command()
@click.argument("plugin", metavar="[PLUGIN.so]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--compare", metavar="OTHER.so", type=click.Path(path_type=Path), help="Check OTHER too, and show the differences."
)
@click.option(
    "--only", multiple=True, metavar="PATTERN", help="Only checks with this name, group or function. Repeatable."
)
@click.option("--list", "is_list", is_flag=True, help="List the checks, and run none.")
@click.option("--all", "with_all", is_flag=True, help="Show all results, not only failures.")
@create_option
@click.option("--device-count", type=click.IntRange(min=1), default=4, show_default=True, metavar="N",
              help="Devices of the mock and of XLA's CPU client.")  # fmt: skip
@click.option(
    "--jobs", type=click.IntRange(min=1), default=2, show_default=True, metavar="N", help="Checks at the same time."
)
@click.option("--limit", type=click.FloatRange(min=1), default=60, show_default=True, metavar="SECONDS",
              help="Time limit of a check; a longer one is a hang.")  # fmt: skip
@click.option("--recordings", metavar="FOLDER", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="Check also that replays of these recordings give the recorded results.")  # fmt: skip
@click.option("--rtol", type=click.FloatRange(0), default=0.0, metavar="R",
              help="In recordings, accept floating-point values within this relative difference.")  # fmt: skip
@sandbox_option
@click.option("--junit", metavar="FILE", type=click.Path(path_type=Path), help="Also write JUnit XML.")
@click.option("--html", metavar="FILE", type=click.Path(path_type=Path), help="Also write an HTML page.")
@json_option
@click.pass_context
def conform(
    ctx: click.Context,
    plugin: Path | None,
    compare: Path | None,
    only: tuple[str, ...],
    is_list: bool,
    with_all: bool,
    create_options: tuple[tuple[str, OptionValue], ...],
    device_count: int,
    jobs: int,
    limit: float,
    recordings: Path | None,
    rtol: float,
    is_confined: bool,
    junit: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Check a PJRT plug-in against the C API.

    Without PLUGIN.so it checks the mock TPU. It needs no JAX, except for the mock. Each check runs in a process of its
    own: a crash or a hang is a result with its native stack. A missing function is no failure. The last lines name the
    functions that JAX releases need and the plug-in lacks.

    Recordings for --recordings are captures of `run --contents`, and files of `replay -o`. They contain programs for
    the plug-in's compiler: use only recordings that you trust.

    Status 1: a check failed. See docs/how-to/conformance.md.
    """
    from framedex.commands.output.render_conformance import check_lines, render_comparison_lines, report_lines
    from framedex.plugins.conformance.documents import report_document
    from framedex.plugins.conformance.junit import build_junit
    from framedex.plugins.conformance.page import build_page
    from framedex.plugins.conformance.runner import run_checks, select_checks

    recorded = _select_recordings(recordings, only)
    checks = select_checks(only)
    if not checks and not recorded:
        raise FramedexError("No check matches these patterns.", "List the checks: `framedex conform --list`.")
    if is_list:
        print_lines(check_lines((*checks, *recorded)))
        return
    options = dict(create_options)
    paths = [plugin or _mock_path(), *([compare] if compare else [])]
    reports = []
    for path in paths:
        report = run_checks(path.absolute(), _check_settings(path, options, device_count, only, jobs, limit))
        replayed = _check_recordings(path, recorded, options, rtol, limit, is_confined=is_confined)
        reports.append(replace(report, results=(*report.results, *replayed)))
    for file, text in ((junit, build_junit), (html, build_page)):
        if file is not None:
            file.write_text(text(reports[0]), encoding="utf-8")
    if as_json:
        print_json([report_document(each) for each in reports] if compare else report_document(reports[0]))
    elif compare:
        print_lines(render_comparison_lines(*reports))
    else:
        print_lines(report_lines(reports[0], with_all=with_all))
    if any(report.failed for report in reports):
        ctx.exit(1)


def _select_recordings(folder: Path | None, only: tuple[str, ...]) -> dict[Check, Path]:
    """The checks of a folder's recordings that match a pattern. Raises FramedexError if the folder has none."""
    from framedex.plugins.conformance.recordings import build_recording_check

    found = {} if folder is None else find_recordings(folder)
    return {check: path for name, path in found.items() if (check := build_recording_check(name)).matches(only)}


def _check_recordings(
    plugin: Path,
    recordings: dict[Check, Path],
    options: dict[str, OptionValue],
    rtol: float,
    limit_s: float,
    *,
    is_confined: bool,
) -> list[CheckResult]:
    from framedex.plugins.conformance.model import CheckResult, Status
    from framedex.plugins.conformance.recordings import check_recording
    from framedex.plugins.replay.comparison import Tolerance

    found = find_target(MOCK if _is_mock(plugin) else str(plugin), sys.executable)  # noqa: TID251
    target = replace(found, is_confined=is_confined, options=options)
    results = []
    for check, path in recordings.items():
        try:
            with open_recording(path, warns=False) as recording:
                result = check_recording(check, recording.plan, target, Tolerance(0, rtol), recording.seed, limit_s)
        except FramedexError as error:
            result = CheckResult(check, Status.FAIL, error.message, 0.0)
        results.append(result)
    return results


def _check_settings(
    path: Path,
    options: dict[str, OptionValue],
    devices: int,
    only: tuple[str, ...],
    jobs: int,
    limit: float,
) -> Settings:
    """The settings for a plug-in. Variables of the mock and of XLA's CPU client set the number of devices."""
    from framedex.plugins.conformance import Settings

    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}".strip()
    variables = {"XLA_FLAGS": flags, "FRAMEDEX_DEVICES": str(devices)}
    modules = _MOCK_MODULES if _is_mock(path) else ()
    return Settings(options, variables, modules, only, jobs, limit)


def _is_mock(path: Path) -> bool:
    try:
        return path.samefile(_mock_path())
    except (OSError, FramedexError):
        return False


def _mock_path() -> Path:
    from framedex.base.nativepart import framedex_native

    return framedex_native.library_path()
