"""An open index file, and the questions that find a frame's source by what a text says of it.

The rest of what can be asked is in `reader.Index`, which takes longer to import than `framedex open` may take.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from framedex.index.ask.name import lookup
from framedex.index.file.database import PATIENCE, StillConnection, connect_reading, file_identity, translated
from framedex.index.file.seal import was_changed
from framedex.index.file.soundness import Attention, blaming_damage
from framedex.index.read.rows import Reader
from framedex.index.read.urls import Urls
from framedex.model import Definition, Location, SourceRoot

Kept = TypeVar("Kept")
Opened = TypeVar("Opened", bound="NameLookup")


class NameLookup:
    """A read-only view of an index file. Paths are absolute, lines 1-based. May be used from several threads.

    Every question may raise FramedexError (with a remedy) when the file turns out to be damaged or locked.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._opened = self._identity()
        self.was_changed = was_changed(reader.path)
        """Whether something else than framedex had changed the file when it was opened: answers may be wrong."""
        self._attention = Attention(reader.connection) if self.was_changed else None

    @classmethod
    def open(
        cls: type[Opened], path: Path, patience: float = PATIENCE, links: Mapping[str, str] | None = None
    ) -> Opened:
        """Open the index at `path`; every question waits at most `patience` seconds for a lock.

        `links` are the project's own URL templates for files that are not here (`Settings.links`).

        Raises FramedexError when it is missing, damaged, locked or of another version.
        """
        return cls(Reader(connect_reading(path, patience), path, links or {}))

    def __enter__(self: Opened) -> Opened:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the index cannot be asked any more."""
        self._reader.connection.close()

    @property
    def path(self) -> Path:
        """The index file."""
        return self._reader.path

    def replaced(self) -> bool:
        """Whether the file at `path` is no longer the one that was opened: then open it again.

        What others write into it needs no such care: the same Index answers from the new state.
        """
        return self._identity() != self._opened

    def _identity(self) -> tuple[int, ...] | None:
        return file_identity(self.path, with_content=isinstance(self._reader.connection, StillConnection))

    def state(self) -> tuple[int, ...]:
        """What is different after others have written to the file, or put another in its place."""
        return *self._reader.rows("PRAGMA data_version")[0], *(self._opened or ())

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What is asked inside is answered from one state of the index, and of the files; other threads wait.

        For those who ask often: what one such block has found out, the next ones remember while it holds.
        """
        if self._attention is not None:
            self._attention.begin()
        with blaming_damage(self.path), translated(self.path), self._reader.memory.held(self._reader.connection):
            yield

    def remembered(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What `make` finds out by asking this index and nothing else; inside `reading`, kept under the key.

        It is shared by all who ask: nobody may change it.
        """
        return self._reader.memory.recall(("asked", key), make)

    def published(self, location: Location) -> Location:
        """The location with its public URL, if its file is not here and a URL is known."""
        return Urls(self._reader).added(location)

    def source_roots(self) -> list[SourceRoot]:
        """The source folders, each with how many of its files were read."""
        return lookup.source_roots(self._reader)

    def recorded_places(self, name: str) -> list[Location]:
        """Where the recorded C++ functions of exactly this readable name are, most calls first; none twice."""
        return lookup.recorded_places(self._reader, name)

    def definitions_named(self, short_name: str, language: str) -> list[tuple[str, Definition]]:
        """The (path, definition) pairs with this short name in the source files of a language (`cpp`, `python`)."""
        return lookup.definitions_named(self._reader, short_name, language)

    def definitions_in(self, path: str) -> tuple[int, int, bool, list[tuple[str, Definition]]] | None:
        """The definitions of a source file as it was read, with their short names; None where it was not read.

        Before them: its mtime (ns) and size then, and whether the grammar could read all of it.
        """
        return lookup.definitions_in(self._reader, path)

    def files_named(self, name: str) -> list[str]:
        """The files of this name, in any folder, that frames point to or that were read as source."""
        return lookup.files_named(self._reader, name)

    def module_names(self) -> frozenset[str]:
        """The file names of the binaries that were recorded."""
        return lookup.module_names(self._reader)

    def modules_built(self, build_id: str) -> list[str]:
        """The paths at which binaries were recorded whose build-id (hex) begins with this one, latest first."""
        return lookup.modules_built(self._reader, build_id)
