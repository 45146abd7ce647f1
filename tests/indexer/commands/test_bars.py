"""Progress bars on stderr."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from framedex.index import Store
from tests.indexer.index.busy import busy_capture, record_of
from tests.indexer.recorded import Project
from tests.oracle.whole_captures import add_whole

# With a fast clock: the remaining time appears after a second.
WORK = """
import itertools, time
ticks = itertools.count(step=10)
time.time = lambda: float(next(ticks))
from framedex.commands.output.bars import progress_on_terminal
with progress_on_terminal() as progress:
    with progress.task("Looking for sources", None) as advance:
        for _ in range(250):
            advance(1)
    progress.note("There are some.")
    with progress.task("Reading sources", 1500) as advance:
        advance(500)
        advance(1000)
"""

# Also with a fast clock: each read is a second later.
QUESTION = """
import itertools, sys, time
ticks = itertools.count()
time.monotonic = lambda: float(next(ticks))
from framedex.commands.main import cli
cli(sys.argv[1:])
"""
EARLIER_QUESTION = QUESTION.replace("itertools.count()", "itertools.repeat(0)")


def test_bars_show_progress_and_leave_only_the_notes() -> None:
    drawn = _drawn({"TERM": "xterm"})

    assert "Looking for sources" in drawn and "200" in drawn
    assert re.search(r"Reading sources .*500/1500", drawn) and "1500/1500" in drawn
    # Each bar is one line, erased at its end.
    assert drawn.count("\n") == 3 and drawn.count("\x1b[A\x1b[2K") == 2
    assert drawn.endswith("\x1b[A\x1b[2K")


@pytest.mark.exhaustive(keep=["10", "80"])
@pytest.mark.parametrize("columns", [10, 20, 40, 60, 80, 200])
def test_a_bar_fits_its_terminal(columns: int) -> None:
    drawn = _drawn({"TERM": "xterm", "COLUMNS": str(columns)})

    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[?0-9]*[A-Za-z]", "", drawn).replace("There are some.", ""))
    assert max(map(len, map(str.rstrip, lines))) <= max(columns, 20)


def test_a_dumb_terminal_gets_no_bars() -> None:
    assert _drawn({"TERM": "dumb"}) == ""


@pytest.mark.exhaustive(keep=["calls"])
@pytest.mark.parametrize(
    "verb",
    [["calls", "--limit", "0"], ["summary", "--slower", "1ns"], ["summary", "--since", "10us"]],
    ids=["calls", "slower", "since"],
)
def test_a_question_longer_than_a_second_shows_a_bar(busy: Path, verb: list[str]) -> None:
    drawn = _drawn({"TERM": "xterm"}, QUESTION, ["--index", str(busy), *verb])

    assert re.search(r"Reading calls .*\d calls, [\d,]+/s", drawn)
    assert drawn.count("\x1b[A\x1b[2K") >= 1


def test_a_fast_question_shows_no_bar(busy: Path) -> None:
    assert _drawn({"TERM": "xterm"}, EARLIER_QUESTION, ["--index", str(busy), "calls", "--all", "--limit", "0"]) == ""


def test_no_bar_appears_between_streamed_rows(busy: Path) -> None:
    shown = _drawn(
        {"TERM": "xterm"}, QUESTION, ["--index", str(busy), "calls", "--all", "--limit", "0"], with_output=True
    )

    assert "PJRT_Event_Destroy" in shown
    assert "Reading calls" not in shown


@pytest.fixture
def busy(project: Project, tmp_path: Path) -> Path:
    """An index of a few thousand calls."""
    with Store(tmp_path / "index.db") as store:
        add_whole(store, record_of(busy_capture(project)), 700)
    return tmp_path / "index.db"


def _drawn(
    environment: dict[str, str], work: str = WORK, arguments: Sequence[str] = (), *, with_output: bool = False
) -> str:
    """The terminal output of the work on stderr, and on stdout if that is a terminal too."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", work, *arguments],
        stdout=theirs if with_output else subprocess.DEVNULL,
        stderr=theirs,
        env=os.environ | environment,
    )
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 1 << 16):
            written += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0, written
    return written.decode().replace("\r\n", "\n")
