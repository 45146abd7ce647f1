"""A crashing handler is named before the process dies in the same way as without framedex."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from framedex.captures.open_calls import read_open_calls
from tests.ffi_running import CPU, FfiRun, run_ffi, run_untraced

SIGNALS = {
    "segfault": signal.SIGSEGV,
    "abort": signal.SIGABRT,
    "stack overflow": signal.SIGSEGV,
    "segfault while compiling": signal.SIGSEGV,
}


def crashed(how: str, *arguments: str, folder: Path, runs: Callable[..., FfiRun] = run_ffi) -> FfiRun:
    """The program that crashes."""
    return runs("ffi_crash.py", how, *arguments, folder=folder, **CPU)


def reports(completed: FfiRun) -> list[str]:
    """The lines that framedex printed."""
    return [line for line in completed.stderr.splitlines() if line.startswith("framedex: ")]


@pytest.fixture(scope="module")
def segfault(tmp_path_factory: pytest.TempPathFactory) -> FfiRun:
    """A traced run whose handler segfaults."""
    return crashed("segfault", folder=tmp_path_factory.mktemp("segfault"))


def test_a_crash_report_names_target_stage_and_line(segfault: FfiRun) -> None:
    assert_named(segfault, "segfault")


def test_a_stack_overflow_report_names_target_stage_and_line(tmp_path: Path) -> None:
    assert_named(crashed("stack overflow", folder=tmp_path), "stack overflow")


@pytest.mark.exhaustive
def test_an_abort_report_names_target_stage_and_line(tmp_path: Path) -> None:
    assert_named(crashed("abort", folder=tmp_path), "abort")


def assert_named(completed: FfiRun, how: str) -> None:
    """The report of a crash in `step` names its handler, stage and lines."""
    assert completed.status == -SIGNALS[how]
    (report,) = reports(completed)
    assert report.startswith(f"framedex: {SIGNALS[how].name} in the FFI handler of 'fail' (execute stage), called at ")
    assert "ffi_examples.py:" in report
    assert "ffi_crash.py:" in report
    assert " in step" in report


def test_a_crash_while_compiling_names_the_lines_that_call_the_target(tmp_path: Path) -> None:
    completed = crashed("segfault while compiling", folder=tmp_path)
    assert completed.status == -signal.SIGSEGV
    (report,) = reports(completed)
    assert "'fail' (instantiate stage), called at one of: " in report
    assert " in step" in report


@pytest.mark.exhaustive(keep=["faulthandler-abort"])
@pytest.mark.parametrize("how", SIGNALS)
@pytest.mark.parametrize("watcher", ["", "faulthandler", "faulthandler late"])
def test_the_process_dies_the_same_way_without_framedex(how: str, watcher: str, tmp_path: Path) -> None:
    plain = crashed(how, watcher, folder=tmp_path, runs=run_untraced)
    traced = crashed(how, watcher, folder=tmp_path)
    assert traced.status == plain.status == -SIGNALS[how]
    assert ("Fatal Python error" in traced.stderr) == ("Fatal Python error" in plain.stderr) == bool(watcher)
    assert traced.stdout == plain.stdout


def test_the_capture_names_the_thread_of_the_crash(segfault: FfiRun) -> None:
    (crashed,) = [thread for thread in read_open_calls(segfault.capture) if thread.signal is not None]
    assert crashed.signal == "SIGSEGV"
    assert [call.function for call in crashed.open_calls][-1:] == ["fail"]


def test_the_capture_shows_the_unfinished_run(segfault: FfiRun) -> None:
    last = segfault.calls("fail")[-1]
    assert (last.duration, last.error) == (-1, -1)
    assert last.arguments["attributes"] == 'how="segfault"'
    site = segfault.site_of(last)
    assert site is not None
    assert "step" in [function for _, _, function in site["frames"]]
    assert not segfault.recorded.problems


@pytest.mark.exhaustive
@pytest.mark.parametrize("how", ["outside", "after"])
def test_a_crash_outside_handlers_is_not_reported(how: str, tmp_path: Path) -> None:
    completed = crashed(how, folder=tmp_path)
    assert completed.status == -signal.SIGSEGV
    assert reports(completed) == []
