"""Names and lines of the frames of captures, each found once, however many captures have it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.binaries import KeptBinaries
from framedex.fleet.identities import frame_ids
from framedex.index import Index, Store
from framedex.ingest.captures import record_of
from framedex.ingest.naming import Namer
from framedex.ingest.placing import place_functions
from framedex.ingest.recorded import RecordedBinaries
from framedex.ingest.released import owe_to_release_maps
from framedex.progress import Silence
from framedex.sharing.naming import IndexedNames

if TYPE_CHECKING:
    from framedex.index.write.records import FrameRecord
    from framedex.model import Capture

Logical = tuple["FrameRecord", ...]


@dataclass(frozen=True, slots=True)
class _Definitions:
    capture: Capture


class Names:
    """Names frames as an index does, by one in a folder of its own, which gets no calls: a context manager."""

    def __init__(self) -> None:
        """Make the folder."""
        self._folder = tempfile.TemporaryDirectory(prefix="framedex-fleet-")
        self._path = Path(self._folder.name) / "names.db"
        self._store = Store(self._path)
        with self._store.transaction():
            owe_to_release_maps(self._store.sources)
        self._binaries = RecordedBinaries(kept=KeptBinaries())
        self._namer = Namer(self._binaries)
        self._known: dict[str, Logical] = {}

    def __enter__(self) -> Names:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()
        self._folder.cleanup()

    def of(self, capture: Capture) -> tuple[Sequence[Logical], tuple[str, ...]]:
        """The logical frames of each recorded frame, outermost first; and what could not be named, as sentences."""
        ids = frame_ids(capture)
        new = [place for place, key in enumerate(ids) if key not in self._known]
        problems: tuple[str, ...] = ()
        if new:
            frames = tuple(capture.frames[place] for place in new)
            only = replace(capture, frames=frames, stacks=(), functions=(), descriptions=())
            record, problems = record_of(only, self._namer)
            writer = self._store.begin_capture(record, 0)
            assert writer is not None  # without a signature it is always written anew
            writer.finish()
            with self._store.transaction():
                place_functions(self._store.sources, Silence(), self._binaries)
            with Index.open(self._path) as index:
                named = IndexedNames(_Definitions(only), index.capture(writer.id)).frames()
            self._known |= {ids[place]: logical for place, logical in zip(new, named, strict=True)}
        return [self._known[key] for key in ids], problems
