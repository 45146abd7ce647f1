"""What is drawn on stderr while something takes long."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

# By a clock that runs ahead: the time that is left is told after a second.
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


def test_bars_tell_how_far_the_work_is_and_leave_only_the_notes() -> None:
    drawn = _drawn({"TERM": "xterm"})

    assert "Looking for sources" in drawn and "200" in drawn
    assert re.search(r"Reading sources .*500/1500", drawn) and "1500/1500" in drawn
    # Each bar is one line, which is erased at its end.
    assert drawn.count("\n") == 3 and drawn.count("\x1b[A\x1b[2K") == 2
    assert drawn.endswith("\x1b[A\x1b[2K")


@pytest.mark.parametrize("columns", [10, 20, 40, 60, 80, 200])
def test_a_bar_fits_its_terminal(columns: int) -> None:
    drawn = _drawn({"TERM": "xterm", "COLUMNS": str(columns)})

    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[?0-9]*[A-Za-z]", "", drawn).replace("There are some.", ""))
    assert max(map(len, map(str.rstrip, lines))) <= max(columns, 20)


def test_a_dumb_terminal_gets_no_bars() -> None:
    assert _drawn({"TERM": "dumb"}) == ""


def _drawn(environment: dict[str, str]) -> str:
    """What the work writes to the terminal at its stderr."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "wb", closefd=True) as terminal:
        subprocess.run([sys.executable, "-c", WORK], stderr=terminal, env=os.environ | environment, check=True)
    written = b""
    try:
        while part := os.read(ours, 1 << 16):
            written += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return written.decode().replace("\r\n", "\n")
