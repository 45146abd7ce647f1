"""Add captures to a store. An add is atomic and idempotent: it stores a whole capture or nothing, and only once.

The capture's own row is written last. Without that row, its other files do not count. File names derive from the
content, so repeated and concurrent adds of a capture write the same files. See docs/how-to/fleet.md.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.captures import CaptureStream, is_being_written, read_capture_state, read_metadata
from framedex.fleet.calls import CALLS_AT_ONCE, CallsFile
from framedex.fleet.committed import CommittedCapture, read_rows_of_capture, remedy
from framedex.fleet.drops import read_current_generation, read_drops
from framedex.fleet.identities import hash_values
from framedex.fleet.marks import mark_for_removal, read_marked_names
from framedex.fleet.naming import FrameNamer
from framedex.fleet.origin import Origin
from framedex.fleet.partitions import build_captures_folder, own_file_name, partition_folder
from framedex.fleet.rows import Row, StackTables
from framedex.fleet.schema import CALL_KINDS, CAPTURES, FRAMES, PART_TABLES, STACKS
from framedex.fleet.segments import SegmentFile
from framedex.fleet.store_root import GRACE_PERIOD
from framedex.fleet.tables import KEY_COLUMNS, read_column, write_rows
from framedex.index.file.values import to_storable
from framedex.texts.captures import format_all_problems

if TYPE_CHECKING:
    from framedex.base.progress import Progress
    from framedex.fleet.store_root import StoreRoot

_DAY = 86_400 * 10**9  # ns
_MARK_CHECK_INTERVAL_S = (
    GRACE_PERIOD.total_seconds() / 6
)  # relisting a folder must notice marks of other processes well before GRACE_PERIOD ends
_RECHECK_AFTER_S = (
    GRACE_PERIOD.total_seconds() / 2
)  # after a longer add, files that it found or wrote at first may have been removed


@dataclass(frozen=True, slots=True)
class AddedCapture:
    """A capture that is now in the store. `is_new`: the store lacked it, or had it with fewer calls.

    `problems` are sentences about missing data and about frames that have no names on this machine.
    """

    path: Path
    origin: Origin
    calls: int
    stacks: int
    is_new: bool
    problems: tuple[str, ...] = ()


def add_captures(
    store: StoreRoot, captures: Sequence[Path], names: FrameNamer, progress: Progress
) -> Iterator[tuple[Path, AddedCapture | FramedexError]]:
    """Add captures one by one. Yield each path with the added capture, or with the error that prevented it.

    Raises FramedexError if the store does not exist and cannot be created.
    """
    store.begin()
    with (
        tempfile.TemporaryDirectory(prefix="framedex-fleet-") as folder,
        progress.task("Adding captures", len(captures)) as advance,
    ):
        adding = CaptureAdder(store, names, Path(folder))
        for path in captures:
            added = adding.try_add(path)
            advance(1, calls=added.calls if isinstance(added, AddedCapture) else 0)
            yield path, added


class CaptureAdder:
    """Adds captures to a store, and caches frame names and the store's known rows between them.

    `folder` holds files before they are copied to the store.
    """

    def __init__(self, store: StoreRoot, names: FrameNamer, folder: Path) -> None:
        self._root = store
        self._names = names
        self._folder = folder
        self._known: dict[str, tuple[float, set[str]]] = {}
        self._rows_by_file: dict[str, list[CommittedCapture]] = {}
        self._cleaned: set[str] = set()

    def try_add(self, path: Path) -> AddedCapture | FramedexError:
        """Add a capture. Return the error if it cannot be added."""
        try:
            return self.add(path)
        except FramedexError as error:
            return error
        except OSError as error:
            kept = f"Temporary files in {tempfile.gettempdir()}"
            reason = error.strerror or str(error)
            return FramedexError(f"{kept} could not be written: {reason}.", "Set TMPDIR to a folder with more room.")

    def add(self, path: Path) -> AddedCapture:
        """Add a capture. Raises FramedexError if the capture cannot be read or the store cannot be written."""
        metadata = read_metadata(path)
        if metadata.foreign is not None:
            raise FramedexError(
                f"{path} was imported from another tool: framedex did not record it.",
                "Add captures that framedex recorded: `framedex run SCRIPT` makes them.",
            )
        if is_being_written(path, metadata):
            raise FramedexError(f"{path} is still being written.", "Add it after its program has ended.")
        state = read_capture_state(path)
        origin = Origin.from_metadata(metadata)
        generation = read_current_generation(read_drops(self._root), origin.day, to_storable(origin.job))
        name = own_file_name(origin, state.signature, generation)
        known = self._committed_rows(origin, generation)
        most = max((row.calls for row in known), default=0)
        same = [row for row in known if row.signature == state.signature and row.calls == most]
        if (row := self._find_complete_row(same)) is not None:
            return AddedCapture(path, origin, row.calls, row.stacks, is_new=False)
        return self._write(path, origin, state.signature, generation, name, known)

    def _committed_rows(self, origin: Origin, generation: int) -> list[CommittedCapture]:
        """Return the store's current rows of a capture, in any state and from own or shared files."""
        rows = read_rows_of_capture(self._root, origin.capture, origin.day, self._rows_by_file)
        return [row for row in rows if row.generation == generation]

    def _find_complete_row(self, same: Sequence[CommittedCapture]) -> CommittedCapture | None:
        """Return a row, among rows of one state, whose call files exist; None if there is no such row.

        Rows in shared files precede the capture's own row: see `select_counted_rows`. Raises FramedexError if the
        capture has rows in shared files, and none of them has its call files.
        """
        together = [row for row in same if not row.is_own]
        for row in together or same:
            if all(self._root.modification_time(f"{table}/{row.part}") is not None for table in PART_TABLES):
                return row
        if together:
            raise FramedexError(
                f"The store has a row for capture {together[0].capture}, but lacks its calls.",
                remedy(self._root, together[0]),
            )
        return None

    def _write(
        self, path: Path, origin: Origin, signature: str, generation: int, name: str, others: list[CommittedCapture]
    ) -> AddedCapture:
        """Write a capture whose state is not in the store yet. The store may have other states of the capture."""
        place, partition = self._root, partition_folder(origin)
        stream = CaptureStream(path)
        if (most := max((row.calls for row in others), default=0)) > stream.calls:
            raise FramedexError(
                f"{path} has {words.count(stream.calls, 'call')}; the store has this capture already, with {most:,}.",
                "It was truncated since, or is another capture with the same id. The store keeps the longer one.",
            )
        names = self._names.name_capture(stream.capture)
        tables = StackTables(stream.capture, names.logical)
        files = {table: self._folder / f"{table}.parquet" for table in PART_TABLES}
        file = CallsFile(files["calls"], origin, stream.capture, tables.ids)
        _read_all(stream, file, SegmentFile(files["segments"], origin.capture, stream, names))
        write_rows(files["call_kinds"], CALL_KINDS, file.kinds())
        used = {kind["stack"] for kind in file.kinds()}
        part = f"{partition}/{name}"

        def write_files() -> float:
            """Write the files that the row refers to. Return the oldest time of a check or write (Unix time)."""
            began = time.time()
            frames = self._write_new_rows(f"frames/{partition}", FRAMES, tables.frames(used))
            rows = {key: [row] for key, row in tables.stacks(used).items()}
            stacks = self._write_new_rows(f"stacks/{partition}", STACKS, rows)
            for table, written in files.items():
                place.put(f"{table}/{part}", written)
            return min(began, frames, stacks)

        since = write_files()
        problems = format_all_problems(stream.stops, tuple(dict.fromkeys((*stream.capture.problems, *stream.problems))))
        problems = (*problems, *_describe_date_problems(origin))
        row = _build_capture_row(stream, origin, file.misuse, problems)
        row |= {"signature": signature, "generation": generation, "part": part, "shared_by": 1}
        committed = self._folder / "capture.parquet"
        write_rows(committed, CAPTURES, [row])
        # Mark before the row is written: an older mark would remove files that other processes still read.
        old = [each for each in others if each.is_own and each.calls < stream.row]
        mark_for_removal(place, (name for each in old for name in each.files))
        place.put(f"{build_captures_folder(origin.day)}/{name}", committed)
        if not 0 <= time.time() - since < _RECHECK_AFTER_S:
            # A sweep may have removed the files while no row referred to them. The row now protects them.
            self._known.clear()
            write_files()
        for folder in {
            build_captures_folder(origin.day),
            *(f"{table}/{partition}" for table in _TABLES),
        } - self._cleaned:
            place.clean(folder)
            self._cleaned.add(folder)
        return AddedCapture(
            path, origin, stream.row, len(stream.capture.stacks), is_new=True, problems=(*problems, *names.problems)
        )

    def _write_new_rows(self, folder: str, schema: Any, rows: dict[str, list[Row]]) -> float:
        """Write the rows that the store lacks into a file named by a hash of its rows.

        Return the time when the folder was listed, in seconds since the Unix epoch.
        """
        looked, known = self._known_rows(folder)
        if new := sorted(rows.keys() - known):
            file = self._folder / "rows.parquet"
            write_rows(file, schema, [row for each in new for row in rows[each]])
            self._root.put(f"{folder}/{hash_values(*new)}.parquet", file)
            known.update(new)
        return looked

    def _known_rows(self, folder: str) -> tuple[float, set[str]]:
        """Return the time when a folder was listed, and the keys of its rows, including rows written since.

        Rows in files that are marked for removal are left out: the new capture must outlive those files.
        """
        looked, found = self._known.get(folder, (0.0, set()))
        # `monotonic` stops while this computer sleeps; other hosts continue.
        if not 0 <= time.time() - looked < _MARK_CHECK_INTERVAL_S:
            looked, found = time.time(), set()
            marked = read_marked_names(self._root)
            for name in self._root.names(folder):
                if name not in marked:
                    found |= set(read_column(self._root, name, KEY_COLUMNS[folder.partition("/")[0]]))
            self._known[folder] = looked, found
        return looked, found


def _read_all(stream: CaptureStream, file: CallsFile, segment: SegmentFile) -> None:
    """Write all calls of a capture to a file, and the capture to its segment."""
    with file, segment:
        while True:
            batch = stream.next(CALLS_AT_ONCE)
            if len(batch):
                file.add(batch)
            if len(batch) or not batch.first:  # a segment has at least one batch
                segment.add(batch)
            if not len(batch) or stream.row >= stream.calls:  # an empty batch: the capture was truncated meanwhile
                break


_TABLES = ("frames", "stacks", *PART_TABLES)


def _describe_date_problems(origin: Origin) -> Iterator[str]:
    """Yield sentences about a capture's start time if it is in the future, missing or impossible."""
    if origin.started_ns > time.time_ns() + _DAY:
        yield f"Its start date, {origin.day}, is in the future: the clock of its host was wrong."
    elif not origin.started_ns:
        yield f"Its start time is missing or impossible: it is stored under {origin.day}."


def _build_capture_row(stream: CaptureStream, origin: Origin, misuse: dict[str, int], problems: Sequence[str]) -> Row:
    metadata = stream.capture.metadata
    packages = {} if metadata.launch is None else dict(metadata.launch.packages)
    return {
        "capture": origin.capture,
        "day": origin.day,
        "job": to_storable(origin.job),
        "rank": origin.rank,
        "host": to_storable(metadata.host or ""),
        "pid": metadata.pid,
        "started": origin.started_ns,
        "command": to_storable(" ".join(metadata.argv)),
        "path": to_storable(str(stream.capture.path.absolute())),
        "calls": stream.row,
        "stacks": len(stream.capture.stacks),
        "misuse": json.dumps(misuse, sort_keys=True),
        "problems": json.dumps(list(problems)),
        "packages": json.dumps(packages, sort_keys=True),
        "metadata": to_storable(metadata.text),
    }
