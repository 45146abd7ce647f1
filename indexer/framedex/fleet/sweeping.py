"""Removing what nothing in a store refers to any more: what was dropped at once, all else an hour after it is seen.

Whoever compacts or drops does this at the end, and so goes on with what one that was killed has left.
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
    """The rows of captures that a store has, those of them that count by their captures, and what was dropped.

    `unread` are folders of days with a file of captures that is not understood: nobody knows what that refers to.
    """

    rows: list[Committed]
    counted: dict[str, Committed]
    drops: list[Drop]
    unread: frozenset[str]

    @classmethod
    def of(cls, place: Place) -> State:
        """The state of a store. Files of captures that are none of a store's are left out, as in queries."""
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
        """Whether a file is of a day of which not all captures are understood."""
        return name.split("/")[1] in self.unread

    def partitions(self) -> dict[str, list[Committed]]:
        """The rows that count by the folders of their files, in the order of their captures' beginning."""
        found: dict[str, list[Committed]] = defaultdict(list)
        for row in sorted(self.counted.values(), key=lambda row: (row.started, row.capture)):
            found[row.partition].append(row)
        return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class Swept:
    """How many files were removed with how many bytes, and how many are to go in an hour.

    `left_out` are sentences: of which days nothing goes but what was dropped.
    """

    files: int
    size: int
    waiting: int
    left_out: tuple[str, ...]


def sweep(place: Place) -> Swept:
    """Remove what nothing refers to, as far as nobody can be at it. Raises FramedexError where the store fails."""
    for folder in (DROPS, GOING):
        place.clean(folder)
    known = marks(place)  # first of all: what is marked later is not due
    latest = place.now() - GRACE  # before the rows are read: who relies on what is due then has put his row by now
    state = State.of(place)
    at_once, later = _unneeded_of_captures(place, state)
    later |= _unneeded_stacks(place, state)
    # Read again: who had something take a file's place since has marked that before.
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
    # Only now: a mark that says the same as one that was removed has its name.
    mark(place, later - gone - young)
    left_out = (
        f"What is not needed of {day} stays: {place.url(f'captures/{day}')} has a file that is none of a store's."
        for day in sorted(state.unread)
    )
    return Swept(len(gone), size, len(later - gone), tuple(left_out))


def _order(name: str) -> tuple[bool, str]:
    """Rows of captures go first: what they refer to is there as long as they are."""
    return not name.startswith("captures/"), name


def _is_newer(place: Place, name: str, marked: datetime) -> bool:
    """Whether a file was written again since it was marked, by somebody who is going to refer to it."""
    when = place.modified(name)
    return when is not None and when > marked


def _unneeded_of_captures(place: Place, state: State) -> tuple[set[str], set[str]]:
    """The files of captures, calls and kinds that go at once, as they were dropped, and those that go later."""
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
    """The files of stacks and frames whose rows no capture needs, or another file has that has all of their folder."""
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
            except LacksError:  # what its captures need is not known
                continue
            for table, keys in (("stacks", needed.stacks), ("frames", needed.frames)):
                whole = f"{table}/{partition}/{id_of(*sorted(keys))}.parquet"
                if whole in tables[table]:
                    found.update(set(tables[table]) - {whole})
    return found


def _below(place: Place, table: str) -> Iterable[str]:
    """The names of a table's files."""
    for day in place.folders(table):
        for job in place.folders(day):
            yield from place.names(job)
