"""The task of a cluster's worker: add one capture at a time to a store."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.errors import FramedexError
from framedex.base.version import VERSION
from framedex.captures import read_metadata
from framedex.fleet.adding import CaptureAdder
from framedex.fleet.cluster.libraries import distributed
from framedex.fleet.naming import FrameNamer
from framedex.fleet.origin import Origin
from framedex.fleet.store_root import StoreRoot

if TYPE_CHECKING:
    from framedex.fleet.adding import AddedCapture


@dataclass(frozen=True, slots=True)
class CaptureOutcome:
    """The result of a capture, and the address of its worker."""

    worker: str
    done: AddedCapture | FramedexError


class RunAdder:
    """Adds captures of one run to a store, and caches the names of their frames.

    It is a Dask value on which all tasks of the run depend. A worker gets it with its first task, and drops it at the
    end of the run. Pickling keeps only the address and the version.
    """

    def __init__(self, address: str, version: str) -> None:
        self._address = address
        self._version = version
        # One thread: SQLite connections belong to a thread, and memory suffices for one capture.
        self._thread = ThreadPoolExecutor(1)
        self._opened: tuple[CaptureAdder, tempfile.TemporaryDirectory[str]] | None = None

    def __reduce__(self) -> tuple[type[RunAdder], tuple[str, str]]:
        return RunAdder, (self._address, self._version)

    def add(self, path: Path, capture: str) -> AddedCapture | FramedexError:
        """Add the capture at a path, if it has this id. Return the error if it cannot be added."""
        return self._thread.submit(self._add, path, capture).result()

    def _add(self, path: Path, capture: str) -> AddedCapture | FramedexError:
        try:
            if self._version != VERSION:
                raise FramedexError(
                    f"A worker has framedex {VERSION}, but {self._version} is required.", _SAME_VERSION_REMEDY
                )
            try:
                seen = Origin.from_metadata(read_metadata(path)).capture
            except FramedexError as error:
                raise FramedexError(f"A worker cannot read it: {error.message}", _SHARED_PATH_REMEDY) from error
            if seen != capture:
                raise FramedexError("A worker has another capture at this path.", _SHARED_PATH_REMEDY)
            if self._opened is None:
                place = StoreRoot(self._address)
                place.check()
                folder = tempfile.TemporaryDirectory(prefix="framedex-fleet-")
                self._opened = CaptureAdder(place, FrameNamer(), Path(folder.name)), folder
        except FramedexError as error:
            return error
        adding, _ = self._opened
        return adding.try_add(path)


_SAME_VERSION_REMEDY = "Install the same framedex on all workers, then run the same command again: it continues."
_SHARED_PATH_REMEDY = (
    "Put the captures where all workers see them at the same path, or add them on their own host without --scheduler."
)


def add(path: str, capture: str, *, adder: RunAdder) -> CaptureOutcome:
    """Add a capture: the task that Dask runs."""
    return CaptureOutcome(distributed.get_worker().address, adder.add(Path(path), capture))


def version() -> str:
    """Return the version of framedex on this worker. Importing this module checks the libraries."""
    return VERSION
