"""The rows of captures in a store, by which all that was written of them counts, and which of several rows it is.

A capture is written into a file of its own when it is added. Others put it together with others' later: while both are
there, one of the rows counts, and only what its files have of the capture.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from framedex.errors import FramedexError
from framedex.fleet.libraries import pa
from framedex.fleet.partitions import captures_in, is_part, owner_of
from framedex.fleet.tables import table_of
from framedex.plaintext import shell_word

if TYPE_CHECKING:
    from framedex.fleet.drops import Drop
    from framedex.fleet.place import Place

COLUMNS = ("capture", "day", "job", "started", "calls", "stacks", "signature", "generation", "part", "shared_by")
_ID = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Committed:
    """A row of a capture: the `file` that it is in, and what that says.

    `part` names the files with its calls and their kinds, which so many captures share. `generation` is of when it was
    added: see `dropped.py`.
    """

    file: str
    capture: str
    day: str
    job: str
    started: int
    calls: int
    stacks: int
    signature: str
    generation: int
    part: str
    shared_by: int

    @property
    def is_own(self) -> bool:
        """Whether it stands as it was added."""
        return owner_of(self.file) is not None

    @property
    def partition(self) -> str:
        """The folder of its files below those of their tables."""
        return self.part.rpartition("/")[0]

    @classmethod
    def of(cls, file: str, row: Mapping[str, Any]) -> Committed:
        """A row of a file. Raises ValueError or TypeError where it is none of a store's."""
        row_of = cls(file, **{name: row[name] for name in COLUMNS})
        texts = (row_of.capture, row_of.day, row_of.job, row_of.signature, row_of.part)
        numbers = (row_of.started, row_of.calls, row_of.stacks, row_of.generation, row_of.shared_by)
        if not all(isinstance(text, str) for text in texts) or not all(isinstance(each, int) for each in numbers):
            raise TypeError("what it is to say is missing")
        if not _ID.fullmatch(row_of.capture):
            raise ValueError("it has no id of a capture")
        if owner_of(file) not in (None, row_of.capture):
            raise ValueError("it says to be of another capture than its name does")
        if file.rpartition("/")[0] != captures_in(row_of.day):
            raise ValueError("it says to be of another day than its folder does")
        if not is_part(row_of.part, row_of.capture) or not row_of.part.startswith(f"day={row_of.day}/"):
            raise ValueError("it names no part of the store")
        return row_of


class NoRowsError(FramedexError):
    """A file that stands where rows of captures do, and is none of a store's."""


class LacksError(FramedexError):
    """A store does not have of a capture what its row says."""


def read_committed(place: Place, name: str) -> list[Committed]:
    """What a file of captures says, nothing where there is none.

    Raises NoRowsError where it is none of a store's, and FramedexError where it cannot be read.
    """
    content = place.read(name)
    if content is None:
        return []
    try:
        return [Committed.of(name, row) for row in table_of(content, COLUMNS).to_pylist()]
    except (pa.ArrowException, KeyError, TypeError, ValueError, OSError) as error:
        had = "the capture" if owner_of(name) else "the captures of its day"
        raise NoRowsError(f"{place.url(name)} is not a store file.", f"Remove it, and add {had} again.") from error


def rows_of_capture(place: Place, capture: str, day: str, together: dict[str, list[Committed]]) -> list[Committed]:
    """The rows of a capture that began on a day, as they are there now.

    `together` keeps what files that several captures have together say, by their names. Those that are none of a
    store's say nothing here: queries tell of them. Raises NoRowsError where a file of this capture's own is none, and
    FramedexError where the store cannot be read.
    """
    rows: list[Committed] = []
    for file in place.names(captures_in(day)):
        owner = owner_of(file)
        if owner == capture:
            rows += read_committed(place, file)
        elif owner is None:
            if file not in together:
                try:
                    together[file] = read_committed(place, file)
                except NoRowsError:
                    together[file] = []
            rows += together[file]
    return [row for row in rows if row.capture == capture]


def remedy(place: Place, row: Committed) -> str:
    """How a capture of which a store lacks something gets there again: a file that others share is to stay."""
    if row.is_own:
        return f"Remove {place.url(row.file)}, and add the capture again."
    drop = f"`framedex fleet drop --job {shell_word(row.job)} --store {shell_word(place.address)} --yes`"
    return f"It is together with others: drop its job ({drop}), and add the captures of that again."


def counted(rows: Iterable[Committed], drops: Iterable[Drop], going: Collection[str]) -> dict[str, Committed]:
    """The row of each capture that counts, by the capture's id; none of what was dropped.

    The one with most calls counts; of one state that of a file that is not to go. Of two states with the same calls it
    is always the same one, in whatever order they came.
    """
    found: dict[str, Committed] = {}
    dropped = list(drops)
    for row in rows:
        if is_dropped(row, dropped):
            continue
        known = found.get(row.capture)
        if known is None or _rank(row, going) > _rank(known, going):
            found[row.capture] = row
    return found


def is_dropped(row: Committed, drops: Iterable[Drop]) -> bool:
    """Whether a row counts no more, as it was dropped after it was added."""
    return any(row.generation < drop.generation and drop.covers(row.day, row.job) for drop in drops)


def _rank(row: Committed, going: Collection[str]) -> tuple[Any, ...]:
    state = row.calls, row.signature, row.generation
    return *state, row.file not in going, not row.is_own, row.shared_by, row.part, row.file


def whole_parts(rows: Iterable[Committed]) -> set[str]:
    """Those of the parts of rows that count of which all counts: each capture that is in it."""
    parts = Counter((row.part, row.shared_by) for row in rows)
    return {part for (part, shared_by), many in parts.items() if many == shared_by}
