"""The file of a capture in a store, by which all that was written of it counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.errors import FramedexError
from framedex.fleet.libraries import pa, parquet
from framedex.fleet.partitions import is_part

if TYPE_CHECKING:
    from framedex.fleet.place import Place

_COLUMNS = ["calls", "stacks", "signature", "part"]


@dataclass(frozen=True, slots=True)
class Committed:
    """A capture that a store has: how much of it, in which state, and the files of its calls and their kinds."""

    calls: int
    stacks: int
    signature: str
    part: str


def read_committed(place: Place, name: str) -> Committed | None:
    """What the file of a capture says, None where there is none. Raises FramedexError where it is none of a store's."""
    content = place.read(name)
    if content is None:
        return None
    try:
        (row,) = parquet.read_table(pa.BufferReader(content), columns=_COLUMNS, partitioning=None).to_pylist()
        if not is_part(row["part"]):
            raise ValueError("it names no file")
        return Committed(int(row["calls"]), int(row["stacks"]), str(row["signature"]), row["part"])
    except (pa.ArrowException, KeyError, TypeError, ValueError, OSError) as error:
        raise FramedexError(
            f"{place.url(name)} is no file of a store's.", "Remove it, and add the capture again."
        ) from error
