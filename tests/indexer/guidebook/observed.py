"""A real program that says in steps what it shows, recorded on the mock TPU, indexed and observed once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from framedex.guidebook.observing import observe
from framedex.index import Index, Store
from framedex.ingest import Silence, ingest_captures
from framedex.model.guidebook.observed import Observations, Observed
from tests.once import made_once
from tests.running import run

PROGRAM = "guidebook_steps.py"


@dataclass(frozen=True)
class ObservedProgram:
    """The program's capture, an index of it, and what was observed in that."""

    capture: Path
    index: Path
    observations: Observations

    def function(self, name: str) -> Observed:
        """What was observed of a function."""
        (found,) = (each for each in self.observations.functions if each.function == name)
        return found


def observed_program() -> ObservedProgram:
    """It is everybody's: to change the capture, copy it."""
    return made_once("guidebook-steps", _observe)


def _observe(folder: Path) -> ObservedProgram:
    ran = run(PROGRAM, folder=folder)
    assert ran.status == 0, ran.stderr
    path = folder / "index.db"
    with Store(path) as store:
        ingest_captures(store, ran.captures, [], Silence())
    with Index.open(path) as index:
        return ObservedProgram(ran.capture, path, observe(index))
