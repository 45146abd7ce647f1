"""`framedex waits` of waits whose end is not recorded: their duration is unknown, not 0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.captures import read_capture, write_program_end
from framedex.captures.open_calls import read_invocations
from framedex.commands.main import cli
from framedex.index import Index
from framedex.index.write.programs import EXECUTE_FUNCTION
from framedex.model import WaitReason
from framedex.texts.costs import format_waits, format_waits_details
from tests.indexer.unplaced import index_without_sources
from tests.run.costs.cases import line_marked
from tests.running import PROGRAMS, run

PROGRAM = PROGRAMS / "costs" / "unseen_waits.py"
LONG = 100_000_000
"""ns, of the 300 ms of the program's waits: on a busy machine, a thread reaches its wait late."""


@pytest.fixture
def index(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The index of the case in the test's parameter."""
    ran = run("costs/unseen_waits.py", request.param, folder=tmp_path)
    write_program_end(ran.capture, ran.status)  # as `framedex run` does
    index_without_sources(tmp_path / "index.db", ran.capture)
    return tmp_path / "index.db"


def _shown(index: Path, *arguments: str) -> str:
    found = CliRunner(env={"COLUMNS": "200"}).invoke(cli, ["--index", str(index), "waits", *arguments])
    assert found.exit_code == 0
    return found.stdout


@pytest.mark.parametrize("index", ["deadlock", "exits"], indirect=True)
def test_an_unfinished_wait_lasts_until_the_program_ended(index: Path) -> None:
    with Index.open(index) as opened:
        (row,) = (row for row in opened.waits().lines if row.how is WaitReason.READY)
        run_of_wait = opened.calls.get(row.longest_run or 0)

    assert row.line is not None and row.line.location.line == line_marked(PROGRAM, "waits forever")
    assert row.dispatched_in is not None and row.dispatched_in.location.line == line_marked(PROGRAM, "never ends")
    assert run_of_wait is not None and run_of_wait.function == EXECUTE_FUNCTION
    assert f"for {row.longest_event} of the program dispatched in {PROGRAM}:" in _shown(index)
    assert (row.count, row.unended, row.unsure) == (1, 1, 0)
    assert row.total_duration > LONG  # no thread made a call in this time
    assert "1 wait had not ended when the recording ended: the duration is unknown." in _shown(index)
    assert format_waits([row]).startswith("waited at least ")
    assert format_waits_details([row])[0].endswith("; 1 of them had not ended when the recording ended")


@pytest.mark.parametrize("index", ["killed"], indirect=True)
def test_waits_of_a_killed_program_after_its_last_call_are_unknown(index: Path) -> None:
    with Index.open(index) as opened:
        assert opened.captures_with_waits()
        waiting = opened.waits()

    assert LONG < waiting.unseen <= waiting.recorded
    shown = _shown(index)
    assert "a thread made no call until its program, or the recording, had ended, as in" in shown
    assert "Unknown: SIGKILL ended the program. Waits after the last call of a thread are not recorded." in shown
    assert json.loads(_shown(index, "--json"))["ended_by"] == ["SIGKILL"]


@pytest.mark.parametrize("index", ["barrier"], indirect=True)
def test_a_wait_without_a_call_is_unknown(index: Path) -> None:
    with Index.open(index) as opened:
        waiting = opened.waits()
        assert opened.captures_with_waits()
        call = opened.calls.get(waiting.unseen_call)
        assert call is not None
        line = opened.calls.python_lines([call])[call.id]

    assert line.location.line == line_marked(PROGRAM, "its callback takes 300 ms")
    assert waiting.unseen > LONG
    assert "a thread made no call until its program, or the recording, had ended, as in" in _shown(index)
    document = json.loads(_shown(index, "--json"))
    assert (document["unseen"], document["unseen_call"]) == (waiting.unseen, waiting.unseen_call)


@pytest.mark.parametrize("index", ["barrier"], indirect=True)
def test_a_wait_ends_when_the_runtime_invokes_its_callback(index: Path) -> None:
    with Index.open(index) as opened:
        waiting = opened.waits()
        (path,) = (Path(capture.path) for capture in opened.captures())
    capture = read_capture(path)
    before = waiting.unseen_call - 1
    since = (capture.metadata.started_clock_ns or 0) + capture.calls.start[before] + capture.calls.duration[before]

    assert waiting.unseen in {each.time_ns - since for each in read_invocations(path)}
