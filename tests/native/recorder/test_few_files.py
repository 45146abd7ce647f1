"""The file descriptors of a process are the program's: the recorder keeps none, and says what it could not write."""

from __future__ import annotations

import os
from pathlib import Path

from framedex.captures import read_capture
from framedex_native import _native
from tests.reading import calls_of
from tests.running import run

PUT = "PJRT_Client_BufferFromHostBuffer"


def test_forty_threads_are_recorded_where_only_thirty_files_may_be_open(tmp_path: Path) -> None:
    ended = run("few_files.py", "30", folder=tmp_path)
    assert ended.result == 40
    assert len({call.tid for call in calls_of(ended.capture, PUT)}) == 40
    assert read_capture(ended.capture).problems == ()


def test_a_thread_without_a_file_goes_unrecorded_and_the_capture_says_so(tmp_path: Path) -> None:
    ended = run("blocked_thread.py", folder=tmp_path)
    assert (ended.status, ended.stderr) == (0, "")
    assert [call.arguments["dims"] for call in calls_of(ended.capture, PUT)] == [[1], [3]]
    problems = read_capture(ended.capture).problems
    assert any("Missing: all calls of some threads" in problem for problem in problems), problems


def test_that_a_thread_is_missing_is_still_said_after_a_stop(tmp_path: Path) -> None:
    ended = run("blocked_thread.py", "stop", folder=tmp_path)
    assert (ended.status, ended.stderr) == (0, "")
    assert any("Missing: all calls of some threads" in problem for problem in read_capture(ended.capture).problems)
    assert _native.count_records(os.fsencode(ended.capture))["stopped"]
