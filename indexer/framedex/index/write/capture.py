"""Write one capture: first everything except its calls, then its calls batch by batch.

Each batch may be committed separately. The index is consistent after each, and an interrupted reader continues there.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from framedex.base.errors import FramedexError
from framedex.index.file.values import to_storable
from framedex.index.write import aggregates
from framedex.index.write.bulk_rows import Integers
from framedex.index.write.calls import CallWriter
from framedex.index.write.costs.activity import CaptureActivity
from framedex.index.write.costs.callback_transfers import write_callback_transfers
from framedex.index.write.costs.memory import write_memory
from framedex.index.write.costs.timeline import NO_CALLBACKS, CallbackTimes
from framedex.index.write.costs.transfers import TransferWriter
from framedex.index.write.costs.waits import write_waits
from framedex.index.write.ffi import FfiWriter
from framedex.index.write.interning import add_recorded_names, intern_frames, store_binaries
from framedex.index.write.objects import ObjectWriter
from framedex.index.write.phases import PhaseWriter
from framedex.index.write.programs import ProgramWriter
from framedex.index.write.records import CaptureRecord, FrameRecord
from framedex.index.write.removal import delete_calls
from framedex.index.write.run_numbers import find_run_number
from framedex.index.write.stacks import LinkWriter, StackRows
from framedex.index.write.tree import StackTree
from framedex.index.write.versions import ProgramFileVersions, store_versions
from framedex.model import BinaryId, CallBatch, Capture, Function, StopReasons, Thread
from framedex.programs.ffi.joins import BOUNDARY
from framedex.programs.objects import PJRT_BOUNDARIES

if TYPE_CHECKING:
    from framedex.index.write.records import CaptureRecord

Transaction = Callable[[], AbstractContextManager[None]]


class CaptureTakenError(FramedexError):
    """Another process has written to the capture that this process was writing."""


class NoRoomError(FramedexError):
    """A capture has more calls than reserved ids, and another capture has reserved the next ids."""


class CaptureWriter:
    """Writes one capture. `Store.begin_capture` creates it.

    `rows` is the number of its calls in the index. Batches that are already written are only replayed, because later
    batches refer to their data.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        transaction: Transaction,
        tree: StackTree,
        record: CaptureRecord,
        reserve: int,
    ) -> None:
        """Begin in the caller's transaction; `reserve` is the maximum number of calls."""
        self._connection = connection
        self._transaction = transaction
        self._tree = tree
        self._record = record
        self._call_writers: _Writers | None = None
        identity = to_storable(record.identity or str(record.capture.path))
        query = "SELECT id, reading, calls FROM captures WHERE identity = ?"
        known = connection.execute(query, (identity,)).fetchone()
        is_continued = known is not None and known[1] == record.signature != ""
        self._are_totals_stale = known is not None and not is_continued and known[2] > 0
        if known is not None and not is_continued:
            delete_calls(connection, known[0])
        self.rows: int = known[2] if is_continued else 0
        self.id = known[0] if is_continued else self._insert_capture(None if known is None else known[0], identity)
        if is_continued:
            connection.execute(
                "UPDATE captures SET metadata = ?, is_on_mock = ?, plugins = ? WHERE id = ?",
                (
                    to_storable(record.capture.metadata.text),
                    _is_on_mock(record.capture),
                    _format_plugins(record.capture),
                    self.id,
                ),
            )
        self._first, self._reserved = self._reserve_first_ids(reserve)
        self._replace_builds()
        renamed = store_binaries(connection, record.binaries)
        self._versions = ProgramFileVersions(connection, record.started_ns, record.source)
        self._frames = self._intern_frames(record.frames, renamed)
        self._ffi = FfiWriter(connection, tree, self.id, record.ffi, self._frames, self._versions)
        is_late = self._ffi.add_sites()
        self._phases = PhaseWriter(connection, tree, self.id, self._versions)
        self._phases.write(record.phases)
        self._stacks = StackRows(connection, tree, record.capture.stacks, self._frames)
        written = {frame for frames in self._frames for frame in frames} | self._ffi.frames | self._phases.frames
        store_versions(connection, written, record.started_ns, self._versions)
        if is_late or renamed or self._are_totals_stale:
            aggregates.rebuild_totals(connection, tree.nodes)

    def add(self, batch: CallBatch) -> None:
        """Add the next calls. Raises CaptureTakenError if another process writes the same capture.

        After an error, discard the writer.
        """
        if batch.first < self.rows:
            self._replay_written_batch(batch)
            return
        with self._transaction():
            self._check_not_taken()
            rows = batch.first + len(batch)
            if not rows:
                return
            self._reserve_ids(rows)
            writers = self._open_call_writers()
            kinds = writers.calls.add(batch)
            writers.objects.add(batch, writers.calls)
            writers.links.add(batch)
            writers.programs.add(batch, kinds, writers.calls)
            writers.transfers.add(batch, kinds, writers.calls)
            self._connection.execute(
                "UPDATE captures SET calls = ?, first_call = ?, last_call = ? WHERE id = ?",
                (rows, self._first, self._first + rows - 1, self.id),
            )
            self._update_totals(writers)
            self.rows = rows

    def extend(self, record: CaptureRecord) -> bool:
        """Continue with a capture that has grown; return False if its stored calls are stale.

        The old content is unchanged, and new content is appended. Of `record.frames`, only the new ones are read. After
        False, discard the writer and write the capture again.
        """
        with self._transaction():
            known = len(self._frames)
            renamed = store_binaries(self._connection, record.binaries)
            self._versions.extend(record.source)
            added_frames = self._intern_frames(record.frames[known:], renamed)
            self._frames += added_frames
            self._record = replace(record, signature=self._record.signature)
            is_late = self._ffi.extend(record.ffi)
            self._phases.write(record.phases)
            if is_late or renamed:
                aggregates.rebuild_totals(self._connection, self._tree.nodes)
            if is_late:
                return False
            self._stacks.extend(record.capture.stacks)
            if self._call_writers is not None:
                self._call_writers.extend(self._connection, self.id, record, self._ffi)
            written = {frame for frames in added_frames for frame in frames} | self._ffi.frames | self._phases.frames
            store_versions(self._connection, written, record.started_ns, self._versions)
            self._connection.execute(
                "UPDATE captures SET stacks = ? WHERE id = ?", (len(record.capture.stacks), self.id)
            )
        return True

    def finish(
        self,
        problems: Sequence[str] | None = None,
        stops: StopReasons | None = None,
        signature: str | None = None,
        *,
        callbacks: Integers | None = None,
        was_followed: bool = False,
    ) -> int:
        """Mark the capture as complete; returns its id.

        `problems`, `stops` and `signature` replace those of the record if they became known only after its calls were
        read. `callbacks` are as in `CaptureStream.callbacks`. If the capture `was_followed`, calls that were stored as
        enclosing others may never have returned.
        """
        with self._transaction():
            self._check_not_taken()
            if was_followed:
                self._detach_from_unreturned()
            times = NO_CALLBACKS if callbacks is None else CallbackTimes.from_rows(callbacks, self._first)
            activity = CaptureActivity.read(self._connection, self.id, times, self._tree.nodes)
            write_callback_transfers(self._connection, self.id, activity.kinds)
            write_memory(self._connection, self.id, activity)
            write_waits(self._connection, self.id, activity)
            empty = "capture = ? AND calls = 0"
            spans = f"kind IN (SELECT id FROM call_kinds WHERE {empty})"
            self._connection.execute(f"DELETE FROM call_spans WHERE {spans}", (self.id,))
            self._connection.execute(f"DELETE FROM call_kinds WHERE {empty}", (self.id,))
            if problems is not None:
                problems_json = json.dumps(list(problems))
                self._connection.execute("UPDATE captures SET problems = ? WHERE id = ?", (problems_json, self.id))
            if stops is not None:
                self._connection.execute("UPDATE captures SET stops = ? WHERE id = ?", (_format_stops(stops), self.id))
            self._connection.execute(
                "UPDATE captures SET signature = ?, reading = NULL WHERE id = ?",
                (self._record.signature if signature is None else signature, self.id),
            )
        return self.id

    def _detach_from_unreturned(self) -> None:
        """Detach calls from enclosing calls that never returned, because the ends of those are unknown."""
        unreturned = self._connection.execute(
            "SELECT c.id, c.inside FROM call_kinds k JOIN call_spans s ON s.kind = k.id JOIN call_rows c"
            " ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = k.id"
            " WHERE k.capture = ? AND k.error = -1 ORDER BY c.id DESC",
            (self.id,),
        ).fetchall()
        self._connection.executemany(
            "UPDATE call_rows SET inside = inside + ?2 WHERE id > ?1 AND id <= ?3 AND id - inside = ?1",
            [(call, inside, self._first + self.rows - 1) for call, inside in unreturned],
        )

    # The capture without its calls

    def _insert_capture(self, known: int | None, identity: str) -> int:
        record, capture = self._record, self._record.capture
        launch_id = capture.metadata.launch.run if capture.metadata.launch is not None else None
        launch = to_storable(launch_id) if launch_id else None
        row = {
            "id": known,
            "path": to_storable(str(capture.path)),
            "identity": identity,
            "signature": "",
            "started": record.started,
            "run": self._find_run(known, identity, launch),
            "launch": launch,
            "command": to_storable(record.command),
            "calls": 0,
            "stacks": len(capture.stacks),
            "reading": record.signature,
            "metadata": to_storable(capture.metadata.text),
            "is_on_mock": _is_on_mock(capture),
            "plugins": _format_plugins(capture),
            "problems": json.dumps(list(record.problems)),
            "stops": _format_stops(capture.stops),
        }
        inserted = self._connection.execute(
            f"INSERT OR REPLACE INTO captures({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
            tuple(row.values()),
        ).lastrowid
        assert inserted is not None
        return inserted

    def _find_run(self, known: int | None, identity: str, launch: str | None) -> int:
        """Return the number of the capture's run. A capture that is in the index as `known` keeps its run."""
        if known is not None:
            (run,) = self._connection.execute("SELECT run FROM captures WHERE id = ?", (known,)).fetchone()
            return int(run)
        run, is_renumbered = find_run_number(self._connection, identity, self._record.started, launch)
        self._are_totals_stale = self._are_totals_stale or is_renumbered
        return run

    def _reserve_first_ids(self, calls: int) -> tuple[int, int]:
        """Return the first and the last id reserved for the calls."""
        if self.rows:
            query = "SELECT first_call, reserved_call FROM captures WHERE id = ?"
            first, last = self._connection.execute(query, (self.id,)).fetchone()
            return first, last
        query = "SELECT coalesce(max(reserved_call), 0) + 1 FROM captures WHERE id <> ?"
        (first,) = self._connection.execute(query, (self.id,)).fetchone()
        last = first + calls - 1
        reserved = last if calls else None
        self._connection.execute("UPDATE captures SET reserved_call = ? WHERE id = ?", (reserved, self.id))
        return first, last

    def _reserve_ids(self, rows: int) -> None:
        """Reserve ids for this total number of calls. Raises NoRoomError if another capture holds the next ids."""
        last = self._first + rows - 1
        if last <= self._reserved:
            return
        query = "SELECT 1 FROM captures WHERE reserved_call > ? AND id <> ?"
        if self._connection.execute(query, (self._reserved, self.id)).fetchone():
            raise NoRoomError(
                f"{self._record.capture.path} has more calls than expected, and another capture was indexed after it.",
                "Run `framedex index` again.",
            )
        self._connection.execute("UPDATE captures SET reserved_call = ? WHERE id = ?", (last, self.id))
        self._reserved = last

    def _intern_frames(self, groups: Sequence[Sequence[FrameRecord]], renamed: Collection[BinaryId]) -> list[list[int]]:
        """Return the ids of the logical frames of frames of the capture; see `intern_frames`."""
        records = [frame for group in groups for frame in group]
        self._versions.add(records)
        flat = iter(intern_frames(self._connection, records, self._versions.by_path, renamed))
        return [[next(flat) for _ in group] for group in groups]

    def _replace_builds(self) -> None:
        self._connection.execute("DELETE FROM builds WHERE capture = ?", (self.id,))
        self._connection.executemany(
            "INSERT INTO builds(capture, component, version, revision, folder) VALUES (?, ?, ?, ?, ?)",
            [
                (self.id, build.component, to_storable(build.version), build.revision, to_storable(build.folder))
                for build in self._record.builds
            ],
        )

    # The writers of the calls

    def _check_not_taken(self) -> None:
        """Raise CaptureTakenError if another process has written to the capture since this one did."""
        query = "SELECT calls, reading FROM captures WHERE id = ?"
        if self._connection.execute(query, (self.id,)).fetchone() != (self.rows, self._record.signature):
            raise CaptureTakenError(
                f"{self._record.capture.path} is being read by another process.",
                "Wait until it has finished. No data is lost.",
            )

    def _update_totals(self, writers: _Writers) -> None:
        """Update the totals of stacks and lines with the added calls."""
        items, samples = writers.calls.take_items()
        if len(items.stack):
            aggregates.add_stack_calls(self._connection, self.id, items, samples)
            aggregates.add_totals(self._connection, items, self._tree.nodes, self.id)
        links = writers.links.take_rowid_before_links()
        if links is not None:
            aggregates.add_linked_line_totals(self._connection, self._tree.nodes, links, self.id)

    def _open_call_writers(self) -> _Writers:
        """Return the writers of the capture's calls.

        They are created with the first calls: a capture without calls has no threads.
        """
        if self._call_writers is None:
            connection, capture = self._connection, self._record.capture
            boundaries = _intern_boundaries(connection, capture.functions)
            threads = _intern_threads(connection, self.id, capture)
            self._ffi.add_functions(capture.functions)
            runs = [function.boundary == BOUNDARY for function in capture.functions]
            tables = (boundaries, threads, runs, self._stacks, self._ffi)
            self._call_writers = _Writers(
                *(boundaries, threads, runs),
                CallWriter(connection, self.id, self._first, *tables),
                ObjectWriter(connection, self.id, self._first),
                LinkWriter(connection, self._tree, self._first, threads, self._frames),
                ProgramWriter(connection, self.id, self._first, self._record),
                TransferWriter(connection, self._tree, self.id, self._first, self._record),
            )
        return self._call_writers

    def _replay_written_batch(self, batch: CallBatch) -> None:
        if batch.first + len(batch) > self.rows:
            raise ValueError(
                f"rows {batch.first} to {batch.first + len(batch)} are one batch, but only {self.rows} rows are written"
            )
        with self._transaction():
            self._open_call_writers().calls.register_batch(batch)
            self._open_call_writers().links.register_batch(batch)
            self._open_call_writers().programs.register_batch(batch)
            self._open_call_writers().transfers.register_batch(batch)


@dataclass(frozen=True, slots=True)
class _Writers:
    """The writers of a capture's calls, and the lists that they share.

    The lists are the ids of its functions and threads, and flags of the functions whose calls are runs of FFI handlers.
    """

    boundaries: list[int]
    threads: list[int]
    runs: list[bool]
    calls: CallWriter
    objects: ObjectWriter
    links: LinkWriter
    programs: ProgramWriter
    transfers: TransferWriter

    def extend(self, connection: sqlite3.Connection, capture_id: int, record: CaptureRecord, ffi: FfiWriter) -> None:
        """Continue with a capture that has more functions and threads."""
        capture = record.capture
        self.programs.extend(record)
        self.transfers.extend(record)
        new = capture.functions[len(self.boundaries) :]
        self.boundaries.extend(_intern_boundaries(connection, new))
        self.runs.extend(function.boundary == BOUNDARY for function in new)
        self.threads[:] = _intern_threads(connection, capture_id, capture)
        ffi.add_functions(new)


def _intern_boundaries(connection: sqlite3.Connection, functions: Sequence[Function]) -> list[int]:
    query = "SELECT id FROM boundaries WHERE name = ? AND boundary = ?"
    ids = []
    for function in functions:
        key = (to_storable(function.name), to_storable(function.boundary))
        connection.execute("INSERT OR IGNORE INTO boundaries(name, boundary) VALUES (?, ?)", key)
        ids.append(connection.execute(query, key).fetchone()[0])
    # FFI handlers have the names of their targets.
    names = (function.name for function in functions if function.boundary != BOUNDARY)
    add_recorded_names(connection, map(to_storable, names))
    return ids


def _intern_threads(connection: sqlite3.Connection, capture_id: int, capture: Capture) -> list[int]:
    """Return the ids of a capture's threads. An interrupted reading may have written some of them."""
    known = connection.execute("SELECT id FROM threads WHERE capture = ? ORDER BY id", (capture_id,))
    ids: list[int] = [identifier for (identifier,) in known]
    query = "INSERT INTO threads(capture, tid, name, label) VALUES (?, ?, ?, ?)"
    main = capture.metadata.pid
    for thread in capture.threads[len(ids) :]:
        row = (capture_id, thread.tid, to_storable(thread.name), build_thread_label(thread, main))
        added = connection.execute(query, row).lastrowid
        assert added is not None
        ids.append(added)
    return ids


def build_thread_label(thread: Thread, main: object) -> str:
    """Return a unique label of a thread: all threads of a pool share one name, often that of the main thread."""
    if thread.tid == main:
        return "main"
    return to_storable(f"{thread.name} ({thread.tid})" if thread.name else str(thread.tid))


def _is_on_mock(capture: Capture) -> bool:
    """Whether a capture has functions of the mock TPU. Flight mode may record none of their calls."""
    return any(function.boundary == "mock_tpu" for function in capture.functions)


def _format_plugins(capture: Capture) -> str | None:
    """The paths of the plug-ins by boundary, as JSON; None if the capture does not describe any."""
    paths: dict[str, str] = {}
    for description in capture.descriptions:
        match description.kind, description.content:
            case "plugin", {"boundary": str(boundary), "path": str(path)} if boundary in PJRT_BOUNDARIES:
                paths[boundary] = to_storable(path)
    return json.dumps(paths) if paths else None


def _format_stops(stops: StopReasons) -> str | None:
    return json.dumps(asdict(stops)) if stops or stops.queries else None
