"""Many small files of a store become few large ones, and nobody who reads or adds meanwhile sees a difference.

What the captures of a day and job have is put together by when they began, and written under names that follow from
what it is. Only then their rows are, in one file, and from that moment on it counts instead of what was there: see
`committed.py`. What is needed no more goes later: see `sweeping.py`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framedex.errors import FramedexError
from framedex.fleet.calls import AS_WRITTEN, CALLS_AT_ONCE, calls_writer
from framedex.fleet.committed import Committed, LacksError, remedy, whole_parts
from framedex.fleet.identities import id_of
from framedex.fleet.libraries import pa
from framedex.fleet.marks import mark
from framedex.fleet.needs import kinds_of, needed_rows
from framedex.fleet.partitions import captures_in
from framedex.fleet.schema import CALL_KINDS, CALLS, CAPTURES, FRAMES, STACKS
from framedex.fleet.sweeping import State, Swept, sweep
from framedex.fleet.tables import calls_in, rows_of, write_rows

if TYPE_CHECKING:
    from framedex.fleet.place import Place
    from framedex.progress import Progress

CALLS_IN_A_PART = 1 << 24
"""Calls that are put together at most: some 128 MiB. Parts with half of that stay as they are."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """How many captures count, how many parts their calls were in and are in now, and what was removed.

    `left` says why captures of some days and jobs were left as they are.
    """

    captures: int
    parts_before: int
    parts: int
    swept: Swept
    left: tuple[FramedexError, ...] = ()


def compact(place: Place, progress: Progress, most: int = CALLS_IN_A_PART) -> Compacted:
    """Put together what is in small files, up to so many calls; then remove what is needed no more.

    Where the store lacks something of a capture, all of its day and job stays as it is. Raises FramedexError where the
    store fails: all counts that did before.
    """
    place.check()
    before = State.of(place)
    left: list[FramedexError] = []
    with (
        tempfile.TemporaryDirectory(prefix="framedex-fleet-") as folder,
        progress.task("Putting calls together", sum(row.calls for row in before.counted.values())) as advance,
    ):
        for partition, rows in before.partitions().items():
            try:
                _settled(place, partition, rows, lambda rows: _Compacting(place, Path(folder), rows, most).run())
            except LacksError as error:
                left.append(error)
            except OSError as error:
                kept = f"What is kept in {tempfile.gettempdir()} meanwhile"
                said = error.strerror or str(error)
                raise FramedexError(
                    f"{kept} could not be written: {said}.", "Set TMPDIR to a folder with more room."
                ) from error
            calls = sum(row.calls for row in rows)
            advance(calls, calls=calls)
    swept = sweep(place)
    after = State.of(place).counted.values()
    parts = {row.part for row in before.counted.values()}
    return Compacted(len(after), len(parts), len({row.part for row in after}), swept, tuple(left))


def _settled(place: Place, partition: str, rows: list[Committed], work: Callable[[list[Committed]], None]) -> None:
    """Do a work on the captures of a folder; where it fails as their files went meanwhile, on those that are there."""
    while True:
        try:
            return work(rows)
        except FramedexError:
            now = State.of(place).partitions().get(partition, [])
            if not now:  # all of them were dropped
                return
            files = {name for row in rows for name in (row.file, f"calls/{row.part}", f"call_kinds/{row.part}")}
            if now == rows or all(place.modified(name) is not None for name in files):
                raise
            rows = now


class _Compacting:
    """Puts together the captures of one day and job, which are given in the order of their beginning."""

    def __init__(self, place: Place, folder: Path, rows: Sequence[Committed], most: int) -> None:
        self._place = place
        self._rows = rows
        self._most = most
        self._file = folder / "together.parquet"
        self._partition = rows[0].partition

    def run(self) -> None:
        """Write what is not there, the rows of the captures last."""
        tables = ("calls", "call_kinds", "stacks", "frames")
        for folder in (*(f"{table}/{self._partition}" for table in tables), captures_in(self._rows[0].day)):
            self._place.clean(folder)
        groups = self._groups()
        if self._is_done(groups):
            return
        settled = []
        for group in groups:
            name = self._name(group)
            if name != group[0].part:
                self._write_calls(group, name)
            settled += [replace(row, part=name, shared_by=len(group)) for row in group]
        self._write_stacks()
        self._commit(settled)

    def _groups(self) -> list[list[Committed]]:
        """The captures whose calls are to be in one part each; one that is large, or alone, stays where it is."""
        whole = whole_parts(self._rows)
        calls: dict[str, int] = {}
        for row in self._rows:
            calls[row.part] = calls.get(row.part, 0) + row.calls
        large = {part for part in whole if calls[part] >= self._most // 2}
        groups = [[row for row in self._rows if row.part == part] for part in sorted(large)]
        group: list[Committed] = []
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

    def _name(self, group: Sequence[Committed]) -> str:
        """The part that has these captures: that in which they are, if it has no others, or a new one."""
        part = group[0].part
        if len(group) == group[0].shared_by and all(row.part == part for row in group):
            return part
        states = [(row.capture, row.signature, row.generation) for row in group]
        return f"{self._partition}/{id_of('together', *states)}.parquet"

    def _is_done(self, groups: Sequence[Sequence[Committed]]) -> bool:
        """Whether all is together already, as far as can be seen without reading it."""
        tables = (f"stacks/{self._partition}", f"frames/{self._partition}")
        return (
            all(self._name(group) == group[0].part for group in groups)
            and len({row.file for row in self._rows}) == 1
            and all(len(self._place.names(table)) <= 1 for table in tables)
        )

    def _write_calls(self, group: Sequence[Committed], name: str) -> None:
        """Write the calls of captures, each in its order, and their kinds."""
        kinds = kinds_of(self._place, group)
        written: dict[str, int] = {}
        with calls_writer(self._file) as writer:
            waiting = CALLS.empty_table()
            for part, rows in groupby(group, lambda row: row.part):
                for table in self._calls(part, list(rows)):
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
                raise LacksError(
                    f"The calls of capture {row.capture} are not what its row says: it stays as it is, and so do the"
                    f" others of {self._partition}.",
                    remedy(self._place, row),
                )
        self._place.put(f"calls/{name}", self._file)
        write_rows(self._file, CALL_KINDS, kinds)
        self._place.put(f"call_kinds/{name}", self._file)

    def _calls(self, part: str, rows: Sequence[Committed]) -> Iterator[Any]:
        """The calls of captures that are in a part. Raises LacksError where they cannot be read there."""
        name = f"calls/{part}"
        if self._place.modified(name) is None:
            raise LacksError(f"{self._place.url(name)} is missing.", remedy(self._place, rows[0]))
        try:
            with self._place.opened(name) as file:
                yield from calls_in(file, {row.capture for row in rows})
        except (pa.ArrowException, OSError) as error:
            said = f"{self._place.url(name)} cannot be read, so all of {self._partition} stays as it is: {error}."
            raise LacksError(said, remedy(self._place, rows[0])) from error

    def _write_stacks(self) -> None:
        """Write the stacks and frames that the captures need, where no file has just these."""
        needed = needed_rows(self._place, self._rows)
        rows = {"stacks": {key: [row] for key, row in needed.stacks.items()}, "frames": needed.frames}
        for table, schema in (("stacks", STACKS), ("frames", FRAMES)):
            keys = sorted(rows[table])
            name = f"{table}/{self._partition}/{id_of(*keys)}.parquet"
            present = self._place.names(f"{table}/{self._partition}")
            if keys and name not in present:
                mark(self._place, present)
                write_rows(self._file, schema, [row for key in keys for row in rows[table][key]])
                self._place.put(name, self._file)

    def _commit(self, settled: Sequence[Committed]) -> None:
        """Write the rows of the captures into one file, by which all else counts; one that is alone has its own."""
        if len(settled) == 1 and settled[0].part == self._rows[0].part:
            return
        told = {
            (file, row["capture"]): row
            for file in {row.file for row in self._rows}
            for row in rows_of(self._place, file, CAPTURES)
        }
        rows: list[dict[str, Any]] = []
        for old, new in zip(sorted(self._rows, key=_key), sorted(settled, key=_key), strict=True):
            if (row := told.get((old.file, old.capture))) is None:
                raise LacksError(f"{self._place.url(old.file)} says no more what it did.", remedy(self._place, old))
            rows.append(row | {"part": new.part, "shared_by": new.shared_by})
        name = id_of("together", *((row["capture"], row["signature"], row["generation"], row["part"]) for row in rows))
        write_rows(self._file, CAPTURES, rows)
        file = f"{captures_in(self._rows[0].day)}/{name}.parquet"
        # First: a mark from before they were needed would have them removed at once.
        kept = {row.part for row in settled}
        parts = {row.part for row in self._rows} - kept
        going = {row.file for row in self._rows} | {
            f"{table}/{part}" for table in ("calls", "call_kinds") for part in parts
        }
        mark(self._place, going - {file})
        self._place.put(file, self._file)


def _key(row: Committed) -> tuple[int, str]:
    return row.started, row.capture


def _write_group(writer: Any, table: Any) -> None:
    """Write a group of rows, whose texts are listed anew: so its bytes do not depend on where they come from."""
    columns = [
        column.combine_chunks().dictionary_encode() if pa.types.is_string(column.type) else column.combine_chunks()
        for column in table.columns
    ]
    writer.write_table(pa.table(columns, AS_WRITTEN), row_group_size=len(table))
