"""Remove unreferenced files of a store: files of dropped captures at once, others an hour after they are marked.

Every compaction and drop ends with a sweep, which also completes the work of killed processes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from framedex.fleet.committed import Committed, LacksError, NoRowsError, counted, is_dropped, read_committed
from framedex.fleet.drops import FOLDER as DROPS
from framedex.fleet.drops import read_drops
from framedex.fleet.identities import id_of
from framedex.fleet.marks import FOLDER as GOING
from framedex.fleet.marks import mark, marks, names_going
from framedex.fleet.needs import needed_rows
from framedex.fleet.place import GRACE

if TYPE_CHECKING:
    from framedex.fleet.drops import Drop
    from framedex.fleet.place import Place

_OF_CALLS = ("calls", "call_kinds")
_OF_STACKS = ("stacks", "frames")


@dataclass(frozen=True, slots=True)
class State:
    """All rows of captures in a store, the rows that count by capture id, and the drops.

    `unread` has the day folders with a malformed file of captures, whose references are unknown.
    """

    rows: list[Committed]
    counted: dict[str, Committed]
    drops: list[Drop]
    unread: frozenset[str]

    @classmethod
    def of(cls, place: Place) -> State:
        """Read the state of a store. Malformed files of captures are left out, as in queries."""
        going = names_going(place)
        rows: list[Committed] = []
        unread = set()
        for name in place.below("captures"):
            try:
                rows += read_committed(place, name)
            except NoRowsError:
                unread.add(name.split("/")[1])
        drops = list(read_drops(place).values())
        return cls(rows, counted(rows, drops, going), drops, frozenset(unread))

    def is_unread(self, name: str) -> bool:
        """Whether a file belongs to a day with a malformed file of captures."""
        return name.split("/")[1] in self.unread

    def partitions(self) -> dict[str, list[Committed]]:
        """Return the rows that count by their folder, ordered by start time."""
        found: dict[str, list[Committed]] = defaultdict(list)
        for row in sorted(self.counted.values(), key=lambda row: (row.started, row.capture)):
            found[row.partition].append(row)
        return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class Swept:
    """The number and bytes of removed files, and the number of files that wait for removal.

    `left_out` has sentences about days whose unused files were kept.
    """

    files: int
    size: int
    waiting: int
    left_out: tuple[str, ...]


def sweep(place: Place) -> Swept:
    """Remove unreferenced files whose mark is older than GRACE. Raises FramedexError if the store fails."""
    for folder in (DROPS, GOING):
        place.clean(folder)
    known = marks(place)  # read first: later marks are not due
    latest = place.now() - GRACE  # read before the rows: adds that rely on due files have written their row by then
    state = State.of(place)
    at_once, later = _unneeded_of_captures(place, state)
    later |= _unneeded_stacks(place, state)
    # Read the marks again: concurrent processes mark files before they replace them.
    young = {name for when, names in (*known.values(), *marks(place).values()) if when >= latest for name in names}
    due = {name: when for when, names in known.values() if when < latest for name in names if name not in young}
    later = {name for name in later if not state.is_unread(name)}
    gone = set()
    size = 0
    for name in sorted(at_once | (later & due.keys()), key=_order):
        if name in at_once or not _is_newer(place, name, due[name]):
            size += place.size(name)
            place.remove(name)
            gone.add(name)
    for name, (when, _) in known.items():
        if when < latest:
            place.remove(name)
    # After the removal: a new mark of the same files has the name of the old one.
    mark(place, later - gone - young)
    left_out = (
        f"Unused files of {day} were kept: {place.url(f'captures/{day}')} has a file that is not a store file."
        for day in sorted(state.unread)
    )
    return Swept(len(gone), size, len(later - gone), tuple(left_out))


def _order(name: str) -> tuple[bool, str]:
    """Sort files of captures first, so that no row outlives the files that it refers to."""
    return not name.startswith("captures/"), name


def _is_newer(place: Place, name: str, marked: datetime) -> bool:
    """Return whether a file was rewritten after its mark, so that a coming row may refer to it."""
    when = place.modified(name)
    return when is not None and when > marked


def _unneeded_of_captures(place: Place, state: State) -> tuple[set[str], set[str]]:
    """Return the dropped files of captures, calls and kinds, and the other unused ones."""
    count = set(state.counted.values())
    kept = [row for row in state.rows if not is_dropped(row, state.drops)]
    of_dropped = {row.part for row in state.rows} - {row.part for row in kept}
    files = {row.file for row in state.rows}
    at_once = files - {row.file for row in kept}
    later = files - at_once - {row.file for row in count}
    parts = {row.part for row in count}
    for table in _OF_CALLS:
        for name in _below(place, table):
            part = name.partition("/")[2]
            if part in of_dropped:
                at_once.add(name)
            elif part not in parts:
                later.add(name)
    return at_once, later


def _unneeded_stacks(place: Place, state: State) -> set[str]:
    """Return the unused files of stacks and frames: no capture needs their rows, or a merged file has them all."""
    files: dict[str, dict[str, list[str]]] = defaultdict(lambda: {table: [] for table in _OF_STACKS})
    for table in _OF_STACKS:
        for name in _below(place, table):
            files[name.partition("/")[2].rpartition("/")[0]][table].append(name)
    partitions = state.partitions()
    found: set[str] = set()
    for partition, tables in files.items():
        if partition not in partitions:
            found.update(name for names in tables.values() for name in names)
        elif any(len(names) > 1 for names in tables.values()):
            try:
                needed = needed_rows(place, partitions[partition])
            except LacksError:  # the needed stacks are unknown
                continue
            for table, keys in (("stacks", needed.stacks), ("frames", needed.frames)):
                whole = f"{table}/{partition}/{id_of(*sorted(keys))}.parquet"
                if whole in tables[table]:
                    found.update(set(tables[table]) - {whole})
    return found


def _below(place: Place, table: str) -> Iterable[str]:
    """Yield the names of a table's files."""
    for day in place.folders(table):
        for job in place.folders(day):
            yield from place.names(job)
