"""Merge small files of a store into large ones, without effect on concurrent queries and adds.

The captures of a day and job are merged in order of their start time, into files named by their content. The rows of
the captures are written last, in one file. From then on these rows count: see `committed.py`. Unused files are removed
later: see `sweeping.py`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from framedex.base.errors import FramedexError
from framedex.fleet.calls import CALLS_AT_ONCE, WRITE_SCHEMA, calls_writer
from framedex.fleet.committed import CommittedCapture, MissingDataError, find_fully_counted_parts, remedy
from framedex.fleet.identities import hash_values
from framedex.fleet.libraries import pa
from framedex.fleet.marks import mark_for_removal
from framedex.fleet.needs import find_needed_rows, read_call_kinds
from framedex.fleet.partitions import build_captures_folder
from framedex.fleet.schema import CALL_KINDS, CALLS, CAPTURES, FRAMES, PART_TABLES, STACKS
from framedex.fleet.segments import segment_writer
from framedex.fleet.sweeping import StoreState, SweepResult, sweep
from framedex.fleet.tables import read_calls, read_rows, read_segments, write_rows

if TYPE_CHECKING:
    from framedex.base.progress import Progress
    from framedex.fleet.store_root import StoreRoot

CALLS_IN_A_PART = 1 << 24
"""The maximum number of calls in a merged part: about 128 MiB. Parts with at least half of that are left alone."""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """Numbers of captures, and of parts before and after a compaction, with the removed files.

    `left` has the reasons why captures of some days and jobs were not merged.
    """

    captures: int
    parts_before: int
    parts: int
    swept: SweepResult
    left: tuple[FramedexError, ...] = ()


def compact(store: StoreRoot, progress: Progress, limit: int = CALLS_IN_A_PART) -> CompactionResult:
    """Merge small files into parts of at most `limit` calls, then remove unused files.

    If data of a capture is missing, its day and job are not merged. Raises FramedexError if the store fails; all
    captures that counted before still count.
    """
    store.check()
    before = StoreState.read(store)
    left: list[FramedexError] = []
    with (
        tempfile.TemporaryDirectory(prefix="framedex-fleet-") as folder,
        progress.task("Merging calls", sum(row.calls for row in before.current.values())) as advance,
    ):
        for partition, rows in before.partitions().items():
            try:
                _process_partition(
                    store, partition, rows, lambda rows: _DayCompactor(store, Path(folder), rows, limit).run()
                )
            except MissingDataError as error:
                left.append(error)
            except OSError as error:
                kept = f"Temporary files in {tempfile.gettempdir()}"
                reason = error.strerror or str(error)
                raise FramedexError(
                    f"{kept} could not be written: {reason}.", "Set TMPDIR to a folder with more room."
                ) from error
            calls = sum(row.calls for row in rows)
            advance(calls, calls=calls)
    swept = sweep(store)
    after = StoreState.read(store).current.values()
    parts = {row.part for row in before.current.values()}
    return CompactionResult(len(after), len(parts), len({row.part for row in after}), swept, tuple(left))


def _process_partition(
    store: StoreRoot, partition: str, rows: list[CommittedCapture], work: Callable[[list[CommittedCapture]], None]
) -> None:
    """Process the captures of a folder. If files disappear during that, retry with the captures that are left."""
    while True:
        try:
            return work(rows)
        except FramedexError:
            now = StoreState.read(store).partitions().get(partition, [])
            if not now:  # all captures were dropped
                return
            files = {name for row in rows for name in row.files}
            if now == rows or all(store.modification_time(name) is not None for name in files):
                raise
            rows = now


class _DayCompactor:
    """Merges the captures of one day and job, given in order of their start time."""

    def __init__(self, store: StoreRoot, folder: Path, rows: Sequence[CommittedCapture], limit: int) -> None:
        self._root = store
        self._rows = rows
        self._most = limit
        self._file = folder / "together.parquet"
        self._partition = rows[0].partition

    def run(self) -> None:
        """Write the missing files, and the rows of the captures last."""
        tables = (*PART_TABLES, "stacks", "frames")
        for folder in (*(f"{table}/{self._partition}" for table in tables), build_captures_folder(self._rows[0].day)):
            self._root.clean(folder)
        groups = self._group_captures()
        if self._is_done(groups):
            return
        settled = []
        for group in groups:
            name = self._part_name(group)
            if name != group[0].part:
                self._write_calls(group, name)
                self._write_segments(group, name)
            settled += [replace(row, part=name, shared_by=len(group)) for row in group]
        self._write_stacks()
        self._commit(settled)

    def _group_captures(self) -> list[list[CommittedCapture]]:
        """Group the captures by their future parts. A large part stays a group of its own."""
        whole = find_fully_counted_parts(self._rows)
        calls: dict[str, int] = {}
        for row in self._rows:
            calls[row.part] = calls.get(row.part, 0) + row.calls
        large = {part for part in whole if calls[part] >= self._most // 2}
        groups = [[row for row in self._rows if row.part == part] for part in sorted(large)]
        group: list[CommittedCapture] = []
        held = 0
        for row in self._rows:
            if row.part in large:
                continue
            if group and held + row.calls > self._most:
                groups.append(group)
                group, held = [], 0
            group.append(row)
            held += row.calls
        return [*groups, group] if group else groups

    def _part_name(self, group: Sequence[CommittedCapture]) -> str:
        """Return the part of these captures, if it has no others; otherwise the name of a new part."""
        part = group[0].part
        if len(group) == group[0].shared_by and all(row.part == part for row in group):
            return part
        states = [(row.capture, row.signature, row.generation) for row in group]
        return f"{self._partition}/{hash_values('together', *states)}.parquet"

    def _is_done(self, groups: Sequence[Sequence[CommittedCapture]]) -> bool:
        """Whether all files are merged already, judged by their names."""
        tables = (f"stacks/{self._partition}", f"frames/{self._partition}")
        return (
            all(self._part_name(group) == group[0].part for group in groups)
            and len({row.file for row in self._rows}) == 1
            and all(len(self._root.names(table)) <= 1 for table in tables)
        )

    def _write_calls(self, group: Sequence[CommittedCapture], name: str) -> None:
        """Write the calls of captures, in order, and their kinds."""
        kinds = read_call_kinds(self._root, group)
        written: dict[str, int] = {}
        with calls_writer(self._file) as writer:
            waiting = CALLS.empty_table()
            for part, rows in groupby(group, lambda row: row.part):
                for table in self._rows_of_part("calls", part, list(rows), read_calls):
                    for each in table.column("capture").value_counts().to_pylist():
                        written[each["values"]] = written.get(each["values"], 0) + each["counts"]
                    waiting = pa.concat_tables([waiting, table])
                    while len(waiting) >= CALLS_AT_ONCE:
                        _write_group(writer, waiting.slice(0, CALLS_AT_ONCE))
                        waiting = waiting.slice(CALLS_AT_ONCE)
            if len(waiting):
                _write_group(writer, waiting)
        for row in group:
            if row.calls != written.get(row.capture, 0):
                raise MissingDataError(
                    f"Capture {row.capture} has another number of calls than its row says, so"
                    f" {self._partition} is not compacted.",
                    remedy(self._root, row),
                )
        self._root.put(f"calls/{name}", self._file)
        write_rows(self._file, CALL_KINDS, kinds)
        self._root.put(f"call_kinds/{name}", self._file)

    def _write_segments(self, group: Sequence[CommittedCapture], name: str) -> None:
        """Write the segments of captures, in order."""
        with segment_writer(self._file) as writer:
            for part, rows in groupby(group, lambda row: row.part):
                for table in self._rows_of_part("segments", part, list(rows), read_segments):
                    writer.write_table(table)
        self._root.put(f"segments/{name}", self._file)

    def _rows_of_part(
        self,
        table: str,
        part: str,
        rows: Sequence[CommittedCapture],
        read: Callable[[IO[bytes], Collection[str]], Iterator[Any]],
    ) -> Iterator[Any]:
        """Yield the rows of captures in a part. Raises MissingDataError if they cannot be read."""
        name = f"{table}/{part}"
        if self._root.modification_time(name) is None:
            raise MissingDataError(f"{self._root.url(name)} is missing.", remedy(self._root, rows[0]))
        try:
            with self._root.open_file(name) as file:
                yield from read(file, {row.capture for row in rows})
        except (pa.ArrowException, OSError) as error:
            problem = f"{self._root.url(name)} cannot be read, so {self._partition} is not compacted: {error}."
            raise MissingDataError(problem, remedy(self._root, rows[0])) from error

    def _write_stacks(self) -> None:
        """Write the stacks and frames of the captures, unless a file has exactly these."""
        needed = find_needed_rows(self._root, self._rows)
        rows = {"stacks": {key: [row] for key, row in needed.stacks.items()}, "frames": needed.frames}
        for table, schema in (("stacks", STACKS), ("frames", FRAMES)):
            keys = sorted(rows[table])
            name = f"{table}/{self._partition}/{hash_values(*keys)}.parquet"
            present = self._root.names(f"{table}/{self._partition}")
            if keys and name not in present:
                mark_for_removal(self._root, present)
                write_rows(self._file, schema, [row for key in keys for row in rows[table][key]])
                self._root.put(name, self._file)

    def _commit(self, settled: Sequence[CommittedCapture]) -> None:
        """Write the rows of the captures into one file, which makes the other files count.

        A single capture whose part is unchanged keeps its row.
        """
        if len(settled) == 1 and settled[0].part == self._rows[0].part:
            return
        present_rows = {
            (file, row["capture"]): row
            for file in {row.file for row in self._rows}
            for row in read_rows(self._root, file, CAPTURES)
        }
        rows: list[dict[str, Any]] = []
        for old, new in zip(sorted(self._rows, key=_capture_key), sorted(settled, key=_capture_key), strict=True):
            if (row := present_rows.get((old.file, old.capture))) is None:
                raise MissingDataError(
                    f"{self._root.url(old.file)} changed during the compaction.", remedy(self._root, old)
                )
            rows.append(row | {"part": new.part, "shared_by": new.shared_by})
        name = hash_values(
            "together", *((row["capture"], row["signature"], row["generation"], row["part"]) for row in rows)
        )
        write_rows(self._file, CAPTURES, rows)
        file = f"{build_captures_folder(self._rows[0].day)}/{name}.parquet"
        # Mark before the row is written: an older mark would remove the files at once.
        kept = {row.part for row in settled}
        parts = {row.part for row in self._rows} - kept
        replaced_files = {row.file for row in self._rows} | {
            f"{table}/{part}" for table in PART_TABLES for part in parts
        }
        mark_for_removal(self._root, replaced_files - {file})
        self._root.put(file, self._file)


def _capture_key(row: CommittedCapture) -> tuple[int, str]:
    return row.started, row.capture


def _write_group(writer: Any, table: Any) -> None:
    """Write a row group. Its dictionaries are rebuilt, so its bytes do not depend on the source files."""
    columns = [
        column.combine_chunks().dictionary_encode() if pa.types.is_string(column.type) else column.combine_chunks()
        for column in table.columns
    ]
    writer.write_table(pa.table(columns, WRITE_SCHEMA), row_group_size=len(table))
