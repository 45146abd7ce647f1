"""The read interface of the index, for the command line, the language server and the guidebook."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from framedex.base.errors import FramedexError
from framedex.base.folders import check_index_path
from framedex.index.file.conventions import FOLLOWED_PREFIX
from framedex.index.file.database import (
    LOCK_TIMEOUT_S,
    ImmutableConnection,
    connect_reading,
    read_file_identity,
    translate_errors,
)
from framedex.index.file.paths import has_project_moved
from framedex.index.file.seal import was_changed
from framedex.index.file.soundness import QueryTimeout, is_inconsistent, report_damage
from framedex.index.file.values import to_storable
from framedex.index.read.locations import UrlFinder
from framedex.index.read.rows import CAPTURE_COLUMNS, Reader, Scope, build_capture, read_frames_by_id
from framedex.model import CaptureScope

if TYPE_CHECKING:
    from framedex.base.progress import Progress
    from framedex.index.ask.call.calls import Calls
    from framedex.index.ask.call.exported import ExportedCalls
    from framedex.index.ask.call.objects import Objects
    from framedex.index.ask.capture.capture import CaptureContents
    from framedex.index.ask.costs.compilations import CompiledProgram
    from framedex.index.ask.ffi import Ffi
    from framedex.index.ask.guidebook.capture import ObservedCapture
    from framedex.index.ask.line.line import File, Line
    from framedex.index.ask.name.functions import Functions
    from framedex.index.ask.name.names import NameLookup, PrefixNames
    from framedex.index.ask.sources import Sources
    from framedex.model import (
        AnswerScope,
        CallFilter,
        CaptureRow,
        CompiledModule,
        Compiles,
        DeviceMemory,
        FrameRow,
        Location,
        Startup,
        Table,
        Transfers,
        WaitsAndLoops,
    )
    from framedex.model.functions import LineCallee

Kept = TypeVar("Kept")

_CAPTURE_IDS = "SELECT id FROM main.captures"


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
        self._identity = self._read_identity()
        self.was_changed = was_changed(reader.path, may_seal=may_write) or is_inconsistent(
            reader.connection, reader.path, may_seal=may_write
        )
        """Whether another program had changed the file before it was opened. Then answers may be wrong."""
        self._query_timeout = QueryTimeout(reader.connection) if self.was_changed else None

    @classmethod
    def open(
        cls,
        path: Path,
        patience: float = LOCK_TIMEOUT_S,
        links: Mapping[str, str] | None = None,
        *,
        counted: CaptureScope = CaptureScope.ALL,
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
        if may_write and _has_project_moved(connection, path):
            connection.close()
            _update_project_paths(path)
            connection = connect_reading(path, patience)
        scope = Scope(is_latest=counted is CaptureScope.LATEST)
        return cls(Reader.from_connection(connection, path, links or {}, scope), may_write=may_write)

    def restrict_to_captures(self, captures: Collection[int]) -> Index:
        """Return a new index restricted to the captures with these ids; it must be closed separately.

        Later writes do not change its captures. The first query for a line or a function takes time proportional to
        their stacks.
        """
        from framedex.index.subset import hide_other_captures

        reader = Reader.from_connection(
            connect_reading(self.path, LOCK_TIMEOUT_S), self.path, self.links, Scope(is_subset=True)
        )
        with translate_errors(self.path):
            hide_other_captures(reader.connection, captures)
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

    @property
    def identity(self) -> tuple[int, ...] | None:
        """The opened file's device and inode; None if the file was missing."""
        return self._identity

    def was_replaced(self) -> bool:
        """Whether the file at `path` was replaced since it was opened, so that it must be opened again.

        Writes into the file do not matter: the same Index answers from the new state.
        """
        return self._read_identity() != self._identity

    def _read_identity(self) -> tuple[int, ...] | None:
        return read_file_identity(self.path, with_content=isinstance(self._reader.connection, ImmutableConnection))

    def state(self) -> tuple[int, ...]:
        """Return a value that changes after writes by others and after the file was replaced."""
        return *self._reader.rows("PRAGMA data_version")[0], *(self._identity or ())

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Answer all queries in the block from one state of the index and of the files; other threads wait.

        For frequent queries: results found in one block are cached for the next ones while they are valid.
        """
        if self._query_timeout is not None:
            self._query_timeout.begin()
        with (
            report_damage(self.path),
            translate_errors(self.path),
            self._reader.cache.read_snapshot(self._reader.connection),
        ):
            yield

    def set_progress_listener(self, listener: Progress) -> None:
        """Set the listener for the progress of queries that read many calls."""
        self._reader.progress.listener = listener

    def get_cached(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """Return the result of `make`, which may query only this index. Inside `reading`, it is cached under the key.

        Callers must not modify the result, because it is shared.
        """
        return self._reader.cache.get_or_compute(("asked", key), make)

    def depend_on_file(self, path: str) -> None:
        """Invalidate the cached result under computation when the file at the path changes."""
        self._reader.cache.find_file(path)

    def add_public_url(self, location: Location) -> Location:
        """Return the location, with its public URL if its file is not local and a URL is known."""
        return UrlFinder(self._reader).add_url(location)

    def captures(self) -> list[CaptureRow]:
        """Return all captures, oldest first."""
        query = f"SELECT {CAPTURE_COLUMNS} FROM captures p ORDER BY run, started, id"
        return [build_capture(row) for row in self._reader.rows(query)]

    def incomplete_captures(self) -> frozenset[int]:
        """Return the ids of incompletely indexed captures: in progress, followed, or interrupted."""
        return frozenset(row[0] for row in self._reader.rows("SELECT id FROM main.captures WHERE reading IS NOT NULL"))

    def capture_ids(self) -> frozenset[int]:
        """Return the ids of all captures. The id of a removed capture is never used again."""
        return self.get_cached("capture ids", lambda: frozenset(row[0] for row in self._reader.rows(_CAPTURE_IDS)))

    def needs_capture(self, identity: str, path: str, signature: str) -> bool:
        """Return whether the index lacks this state of a capture. It does not lack a copy of an indexed capture."""
        query = "SELECT path, signature, reading FROM main.captures WHERE identity = ?"
        known = next(iter(self._reader.rows(query, to_storable(identity))), None)
        if known is None:
            return True
        is_read = known[1] == signature and known[2] is None
        return known[0] == to_storable(path) and not is_read and not (known[2] or "").startswith(FOLLOWED_PREFIX)

    def capture(self, capture: int) -> CaptureContents:
        """Return the contents of the capture with this id."""
        from framedex.index.ask.capture.capture import CaptureContents

        return CaptureContents(self._reader, capture)

    def observed_capture(self, capture: int) -> ObservedCapture:
        """Return the guidebook's data from the capture with this id."""
        from framedex.index.ask.guidebook.capture import ObservedCapture

        return ObservedCapture(self._reader, capture)

    def file(self, path: str) -> File:
        """Return the data recorded in a file."""
        from framedex.index.ask.line.line import File

        return File(self._totals_reader, path).restrict_to_latest_run()

    def line(self, path: str, line: int, capture: int | None = None) -> Line:
        """Return the data recorded through a line of a file, by the counted captures or by one of them."""
        from framedex.index.ask.line.line import Line

        found = Line(self._totals_reader, path, line, capture)
        return found if capture is not None else found.restrict_to_latest_run()

    @cached_property
    def _totals_reader(self) -> Reader:
        """The reader for totals. In an index restricted to captures, their totals are computed at the first use."""
        if self._reader.scope.is_subset:
            from framedex.index.subset import fill_totals

            with translate_errors(self.path):
                fill_totals(self._reader.connection)
        return self._reader

    def answer_of(self) -> AnswerScope:
        """Return the captures with calls: answers cover them, except for answers about a line or a function."""
        from framedex.index.ask.capture.contents import read_captures_on_mock, read_captures_with_plugins
        from framedex.index.read.subjects import scope_of_everything

        answer, on_mock = scope_of_everything(self._reader), read_captures_on_mock(self._reader)
        chosen = tuple(each.id for each in answer.captures if each.id in on_mock)
        with_plugins = read_captures_with_plugins(self._reader) if chosen else frozenset()
        return replace(answer, on_mock=chosen, partly_on_mock=tuple(each for each in chosen if each in with_plugins))

    def compiles(self, *, all_lines: bool = False) -> Table[Compiles]:
        """Return the compilations by program line, longest total duration first; durations in ns.

        With `all_lines` each row is for one path to its line, `outward`.
        """
        from framedex.index.ask.costs.compilations import read_compiles

        return read_compiles(self._reader, all_lines=all_lines)

    def compiled_programs(self, calls: Collection[int]) -> dict[int, CompiledProgram]:
        """Return the compiled programs by call, for a comparison with another index."""
        from framedex.index.ask.costs.compilations import read_compiled_programs

        return read_compiled_programs(self._reader, calls)

    def captures_with_compiles(self) -> list[int]:
        """Return the ids of captures with compilations."""
        from framedex.index.ask.costs.compilations import read_captures_with_compiles

        return read_captures_with_compiles(self._reader)

    def startup(self) -> Table[Startup]:
        """Return the time from the start of each process until its first step, by part and line; durations in ns."""
        from framedex.index.ask.costs.startup import read_startup

        return read_startup(self._reader)

    def captures_with_startup(self) -> list[int]:
        """Return the ids of captures with data for `startup`."""
        from framedex.index.ask.costs.phases import read_captures_with_startup

        return read_captures_with_startup(self._reader)

    def compiled_module(self, name: str) -> CompiledModule | None:
        """Return the lines behind the latest program of an XLA module such as `jit_step`; None if none was recorded."""
        from framedex.index.ask.costs.traced_lines import find_compiled_module

        return find_compiled_module(self._reader, name)

    def frame(self, frame_id: int) -> FrameRow | None:
        """Return the frame with this id, or None."""
        return read_frames_by_id(self._reader, [frame_id]).get(frame_id)

    @cached_property
    def calls(self) -> Calls:
        """The calls of all captures, and their stacks."""
        from framedex.index.ask.call.calls import Calls

        return Calls(self._reader)

    def calls_to_export(self, wanted: CallFilter) -> ExportedCalls:
        """Return the calls that pass a filter, in the form that exports need."""
        from framedex.index.ask.call.exported import ExportedCalls

        return ExportedCalls(self._reader, wanted)

    @cached_property
    def functions(self) -> Functions:
        """The recorded functions, their callers and callees."""
        from framedex.index.ask.name.functions import Functions

        return Functions(self._totals_reader)

    @cached_property
    def objects(self) -> Objects:
        """The runtime objects: buffers, executables, ..."""
        from framedex.index.ask.call.objects import Objects

        return Objects(self._reader)

    @cached_property
    def names(self) -> NameLookup:
        """Lookups by name: symbols, paths on other machines, build-ids."""
        from framedex.index.ask.name.names import NameLookup

        return NameLookup(self._totals_reader)

    @cached_property
    def prefix_search(self) -> PrefixNames:
        """Names and paths by prefix."""
        from framedex.index.ask.name.names import PrefixNames

        return PrefixNames(self._reader)

    @cached_property
    def sources(self) -> Sources:
        """The source trees and source maps, and the releases of recorded code."""
        from framedex.index.ask.sources import Sources

        return Sources(self._reader)

    def below_lines(self) -> Iterator[LineCallee]:
        """Yield the calls of all captures by program line, with the paths from the line to them."""
        from framedex.index.ask.below_lines import read_below_lines

        for capture in self.captures():
            yield from read_below_lines(self._reader, capture.id)

    def transfers(self, *, all_lines: bool = False) -> Table[Transfers]:
        """Return the transfers between host and devices by program line, most bytes first; durations in ns.

        With `all_lines` each row is for one path to its line, `outward`.
        """
        from framedex.index.ask.costs.line_costs import read_transfers

        return read_transfers(self._reader, all_lines=all_lines)

    def captures_with_transfers(self) -> list[int]:
        """Return the ids of captures with transfers."""
        from framedex.index.ask.costs.line_costs import read_captures_with_transfers

        return read_captures_with_transfers(self._reader)

    def memory(self, *, all_lines: bool = False) -> Table[DeviceMemory]:
        """Return the live memory of each device over time, and the allocating lines, for completely read captures.

        With `all_lines` a line is split by the outward program lines, `LineMemory.outward`.
        """
        from framedex.index.ask.costs.line_costs import read_memory

        return read_memory(self._reader, all_lines=all_lines)

    def captures_with_memory(self) -> frozenset[int]:
        """Return the ids of captures with data for `memory`."""
        from framedex.index.ask.costs.line_costs import read_captures_with_memory

        return read_captures_with_memory(self._reader)

    def waits(self, *, all_lines: bool = False) -> WaitsAndLoops:
        """Return the waits of Python threads for the runtime by line, and the steps of their loops; times in ns.

        With `all_lines` each row is for one path to its line, `outward`.
        """
        from framedex.index.ask.costs.line_costs import read_waits

        return read_waits(self._reader, all_lines=all_lines)

    def captures_with_waits(self) -> frozenset[int]:
        """Return the ids of captures with data for `waits`."""
        from framedex.index.ask.costs.line_costs import read_captures_with_waits

        return read_captures_with_waits(self._reader)

    @cached_property
    def ffi(self) -> Ffi:
        """FFI handlers and their runs in all captures."""
        from framedex.index.ask.ffi import Ffi

        return Ffi(self._reader)


def _has_project_moved(connection: sqlite3.Connection, path: Path) -> bool:
    try:
        with translate_errors(path):
            return has_project_moved(connection, path)
    except BaseException:
        connection.close()
        raise


def _update_project_paths(path: Path) -> None:
    """Update the paths of a moved project with a writer. Without write access they stay unchanged."""
    from framedex.index.write.store import Store

    with suppress(FramedexError):
        check_index_path(path)
        Store(path).close()
