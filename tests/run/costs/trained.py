"""The training loop of `programs/costs/training.py`, recorded and indexed once for all its tests."""

from __future__ import annotations

from pathlib import Path

from framedex.index import Store
from framedex.ingest import SilentProgress, ingest_captures
from tests.once import made_once
from tests.running import PROGRAMS, run

PROGRAM = PROGRAMS / "costs" / "training.py"


def index_of_training() -> Path:
    """The index, in its own folder."""
    return made_once("costs-training", _record)


def line_of(text: str) -> int:
    """The number of the program's first line with the text."""
    return next(number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if text in line)


def _record(folder: Path) -> Path:
    ran = run("costs/training.py", folder=folder)
    assert ran.status == 0, ran.stderr
    with Store(folder / "index.db") as store:
        ingest_captures(store, ran.captures, [], SilentProgress())
    return folder / "index.db"
