"""The read interface of the index, for the command line, the language server and the guidebook."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from framedex.errors import FramedexError
from framedex.index.file.database import PATIENCE, StillConnection, connect_reading, file_identity, translated
from framedex.index.file.project import has_moved
from framedex.index.file.seal import was_changed
from framedex.index.file.soundness import Attention, blaming_damage, is_unsound
from framedex.index.read.rows import CAPTURE_COLUMNS, Reader, capture_row, frames_by_id
from framedex.index.read.scope import Scope
from framedex.index.read.urls import Urls
from framedex.indexplace import check_index_place
from framedex.model import Counted

if TYPE_CHECKING:
    from framedex.index.ask.call.calls import Calls
    from framedex.index.ask.call.exported import Exported
    from framedex.index.ask.call.objects import Objects
    from framedex.index.ask.capture.capture import CaptureContents
    from framedex.index.ask.costs.programs import CompiledProgram
    from framedex.index.ask.ffi import Ffi
    from framedex.index.ask.guidebook.capture import ObservedCapture
    from framedex.index.ask.line.line import File, Line
    from framedex.index.ask.name.beginnings import Beginnings
    from framedex.index.ask.name.functions import Functions
    from framedex.index.ask.name.names import Names
    from framedex.index.ask.sources import Sources
    from framedex.model import (
        AnswerOf,
        CallFilter,
        CaptureRow,
        Compiles,
        DeviceMemory,
        FrameRow,
        Location,
        Table,
        Transfers,
        Waiting,
    )
    from framedex.model.below_lines import BelowLine
    from framedex.progress import Progress

Kept = TypeVar("Kept")


class Index:
    """A read-only view of an index file, with one part per subject of a query.

    A part is imported at its first use, so that a command loads only the parts it needs.

    Paths are absolute, lines 1-based. Lines are those of the current files, in queries and in results. If a file has
    changed since its recording or its last parse, lines are mapped (see `Location.stale`).

    An index is thread-safe. Every query may raise FramedexError (with a remedy) if the file turns out to be damaged or
    locked.
    """

    def __init__(self, reader: Reader, *, may_write: bool = True) -> None:
        self._reader = reader
        self._may_write = may_write
        self._opened = self._identity()
        self.was_changed = was_changed(reader.path, may_seal=may_write) or is_unsound(
            reader.connection, reader.path, may_seal=may_write
        )
        """Whether another program had changed the file when it was opened: answers may be wrong."""
        self._attention = Attention(reader.connection) if self.was_changed else None

    @classmethod
    def open(
        cls,
        path: Path,
        patience: float = PATIENCE,
        links: Mapping[str, str] | None = None,
        *,
        counted: Counted = Counted.ALL,
        may_write: bool = True,
    ) -> Index:
        """Open the index at `path`; every query waits at most `patience` seconds for a lock.

        `links` are the project's own URL templates for files that are not local (`Settings.links`). `counted` selects
        the captures that count for a file, a line or a function: all, or only the latest run that recorded it.

        If the project was moved, its paths are updated; if the index is a copy, its seal is renewed. Both need write
        permission and `may_write`.

        Raises FramedexError if the index is missing, damaged, locked or of another version.
        """
        connection = connect_reading(path, patience)
        if may_write and _has_moved(connection, path):
            connection.close()
            _follow_project(path)
            connection = connect_reading(path, patience)
        scope = Scope(is_latest=counted is Counted.LATEST)
        return cls(Reader.on(connection, path, links or {}, scope), may_write=may_write)

    def within(self, captures: Collection[int]) -> Index:
        """Return a new index restricted to these captures, by their ids; it must be closed separately.

        Later writes do not change its captures. The first query for a line or a function takes time proportional to
        their stacks.
        """
        from framedex.index.within import narrow  # imported here because it loads the schema

        reader = Reader.on(connect_reading(self.path, PATIENCE), self.path, self.links, Scope(is_within=True))
        with translated(self.path):
            narrow(reader.connection, captures)
        return Index(reader, may_write=self._may_write)

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; later queries fail."""
        self._reader.connection.close()

    @property
    def path(self) -> Path:
        """The index file."""
        return self._reader.path

    @property
    def links(self) -> Mapping[str, str]:
        """The project's own URL templates."""
        return self._reader.links

    def replaced(self) -> bool:
        """Whether the file at `path` was replaced since it was opened, so that it must be opened again.

        Writes into the file do not count: the same Index answers from the new state.
        """
        return self._identity() != self._opened

    def _identity(self) -> tuple[int, ...] | None:
        return file_identity(self.path, with_content=isinstance(self._reader.connection, StillConnection))

    def state(self) -> tuple[int, ...]:
        """Return a value that differs after a write by others, and for another file at the same path."""
        return *self._reader.rows("PRAGMA data_version")[0], *(self._opened or ())

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Answer all queries in the block from one state of the index and of the files; other threads wait.

        For frequent queries: results found in one block are cached for the next ones while they are valid.
        """
        if self._attention is not None:
            self._attention.begin()
        with blaming_damage(self.path), translated(self.path), self._reader.memory.held(self._reader.connection):
            yield

    def tell(self, listener: Progress) -> None:
        """Set the listener for the progress of queries that read many calls."""
        self._reader.looking.listener = listener

    def remembered(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return the result of `make`, which may query only this index; inside `reading`, it is cached under the key.

        The result is shared, so callers must not modify it.
        """
        return self._reader.memory.recall(("asked", key), make)

    def rests_on(self, path: str) -> None:
        """Make the result under computation depend on the state of the file at the path."""
        self._reader.memory.file(path)

    def published(self, location: Location) -> Location:
        """Return the location with its public URL, if its file is not local and a URL is known."""
        return Urls(self._reader).added(location)

    def captures(self) -> list[CaptureRow]:
        """Return all captures, oldest first."""
        query = f"SELECT {CAPTURE_COLUMNS} FROM captures p ORDER BY run, started, id"
        return [capture_row(row) for row in self._reader.rows(query)]

    def captures_half_read(self) -> frozenset[int]:
        """Return the ids of incompletely read captures: being read or followed, or interrupted."""
        return frozenset(row[0] for row in self._reader.rows("SELECT id FROM main.captures WHERE reading IS NOT NULL"))

    def capture(self, capture: int) -> CaptureContents:
        """Return the contents of the capture with this id."""
        from framedex.index.ask.capture.capture import CaptureContents

        return CaptureContents(self._reader, capture)

    def observed(self, capture: int) -> ObservedCapture:
        """Return the guidebook's data from the capture with this id."""
        from framedex.index.ask.guidebook.capture import ObservedCapture

        return ObservedCapture(self._reader, capture)

    def file(self, path: str) -> File:
        """Return the data recorded in a file."""
        from framedex.index.ask.line.line import File

        return File(self._of_totals, path).of_latest_run()

    def line(self, path: str, line: int, capture: int | None = None) -> Line:
        """Return the data recorded through a line of a file, by the counted captures or by one of them."""
        from framedex.index.ask.line.line import Line

        found = Line(self._of_totals, path, line, capture)
        return found if capture is not None else found.of_latest_run()

    @cached_property
    def _of_totals(self) -> Reader:
        """The reader for totals; totals of chosen captures are computed at the first use."""
        if self._reader.scope.is_within:
            from framedex.index.within import fill_totals

            with translated(self.path):
                fill_totals(self._reader.connection)
        return self._reader

    def answer_of(self) -> AnswerOf:
        """Return the captures with calls, which all answers cover that are not about a line or a function."""
        from framedex.index.ask.answers import answer_of_everything

        return answer_of_everything(self._reader)

    def compiles(self, *, all_lines: bool = False) -> Table[Compiles]:
        """Return the compilations by program line, longest total duration first; durations in ns.

        With `all_lines` each row is for one path to its line, `outward`.
        """
        from framedex.index.ask.costs.compiles import compiles

        return compiles(self._reader, all_lines=all_lines)

    def compiled_programs(self, calls: Collection[int]) -> dict[int, CompiledProgram]:
        """Return the compiled programs by call, for a comparison with another index."""
        from framedex.index.ask.costs.programs import compiled_programs

        return compiled_programs(self._reader, calls)

    def captures_with_compiles(self) -> list[int]:
        """Return the ids of captures with compilations."""
        from framedex.index.ask.costs.compiles import captures_with_compiles

        return captures_with_compiles(self._reader)

    def frame(self, frame_id: int) -> FrameRow | None:
        """Return the frame with this id, or None."""
        return frames_by_id(self._reader, [frame_id]).get(frame_id)

    @cached_property
    def calls(self) -> Calls:
        """The calls of all captures, and their stacks."""
        from framedex.index.ask.call.calls import Calls

        return Calls(self._reader)

    def exported(self, wanted: CallFilter) -> Exported:
        """Return the calls that pass a filter, in the form that exports need."""
        from framedex.index.ask.call.exported import Exported

        return Exported(self._reader, wanted)

    @cached_property
    def functions(self) -> Functions:
        """The recorded functions, their callers and callees."""
        from framedex.index.ask.name.functions import Functions

        return Functions(self._of_totals)

    @cached_property
    def objects(self) -> Objects:
        """The runtime objects: buffers, executables, ..."""
        from framedex.index.ask.call.objects import Objects

        return Objects(self._reader)

    @cached_property
    def names(self) -> Names:
        """Lookups by name: symbols, paths on other machines, build-ids."""
        from framedex.index.ask.name.names import Names

        return Names(self._of_totals)

    @cached_property
    def beginnings(self) -> Beginnings:
        """Names and paths by prefix."""
        from framedex.index.ask.name.beginnings import Beginnings

        return Beginnings(self._reader)

    @cached_property
    def sources(self) -> Sources:
        """The source trees and source maps, and the releases of recorded code."""
        from framedex.index.ask.sources import Sources

        return Sources(self._reader)

    def below_lines(self) -> Iterator[BelowLine]:
        """Yield the calls of all captures by program line, with the paths from the line to them."""
        from framedex.index.ask.below_lines import below_lines

        for capture in self.captures():
            yield from below_lines(self._reader, capture.id)

    def transfers(self, *, all_lines: bool = False) -> Table[Transfers]:
        """Return the transfers between host and devices by program line, most bytes first; durations in ns.

        With `all_lines` each row is for one path to its line, `outward`.
        """
        from framedex.index.ask.costs.transfers import transfers

        return transfers(self._reader, all_lines=all_lines)

    def captures_with_transfers(self) -> list[int]:
        """Return the ids of captures with transfers."""
        from framedex.index.ask.costs.transfers import captures_with_transfers

        return captures_with_transfers(self._reader)

    def memory(self, *, all_lines: bool = False) -> Table[DeviceMemory]:
        """Return the live memory of each device over time, and the allocating lines, for completely read captures.

        With `all_lines` a line is split by the outward program lines, `Held.outward`.
        """
        from framedex.index.ask.costs.memory import memory

        return memory(self._reader, all_lines=all_lines)

    def captures_with_memory(self) -> frozenset[int]:
        """Return the ids of captures with data for `memory`."""
        from framedex.index.ask.costs.memory import captures_with_memory

        return captures_with_memory(self._reader)

    def waits(self, *, all_lines: bool = False) -> Waiting:
        """Return the waits of Python threads for the runtime by line, and the steps of their loops; times in ns.

        With `all_lines` each row is for one path to its line, `outward`.
        """
        from framedex.index.ask.costs.waits import waits

        return waits(self._reader, all_lines=all_lines)

    def captures_with_waits(self) -> frozenset[int]:
        """Return the ids of captures with data for `waits`."""
        from framedex.index.ask.costs.waits import captures_with_waits

        return captures_with_waits(self._reader)

    @cached_property
    def ffi(self) -> Ffi:
        """FFI handlers and their runs in all captures."""
        from framedex.index.ask.ffi import Ffi

        return Ffi(self._reader)


def _has_moved(connection: sqlite3.Connection, path: Path) -> bool:
    try:
        with translated(path):
            return has_moved(connection, path)
    except BaseException:
        connection.close()
        raise


def _follow_project(path: Path) -> None:
    """Let a writer update the paths of a moved project; without write access they stay unchanged."""
    from framedex.index.write.store import Store  # imported here because few projects were moved

    with suppress(FramedexError):
        check_index_place(path)
        Store(path).close()
