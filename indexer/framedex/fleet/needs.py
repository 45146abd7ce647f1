"""The stacks and frames that captures of a day and job need, each once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from framedex.fleet.committed import CommittedCapture, MissingDataError, remedy
from framedex.fleet.identities import hash_values
from framedex.fleet.schema import CALL_KINDS, FRAMES, STACKS
from framedex.fleet.tables import read_rows

if TYPE_CHECKING:
    from framedex.fleet.rows import Row
    from framedex.fleet.store_root import StoreRoot


@dataclass(frozen=True, slots=True)
class NeededRows:
    """Rows of stacks by id, and rows of frames by description."""

    stacks: dict[str, Row]
    frames: dict[str, list[Row]]


def find_needed_rows(store: StoreRoot, captures: Sequence[CommittedCapture]) -> NeededRows:
    """Return the stacks and frames that these captures need. The captures are of one day and job.

    Raises MissingDataError if the kinds of their calls are missing, because these name the stacks.
    """
    partition = captures[0].partition
    wanted = {kind["stack"] for kind in read_call_kinds(store, captures)}
    stacks: dict[str, Row] = {}
    for name in store.names(f"stacks/{partition}"):
        for row in read_rows(store, name, STACKS):
            if row["id"] in wanted and is_valid_stack(row):
                known = stacks.setdefault(row["id"], row)
                if _user_frame(row) < _user_frame(known):
                    stacks[row["id"]] = row
    ids = {frame for row in stacks.values() for frame in (*row["frames"], *row["python"])}
    described: dict[str, dict[str, list[Row]]] = defaultdict(dict)
    for name in store.names(f"frames/{partition}"):
        rows_by_key: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in read_rows(store, name, FRAMES):
            if row["id"] in ids:
                rows_by_key[row["id"], row["description"]].append(row)
        for (key, description), rows in rows_by_key.items():
            if is_valid_description(key, description, rows):
                described[key].setdefault(description, rows)
    frames = {}
    for of_frame in described.values():
        best = min(of_frame, key=lambda each: (-compute_naming_score(of_frame[each]), each))
        frames[best] = of_frame[best]
    return NeededRows(stacks, frames)


def read_call_kinds(store: StoreRoot, captures: Iterable[CommittedCapture]) -> list[Row]:
    """Return the call kinds of captures, in the order of the captures.

    Raises MissingDataError if the kinds of a capture do not add up to its calls.
    """
    found = []
    for part, group in groupby(captures, lambda row: row.part):
        rows = read_rows(store, f"call_kinds/{part}", CALL_KINDS)
        of_capture: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            of_capture[row["capture"]].append(row)
        for capture in group:
            kinds = of_capture[capture.capture]
            if sum(kind["calls"] for kind in kinds) != capture.calls:
                problem = f"The call kinds of capture {capture.capture} do not add up to its calls"
                raise MissingDataError(f"{problem}, so {capture.partition} is not compacted.", remedy(store, capture))
            found += kinds
    return found


def is_valid_stack(row: Row) -> bool:
    """Return whether the id of a row of stacks matches its content."""
    content = ("stack", row["frames"], row["python"], row["outcome"], row["is_truncated"])
    return bool(row["id"] == hash_values(*content))


def is_valid_description(key: str, description: str, rows: list[Row]) -> bool:
    """Return whether a description matches the rows of a frame. Sorts the rows by depth."""
    rows.sort(key=lambda row: row["depth"])
    content = [{name: value for name, value in row.items() if name not in _DERIVED_COLUMNS} for row in rows]
    return description == hash_values(key, *content)


def compute_naming_score(rows: Iterable[Row]) -> int:
    """Return a score for the symbols and lines in the rows of a frame."""
    return sum((row["symbol"] != "") + 2 * (row["line"] > 0) for row in rows)


_DERIVED_COLUMNS = ("id", "known", "description")


def _user_frame(row: Row) -> tuple[bool, str]:
    return row["user_frame"] is None, row["user_frame"] or ""
