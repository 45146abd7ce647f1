"""The stacks and frames that captures of a day and job need, each once: what a store without any others would have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from framedex.fleet.committed import Committed, LacksError, remedy
from framedex.fleet.identities import id_of
from framedex.fleet.schema import CALL_KINDS, FRAMES, STACKS
from framedex.fleet.tables import rows_of

if TYPE_CHECKING:
    from framedex.fleet.place import Place
    from framedex.fleet.rows import Row


@dataclass(frozen=True, slots=True)
class Needed:
    """Rows of stacks by their ids, and rows of frames by what is known of them."""

    stacks: dict[str, Row]
    frames: dict[str, list[Row]]


def needed_rows(place: Place, captures: Sequence[Committed]) -> Needed:
    """What these captures need, which are of one day and job.

    Raises LacksError where the store does not have the kinds of their calls: nobody knows what those need.
    """
    partition = captures[0].partition
    wanted = {kind["stack"] for kind in kinds_of(place, captures)}
    stacks: dict[str, Row] = {}
    for name in place.names(f"stacks/{partition}"):
        for row in rows_of(place, name, STACKS):
            if row["id"] in wanted and is_stack(row):
                known = stacks.setdefault(row["id"], row)
                if _user_frame(row) < _user_frame(known):
                    stacks[row["id"]] = row
    ids = {frame for row in stacks.values() for frame in (*row["frames"], *row["python"])}
    described: dict[str, dict[str, list[Row]]] = defaultdict(dict)
    for name in place.names(f"frames/{partition}"):
        told: dict[tuple[str, str], list[Row]] = defaultdict(list)
        for row in rows_of(place, name, FRAMES):
            if row["id"] in ids:
                told[row["id"], row["description"]].append(row)
        for (key, description), rows in told.items():
            if is_description(key, description, rows):
                described[key].setdefault(description, rows)
    frames = {}
    for of_frame in described.values():
        best = min(of_frame, key=lambda each: (-known_of(of_frame[each]), each))
        frames[best] = of_frame[best]
    return Needed(stacks, frames)


def kinds_of(place: Place, captures: Iterable[Committed]) -> list[Row]:
    """The kinds of calls of captures, capture after capture as they are given.

    Raises LacksError where they do not come to the calls of a capture.
    """
    found = []
    for part, group in groupby(captures, lambda row: row.part):
        rows = rows_of(place, f"call_kinds/{part}", CALL_KINDS)
        of_capture: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            of_capture[row["capture"]].append(row)
        for capture in group:
            kinds = of_capture[capture.capture]
            if sum(kind["calls"] for kind in kinds) != capture.calls:
                said = f"The kinds of calls of capture {capture.capture} do not come to what its row says"
                raise LacksError(
                    f"{said}: it stays as it is, and so do the others of {capture.partition}.", remedy(place, capture)
                )
            found += kinds
    return found


def is_stack(row: Row) -> bool:
    """Whether a row of stacks is what its id says."""
    told = ("stack", row["frames"], row["python"], row["outcome"], row["is_truncated"])
    return bool(row["id"] == id_of(*told))


def is_description(key: str, description: str, rows: list[Row]) -> bool:
    """Whether rows of a frame are what their description says; they are put in order."""
    rows.sort(key=lambda row: row["depth"])
    told = [{name: value for name, value in row.items() if name not in _OF_NO_ROW} for row in rows]
    return description == id_of(key, *told)


def known_of(rows: Iterable[Row]) -> int:
    """How much rows tell of a frame."""
    return sum((row["symbol"] != "") + 2 * (row["line"] > 0) for row in rows)


_OF_NO_ROW = ("id", "known", "description")


def _user_frame(row: Row) -> tuple[bool, str]:
    return row["user_frame"] is None, row["user_frame"] or ""
