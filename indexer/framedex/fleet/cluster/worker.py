"""What a worker of a cluster does: it adds captures that it is named to a store that it is named, one at a time."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.captures import read_metadata
from framedex.errors import FramedexError
from framedex.fleet.adding import Adding
from framedex.fleet.cluster.libraries import distributed
from framedex.fleet.naming import Names
from framedex.fleet.origin import Origin
from framedex.fleet.place import Place
from framedex.version import VERSION

if TYPE_CHECKING:
    from framedex.fleet.adding import Added


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a capture, and the address of the worker that had it."""

    worker: str
    done: Added | FramedexError


class Adder:
    """Adds captures of one run to a store, by names of frames that each is found once.

    It is a value of Dask's on which the tasks of the run depend. So a worker gets one when it gets the first of them,
    which is made anew there (what travels is the address and the version), and loses it with the end of the run.
    """

    def __init__(self, address: str, version: str) -> None:
        self._address = address
        self._version = version
        # SQLite's connections are of one thread, and memory is for one capture, however many threads a worker has.
        self._thread = ThreadPoolExecutor(1)
        self._opened: tuple[Adding, tempfile.TemporaryDirectory[str]] | None = None

    def __reduce__(self) -> tuple[type[Adder], tuple[str, str]]:
        return Adder, (self._address, self._version)

    def add(self, path: Path, capture: str) -> Added | FramedexError:
        """Add the capture of this id that lies at a path; the reason where it cannot be added."""
        return self._thread.submit(self._add, path, capture).result()

    def _add(self, path: Path, capture: str) -> Added | FramedexError:
        try:
            if self._version != VERSION:
                raise FramedexError(f"A worker has framedex {VERSION}, and {self._version} is asked for.", _SAME)
            try:
                seen = Origin.of(read_metadata(path)).capture
            except FramedexError as error:
                raise FramedexError(f"A worker does not see it: {error.message}", _SEEN) from error
            if seen != capture:
                raise FramedexError("A worker sees another capture there.", _SEEN)
            if self._opened is None:
                place = Place(self._address)
                place.check()
                folder = tempfile.TemporaryDirectory(prefix="framedex-fleet-")
                self._opened = Adding(place, Names(), Path(folder.name)), folder
        except FramedexError as error:
            return error
        adding, _ = self._opened
        return adding.added(path)


_SAME = "Install the same framedex on all of them, then run the same command again: it goes on."
_SEEN = (
    "Put captures where all workers see them at the same path, or add these on the host that has them, without"
    " --scheduler."
)


def add(path: str, capture: str, *, adder: Adder) -> Outcome:
    """The task of a capture."""
    return Outcome(distributed.get_worker().address, adder.add(Path(path), capture))


def version() -> str:
    """The version of framedex here, where all that adding needs can be imported."""
    return VERSION
