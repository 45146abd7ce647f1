"""The recorder leaves all file descriptors to the program, and reports data that it could not write."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from framedex.captures import read_capture
from framedex.model import MergeOutcome, StopReason, StopReasons
from framedex_native import _native
from tests.reading import calls_of
from tests.running import run

PUT = "PJRT_Client_BufferFromHostBuffer"


@pytest.mark.exhaustive
def test_forty_threads_are_recorded_with_a_limit_of_thirty_open_files(tmp_path: Path) -> None:
    completed = run("few_files.py", "30", folder=tmp_path)
    assert completed.result == 40
    assert len({call.tid for call in calls_of(completed.capture, PUT)}) == 40
    assert read_capture(completed.capture).problems == ()


def test_a_thread_without_a_file_is_not_recorded_and_the_capture_says_so(tmp_path: Path) -> None:
    completed = run("blocked_thread.py", folder=tmp_path)
    assert (completed.status, completed.stderr) == (0, "")
    assert [call.arguments["dims"] for call in calls_of(completed.capture, PUT)] == [[1], [3]]
    assert read_capture(completed.capture).stops == StopReasons((StopReason.NO_FILE,), lacks_threads=True)


@pytest.mark.exhaustive
def test_a_missing_thread_is_reported_after_a_stop(tmp_path: Path) -> None:
    completed = run("blocked_thread.py", "stop", folder=tmp_path)
    assert (completed.status, completed.stderr) == (0, "")
    assert read_capture(completed.capture).stops.lacks_threads
    assert _native.count_records(os.fsencode(completed.capture))["stopped"]


@pytest.mark.exhaustive
def test_the_last_descriptor_is_never_taken_or_needed(tmp_path: Path) -> None:
    completed = run("last_descriptor.py", "15", str(tmp_path / "rounds"), folder=tmp_path, FRAMEDEX_RECORD="0")
    assert completed.result["opened"] > 1_000
    assert completed.result["failed"] == 0
    for folder in completed.result["captures"]:
        capture = read_capture(Path(folder))
        assert capture.problems == ()
        calls = calls_of(capture, "PJRT_Device_MemoryStats")
        assert (len(capture.threads), len(calls)) == (5, 8_010)
        assert all(call.outcome is MergeOutcome.MERGED and call.python_frames for call in calls)
        assert all(module.fingerprint for module in capture.modules)


@pytest.fixture(scope="module")
def free(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The result of `tiny_limit.py` where a thousand files may be open."""
    folder = tmp_path_factory.mktemp("free")
    found: dict[str, Any] = run(
        "tiny_limit.py", "1000", str(folder / "free"), folder=folder, FRAMEDEX_RECORD="0"
    ).result
    return found


@pytest.mark.exhaustive(keep=["5", "3"])
@pytest.mark.parametrize("files", [12, 8, 5, 3, 1])
def test_with_very_few_files_a_recording_is_complete_or_refused_and_the_program_unchanged(
    tmp_path: Path, files: int, free: dict[str, Any]
) -> None:
    tiny = run("tiny_limit.py", str(files), str(tmp_path / "tiny"), folder=tmp_path, FRAMEDEX_RECORD="0").result
    assert free["capture"]
    assert (tiny["ended"], tiny["statistics"]) == (True, free["statistics"])
    if tiny["capture"] is None:
        assert "Too many open files. Allow the process more open files (ulimit -n)." in tiny["refusal"]
    else:
        assert calls_of(Path(tiny["capture"]), "PJRT_Device_MemoryStats")
        assert read_capture(Path(tiny["capture"])).problems == ()
    assert (tiny["capture"] is None) == (files < 5)
