"""Read the rows of captures in a store, and select the current row of a capture that has several.

An added capture has a row in a file of its own. Compaction later writes its row to a shared file. While both rows
exist, one of them counts, and only the files that this row names hold the capture.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from framedex.base.errors import FramedexError
from framedex.base.plaintext import quote_shell_word
from framedex.fleet.libraries import pa
from framedex.fleet.partitions import build_captures_folder, find_file_owner, is_part_name
from framedex.fleet.schema import PART_TABLES
from framedex.fleet.tables import read_table

if TYPE_CHECKING:
    from framedex.fleet.drops import Drop
    from framedex.fleet.store_root import StoreRoot

COLUMNS = ("capture", "day", "job", "started", "calls", "stacks", "signature", "generation", "part", "shared_by")
_ID = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class CommittedCapture:
    """A capture's row, and the `file` that contains it.

    `part` names the capture's files of calls and call kinds; `shared_by` is the number of captures in them.
    `generation` orders the capture among drops: see `drops.py`.
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
        """Whether the row is in the capture's own file, from before any compaction."""
        return find_file_owner(self.file) is not None

    @property
    def files(self) -> tuple[str, ...]:
        """The file of the row, and the files of the part."""
        return self.file, *(f"{table}/{self.part}" for table in PART_TABLES)

    @property
    def partition(self) -> str:
        """The folder of the part, below the tables' folders."""
        return self.part.rpartition("/")[0]

    @classmethod
    def from_row(cls, file: str, row: Mapping[str, Any]) -> CommittedCapture:
        """Check a row of a file. Raises ValueError or TypeError if it is not a store's row."""
        row_of = cls(file, **{name: row[name] for name in COLUMNS})
        texts = (row_of.capture, row_of.day, row_of.job, row_of.signature, row_of.part)
        numbers = (row_of.started, row_of.calls, row_of.stacks, row_of.generation, row_of.shared_by)
        if not all(isinstance(text, str) for text in texts) or not all(isinstance(each, int) for each in numbers):
            raise TypeError("a value is missing or has a wrong type")
        if not _ID.fullmatch(row_of.capture):
            raise ValueError("its capture id is malformed")
        if find_file_owner(file) not in (None, row_of.capture):
            raise ValueError("its capture id differs from its file name")
        if file.rpartition("/")[0] != build_captures_folder(row_of.day):
            raise ValueError("its day differs from its folder")
        if not is_part_name(row_of.part, row_of.capture) or not row_of.part.startswith(f"day={row_of.day}/"):
            raise ValueError("its part is malformed")
        return row_of


class NotStoreFileError(FramedexError):
    """A file in the folder of captures is not a store file."""


class MissingDataError(FramedexError):
    """A store lacks data that a capture's row promises."""


def read_committed(store: StoreRoot, name: str) -> list[CommittedCapture]:
    """Return the rows of a file of captures; an empty list if the file does not exist.

    Raises NotStoreFileError if it is not a store file, and FramedexError if it cannot be read.
    """
    content = store.read(name)
    if content is None:
        return []
    try:
        return [CommittedCapture.from_row(name, row) for row in read_table(content, COLUMNS).to_pylist()]
    except (pa.ArrowException, KeyError, TypeError, ValueError, OSError) as error:
        had = "the capture" if find_file_owner(name) else "the captures of its day"
        raise NotStoreFileError(
            f"{store.url(name)} is not a store file.", f"Remove it, and add {had} again."
        ) from error


def read_rows_of_capture(
    store: StoreRoot, capture: str, day: str, rows_by_capture: dict[str, list[CommittedCapture]]
) -> list[CommittedCapture]:
    """Return the current rows of a capture that began on a day.

    `rows_by_capture` caches the rows of shared files by name. Shared files of other tools are skipped; queries
    report them. Raises NotStoreFileError if the capture's own file is not a store file, and FramedexError if the store
    cannot be read.
    """
    rows: list[CommittedCapture] = []
    for file in store.names(build_captures_folder(day)):
        owner = find_file_owner(file)
        if owner == capture:
            rows += read_committed(store, file)
        elif owner is None:
            if file not in rows_by_capture:
                try:
                    rows_by_capture[file] = read_committed(store, file)
                except NotStoreFileError:
                    rows_by_capture[file] = []
            rows += rows_by_capture[file]
    return [row for row in rows if row.capture == capture]


def remedy(store: StoreRoot, row: CommittedCapture) -> str:
    """Return a sentence about how to add a damaged capture again without removing a shared file."""
    if row.is_own:
        return f"Remove {store.url(row.file)}, and add the capture again."
    drop = f"`framedex fleet drop --job {quote_shell_word(row.job)} --store {quote_shell_word(store.address)} --yes`"
    return f"Its file has other captures too: drop its job ({drop}), and add the job's captures again."


def select_counted_rows(
    rows: Iterable[CommittedCapture], drops: Iterable[Drop], read_marked_names: Collection[str]
) -> dict[str, CommittedCapture]:
    """Return the row that counts of each capture, by capture id. Dropped captures have none.

    The row with the most calls counts. Within one state, a file that is not marked for removal wins. The choice does
    not depend on the order of the rows.
    """
    found: dict[str, CommittedCapture] = {}
    dropped = list(drops)
    for row in rows:
        if is_dropped(row, dropped):
            continue
        known = found.get(row.capture)
        if known is None or _rank(row, read_marked_names) > _rank(known, read_marked_names):
            found[row.capture] = row
    return found


def is_dropped(row: CommittedCapture, drops: Iterable[Drop]) -> bool:
    """Return whether a row's capture was dropped after it was added."""
    return any(row.generation < drop.generation and drop.covers(row.day, row.job) for drop in drops)


def _rank(row: CommittedCapture, read_marked_names: Collection[str]) -> tuple[Any, ...]:
    state = row.calls, row.signature, row.generation
    return *state, row.file not in read_marked_names, not row.is_own, row.shared_by, row.part, row.file


def find_fully_counted_parts(rows: Iterable[CommittedCapture]) -> set[str]:
    """Return the parts in which every capture counts, given the rows that count."""
    parts = Counter((row.part, row.shared_by) for row in rows)
    return {part for (part, shared_by), many in parts.items() if many == shared_by}
