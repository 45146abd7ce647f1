"""A handler that crashes is named before the process dies, as it would have died without framedex."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ffi_running import CPU, FfiRun, run_ffi, run_untraced

SIGNALS = {"segfault": signal.SIGSEGV, "abort": signal.SIGABRT, "segfault while compiling": signal.SIGSEGV}


def crashed(how: str, *arguments: str, folder: Path, runs: Callable[..., FfiRun] = run_ffi) -> FfiRun:
    """The program that crashes."""
    return runs("ffi_crash.py", how, *arguments, folder=folder, **CPU)


def reports(ended: FfiRun) -> list[str]:
    """The lines that framedex printed."""
    return [line for line in ended.stderr.splitlines() if line.startswith("framedex: ")]


@pytest.fixture(scope="module")
def segfault(tmp_path_factory: pytest.TempPathFactory) -> FfiRun:
    """A traced run whose handler segfaults."""
    return crashed("segfault", folder=tmp_path_factory.mktemp("segfault"))


def test_target_stage_and_line_are_named(segfault: FfiRun) -> None:
    assert_named(segfault, "segfault")


@pytest.mark.exhaustive
def test_target_stage_and_line_of_an_abort_are_named(tmp_path: Path) -> None:
    assert_named(crashed("abort", folder=tmp_path), "abort")


def assert_named(ended: FfiRun, how: str) -> None:
    """The report of a crash in `step` names its handler, stage and lines."""
    assert ended.status == -SIGNALS[how]
    (report,) = reports(ended)
    assert report.startswith(f"framedex: {SIGNALS[how].name} in the FFI handler of 'fail' (execute stage), called at ")
    assert "ffi_examples.py:" in report
    assert "ffi_crash.py:" in report
    assert " in step" in report


def test_a_crash_while_compiling_names_the_lines_that_call_the_target(tmp_path: Path) -> None:
    ended = crashed("segfault while compiling", folder=tmp_path)
    assert ended.status == -signal.SIGSEGV
    (report,) = reports(ended)
    assert "'fail' (instantiate stage), called at one of: " in report
    assert " in step" in report


@pytest.mark.exhaustive(keep=["faulthandler-abort"])
@pytest.mark.parametrize("how", SIGNALS)
@pytest.mark.parametrize("watcher", ["", "faulthandler", "faulthandler late"])
def test_the_process_dies_as_it_does_without_framedex(how: str, watcher: str, tmp_path: Path) -> None:
    plain = crashed(how, watcher, folder=tmp_path, runs=run_untraced)
    traced = crashed(how, watcher, folder=tmp_path)
    assert traced.status == plain.status == -SIGNALS[how]
    assert ("Fatal Python error" in traced.stderr) == ("Fatal Python error" in plain.stderr) == bool(watcher)
    assert traced.stdout == plain.stdout


def test_the_capture_shows_the_run_that_never_returned(segfault: FfiRun) -> None:
    last = segfault.calls("fail")[-1]
    assert (last.duration, last.error) == (-1, -1)
    assert last.arguments["attributes"] == 'how="segfault"'
    site = segfault.site_of(last)
    assert site is not None
    assert "step" in [function for _, _, function in site["frames"]]
    assert not segfault.recorded.problems


@pytest.mark.exhaustive
@pytest.mark.parametrize("how", ["outside", "after"])
def test_a_crash_outside_of_handlers_is_not_ours_to_report(how: str, tmp_path: Path) -> None:
    ended = crashed(how, folder=tmp_path)
    assert ended.status == -signal.SIGSEGV
    assert reports(ended) == []
