"""Remove unreferenced files of a store: files of dropped captures at once, others an hour after they are marked.

Every compaction and drop ends with a sweep, which also completes the work of killed processes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from framedex.fleet.committed import (
    CommittedCapture,
    MissingDataError,
    NotStoreFileError,
    is_dropped,
    read_committed,
    select_counted_rows,
)
from framedex.fleet.drops import FOLDER as DROPS
from framedex.fleet.drops import read_drops
from framedex.fleet.identities import hash_values
from framedex.fleet.marks import FOLDER as GOING
from framedex.fleet.marks import mark_for_removal, read_marked_names, read_marks
from framedex.fleet.needs import find_needed_rows
from framedex.fleet.schema import PART_TABLES
from framedex.fleet.store_root import GRACE_PERIOD

if TYPE_CHECKING:
    from framedex.fleet.drops import Drop
    from framedex.fleet.store_root import StoreRoot

_STACK_TABLES = ("stacks", "frames")


@dataclass(frozen=True, slots=True)
class StoreState:
    """All rows of captures in a store, the rows that count by capture id, and the drops.

    `unreadable_days` has the day folders with a malformed file of captures, whose references are unknown.
    """

    rows: list[CommittedCapture]
    current: dict[str, CommittedCapture]
    drops: list[Drop]
    unreadable_days: frozenset[str]

    @classmethod
    def read(cls, store: StoreRoot) -> StoreState:
        """Read the state of a store. Malformed files of captures are left out, as in queries."""
        marked = read_marked_names(store)
        rows: list[CommittedCapture] = []
        unread = set()
        for name in store.files_below("captures"):
            try:
                rows += read_committed(store, name)
            except NotStoreFileError:
                unread.add(name.split("/")[1])
        drops = list(read_drops(store).values())
        return cls(rows, select_counted_rows(rows, drops, marked), drops, frozenset(unread))

    def is_unread(self, name: str) -> bool:
        """Whether a file belongs to a day with a malformed file of captures."""
        return name.split("/")[1] in self.unreadable_days

    def partitions(self) -> dict[str, list[CommittedCapture]]:
        """Return the rows that count by their folder, ordered by start time."""
        found: dict[str, list[CommittedCapture]] = defaultdict(list)
        for row in sorted(self.current.values(), key=lambda row: (row.started, row.capture)):
            found[row.partition].append(row)
        return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The number and bytes of removed files, and the number of files that wait for removal.

    `left_out` explains, in one sentence per day, why unused files were kept.
    """

    files: int
    size: int
    waiting: int
    left_out: tuple[str, ...]


def sweep(store: StoreRoot) -> SweepResult:
    """Remove unreferenced files whose mark is older than GRACE_PERIOD. Raises FramedexError if the store fails."""
    for folder in (DROPS, GOING):
        store.clean(folder)
    known = read_marks(store)  # read first: later marks are not due
    latest = (
        store.now() - GRACE_PERIOD
    )  # read before the rows: adds that rely on due files have written their row by then
    state = StoreState.read(store)
    at_once, later = _find_unused_capture_files(store, state)
    later |= _find_unused_stack_files(store, state)
    # Read the marks again: concurrent processes mark files before they replace them.
    young = {name for when, names in (*known.values(), *read_marks(store).values()) if when >= latest for name in names}
    due = {name: when for when, names in known.values() if when < latest for name in names if name not in young}
    later = {name for name in later if not state.is_unread(name)}
    removed = set()
    size = 0
    for name in sorted(at_once | (later & due.keys()), key=_removal_order):
        if name in at_once or not _was_rewritten(store, name, due[name]):
            size += store.size(name)
            store.remove(name)
            removed.add(name)
    for name, (when, _) in known.items():
        if when < latest:
            store.remove(name)
    # After the removal: a new mark of the same files has the name of the old one.
    mark_for_removal(store, later - removed - young)
    left_out = (
        f"Unused files of {day} were kept: {store.url(f'captures/{day}')} has a file that is not a store file."
        for day in sorted(state.unreadable_days)
    )
    return SweepResult(len(removed), size, len(later - removed), tuple(left_out))


def _removal_order(name: str) -> tuple[bool, str]:
    """Sort files of captures first, so that no row outlives the files that it refers to."""
    return not name.startswith("captures/"), name


def _was_rewritten(store: StoreRoot, name: str, marked: datetime) -> bool:
    """Return whether a file was rewritten after its mark, so that a row may soon refer to it."""
    when = store.modification_time(name)
    return when is not None and when > marked


def _find_unused_capture_files(store: StoreRoot, state: StoreState) -> tuple[set[str], set[str]]:
    """Return the dropped files of captures, calls and kinds, and the other unused ones."""
    count = set(state.current.values())
    kept = [row for row in state.rows if not is_dropped(row, state.drops)]
    of_dropped = {row.part for row in state.rows} - {row.part for row in kept}
    files = {row.file for row in state.rows}
    at_once = files - {row.file for row in kept}
    later = files - at_once - {row.file for row in count}
    parts = {row.part for row in count}
    for table in PART_TABLES:
        for name in _list_table_files(store, table):
            part = name.partition("/")[2]
            if part in of_dropped:
                at_once.add(name)
            elif part not in parts:
                later.add(name)
    return at_once, later


def _find_unused_stack_files(store: StoreRoot, state: StoreState) -> set[str]:
    """Return the unused files of stacks and frames: no capture needs their rows, or a merged file has them all."""
    files: dict[str, dict[str, list[str]]] = defaultdict(lambda: {table: [] for table in _STACK_TABLES})
    for table in _STACK_TABLES:
        for name in _list_table_files(store, table):
            files[name.partition("/")[2].rpartition("/")[0]][table].append(name)
    partitions = state.partitions()
    found: set[str] = set()
    for partition, tables in files.items():
        if partition not in partitions:
            found.update(name for names in tables.values() for name in names)
        elif any(len(names) > 1 for names in tables.values()):
            try:
                needed = find_needed_rows(store, partitions[partition])
            except MissingDataError:  # the needed stacks are unknown
                continue
            for table, keys in (("stacks", needed.stacks), ("frames", needed.frames)):
                whole = f"{table}/{partition}/{hash_values(*sorted(keys))}.parquet"
                if whole in tables[table]:
                    found.update(set(tables[table]) - {whole})
    return found


def _list_table_files(store: StoreRoot, table: str) -> Iterable[str]:
    """Yield the names of a table's files."""
    for day in store.folders(table):
        for job in store.folders(day):
            yield from store.names(job)
