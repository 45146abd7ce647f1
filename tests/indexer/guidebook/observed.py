"""A real program with steps, recorded on the mock TPU, indexed and observed once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from framedex.guidebook.observations import observe
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, ingest_captures
from framedex.model.guidebook import Observations, ObservedFunction
from tests.once import made_once
from tests.running import run

PROGRAM = "guidebook_steps.py"


@dataclass(frozen=True)
class ObservedProgram:
    """The program's capture, its index, and its observations."""

    capture: Path
    index: Path
    observations: Observations

    def function(self, name: str) -> ObservedFunction:
        """The observations of a function."""
        (found,) = (each for each in self.observations.functions if each.function == name)
        return found


def observed_program() -> ObservedProgram:
    """The observed program, shared by all tests: copy the capture to change it."""
    return made_once("guidebook-steps", _observe)


def _observe(folder: Path) -> ObservedProgram:
    ran = run(PROGRAM, folder=folder)
    assert ran.status == 0, ran.stderr
    path = folder / "index.db"
    with Store(path) as store:
        ingest_captures(store, ran.captures, [], SilentProgress())
    with Index.open(path) as index:
        return ObservedProgram(ran.capture, path, observe(index))
