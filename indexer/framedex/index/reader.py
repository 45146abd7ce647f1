"""The index as its readers see it: the command line, the language server, the guidebook."""

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
    """A read-only view of an index file, which hands out its parts by what a question is about.

    A part is imported when it is first asked for: a verb that asks one thing pays for no other.

    Paths are absolute, lines 1-based. Lines are those of files as they are now, both in questions and in answers: where
    a file has changed since it was recorded or indexed, its lines are followed (see `Location.stale`).
    An index may be used from several threads. Every question may raise FramedexError (with a remedy) when the file
    turns out to be damaged or locked.
    """

    def __init__(self, reader: Reader, *, may_write: bool = True) -> None:
        self._reader = reader
        self._may_write = may_write
        self._opened = self._identity()
        self.was_changed = was_changed(reader.path, may_seal=may_write) or is_unsound(
            reader.connection, reader.path, may_seal=may_write
        )
        """Whether something else than framedex had changed the file when it was opened: answers may be wrong."""
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
        """Open the index at `path`; every question waits at most `patience` seconds for a lock.

        `links` are the project's own URL templates for files that are not here (`Settings.links`). `counted` says
        whether a question about a file, a line or a function is answered of all captures, or of the latest run alone
        in which that was recorded.

        One whose project was moved is led to where that is now, and the seal of a copy is made good, where they can be
        written and `may_write` allows it.

        Raises FramedexError when it is missing, damaged, locked or of another version.
        """
        connection = connect_reading(path, patience)
        if may_write and _has_moved(connection, path):
            connection.close()
            _follow_project(path)
            connection = connect_reading(path, patience)
        scope = Scope(is_latest=counted is Counted.LATEST)
        return cls(Reader.on(connection, path, links or {}, scope), may_write=may_write)

    def within(self, captures: Collection[int]) -> Index:
        """The index as it is of these captures alone, by their ids: another one, to be closed by itself.

        It stays as it is, whatever others write. The first question about a line or a function takes time for each of
        their stacks.
        """
        from framedex.index.within import narrow  # with the schema, which other questions do without

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
        """Close the connection; the index cannot be asked any more."""
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

    def tell(self, listener: Progress) -> None:
        """Tell this listener from now on how far a question is that looks at many calls."""
        self._reader.looking.listener = listener

    def remembered(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """What `make` finds out by asking this index and nothing else; inside `reading`, kept under the key.

        It is shared by all who ask: nobody may change it.
        """
        return self._reader.memory.recall(("asked", key), make)

    def rests_on(self, path: str) -> None:
        """Note that what is being made to be remembered holds only while the file at the path is as it is."""
        self._reader.memory.file(path)

    def published(self, location: Location) -> Location:
        """The location with its public URL, if its file is not here and a URL is known."""
        return Urls(self._reader).added(location)

    def captures(self) -> list[CaptureRow]:
        """Every capture, oldest first."""
        query = f"SELECT {CAPTURE_COLUMNS} FROM captures p ORDER BY run, started, id"
        return [capture_row(row) for row in self._reader.rows(query)]

    def captures_half_read(self) -> frozenset[int]:
        """The ids of the captures that are not here to their end: being read or followed, or left half read."""
        return frozenset(row[0] for row in self._reader.rows("SELECT id FROM main.captures WHERE reading IS NOT NULL"))

    def capture(self, capture: int) -> CaptureContents:
        """What the capture with this id holds."""
        from framedex.index.ask.capture.capture import CaptureContents

        return CaptureContents(self._reader, capture)

    def observed(self, capture: int) -> ObservedCapture:
        """What the capture with this id tells the guidebook."""
        from framedex.index.ask.guidebook.capture import ObservedCapture

        return ObservedCapture(self._reader, capture)

    def file(self, path: str) -> File:
        """What was recorded in a file."""
        from framedex.index.ask.line.line import File

        return File(self._of_totals, path).of_latest_run()

    def line(self, path: str, line: int, capture: int | None = None) -> Line:
        """What was recorded through a line of a file: by the captures that count, or by one of them alone."""
        from framedex.index.ask.line.line import Line

        found = Line(self._of_totals, path, line, capture)
        return found if capture is not None else found.of_latest_run()

    @cached_property
    def _of_totals(self) -> Reader:
        """What reads totals: those of chosen captures are made when they are needed."""
        if self._reader.scope.is_within:
            from framedex.index.within import fill_totals

            with translated(self.path):
                fill_totals(self._reader.connection)
        return self._reader

    def answer_of(self) -> AnswerOf:
        """The captures with calls, of which all answers are that are about no line and no function."""
        from framedex.index.ask.answers import answer_of_everything

        return answer_of_everything(self._reader)

    def compiles(self, *, all_lines: bool = False) -> Table[Compiles]:
        """What lines of the program had compiled, what took longest first; durations in ns.

        With `all_lines` each row is of one way to its line, which is `outward`.
        """
        from framedex.index.ask.costs.compiles import compiles

        return compiles(self._reader, all_lines=all_lines)

    def compiled_programs(self, calls: Collection[int]) -> dict[int, CompiledProgram]:
        """What calls compiled, by the calls: to be compared with what those of another index did."""
        from framedex.index.ask.costs.programs import compiled_programs

        return compiled_programs(self._reader, calls)

    def captures_with_compiles(self) -> list[int]:
        """The ids of the captures in which something was compiled."""
        from framedex.index.ask.costs.compiles import captures_with_compiles

        return captures_with_compiles(self._reader)

    def frame(self, frame_id: int) -> FrameRow | None:
        """The frame with this id."""
        return frames_by_id(self._reader, [frame_id]).get(frame_id)

    @cached_property
    def calls(self) -> Calls:
        """The calls of all captures, and their stacks."""
        from framedex.index.ask.call.calls import Calls

        return Calls(self._reader)

    def exported(self, wanted: CallFilter) -> Exported:
        """The calls that pass a filter, as exports need them."""
        from framedex.index.ask.call.exported import Exported

        return Exported(self._reader, wanted)

    @cached_property
    def functions(self) -> Functions:
        """The functions that were recorded, their callers and callees."""
        from framedex.index.ask.name.functions import Functions

        return Functions(self._of_totals)

    @cached_property
    def objects(self) -> Objects:
        """The objects of the runtime: buffers, executables, ..."""
        from framedex.index.ask.call.objects import Objects

        return Objects(self._reader)

    @cached_property
    def names(self) -> Names:
        """What texts and people name: symbols, paths of other machines, build-ids."""
        from framedex.index.ask.name.names import Names

        return Names(self._of_totals)

    @cached_property
    def beginnings(self) -> Beginnings:
        """Names and paths by their beginning."""
        from framedex.index.ask.name.beginnings import Beginnings

        return Beginnings(self._reader)

    @cached_property
    def sources(self) -> Sources:
        """The source trees and source maps, and the releases that the recorded code was of."""
        from framedex.index.ask.sources import Sources

        return Sources(self._reader)

    def below_lines(self) -> Iterator[BelowLine]:
        """The calls of all captures by the line of the program that led to them, and the ways from it to them."""
        from framedex.index.ask.below_lines import below_lines

        for capture in self.captures():
            yield from below_lines(self._reader, capture.id)

    def transfers(self, *, all_lines: bool = False) -> Table[Transfers]:
        """What lines of the program had moved between host and devices, most bytes first; durations in ns.

        With `all_lines` each row is of one way to its line, which is `outward`.
        """
        from framedex.index.ask.costs.transfers import transfers

        return transfers(self._reader, all_lines=all_lines)

    def captures_with_transfers(self) -> list[int]:
        """The ids of the captures in which something was moved."""
        from framedex.index.ask.costs.transfers import captures_with_transfers

        return captures_with_transfers(self._reader)

    def memory(self, *, all_lines: bool = False) -> Table[DeviceMemory]:
        """What was alive on each device over time, and the lines that made it; of captures whose end was read.

        With `all_lines` a line is told apart by the lines of the program that led to it, as `Held.outward`.
        """
        from framedex.index.ask.costs.memory import memory

        return memory(self._reader, all_lines=all_lines)

    def captures_with_memory(self) -> frozenset[int]:
        """The ids of the captures of which `memory` tells something."""
        from framedex.index.ask.costs.memory import captures_with_memory

        return captures_with_memory(self._reader)

    def waits(self, *, all_lines: bool = False) -> Waiting:
        """Where threads of Python were blocked on the runtime, by line, and the steps of their loops; times in ns.

        With `all_lines` each row is of one way to its line, which is `outward`.
        """
        from framedex.index.ask.costs.waits import waits

        return waits(self._reader, all_lines=all_lines)

    def captures_with_waits(self) -> frozenset[int]:
        """The ids of the captures of which `waits` tells something."""
        from framedex.index.ask.costs.waits import captures_with_waits

        return captures_with_waits(self._reader)

    @cached_property
    def ffi(self) -> Ffi:
        """FFI handlers and their runs in all captures; more of them is told by captures and lines."""
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
    """Have a writer lead the places of an index to where its project is now; without one they stay as they are."""
    from framedex.index.write.store import Store  # few readers meet a project that was moved

    with suppress(FramedexError):
        check_index_place(path)
        Store(path).close()
