"""The drops of a store: one small file for each drop, after which the dropped captures do not count.

A capture that is added later belongs to a later generation, and counts again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from framedex.base.errors import FramedexError
from framedex.fleet.identities import hash_values

if TYPE_CHECKING:
    from framedex.fleet.store_root import StoreRoot

FOLDER = "drops"
_MAX_GENERATION = 1 << 31  # generations; rows have them in 64 bits


@dataclass(frozen=True, slots=True)
class Drop:
    """A drop of the captures before a day (None: all days) of a job (None: all jobs).

    Captures that are added later have at least `generation`.
    """

    before: str | None
    job: str | None
    generation: int

    def covers(self, day: str, job: str) -> bool:
        """Whether the drop applies to captures of a day and a job."""
        return (self.before is None or day < self.before) and (self.job is None or job == self.job)

    def includes(self, other: Drop) -> bool:
        """Whether this drop includes all that another one drops."""
        days = self.before is None or (other.before is not None and other.before <= self.before)
        return days and self.job in (None, other.job) and self.generation >= other.generation


def read_drops(store: StoreRoot) -> dict[str, Drop]:
    """Return the drops by file name. Raises FramedexError if a file is malformed."""
    found = {}
    for name in store.names(FOLDER, ".json"):
        content = store.read(name)
        if content is None:
            continue
        try:
            document = json.loads(content)
            drop = Drop(document["before"], document["job"], document["generation"])
            if not all(each is None or isinstance(each, str) for each in (drop.before, drop.job)):
                raise TypeError("it is malformed")
            if type(drop.generation) is not int or not 0 <= drop.generation < _MAX_GENERATION:
                raise ValueError("the generation is out of range")
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise FramedexError(
                f"{store.url(name)} is not a valid record of a drop.", "Remove it, and repeat the drop."
            ) from error
        found[name] = drop
    return found


def read_current_generation(drops: dict[str, Drop], day: str, job: str) -> int:
    """Return the first generation whose captures of a day and a job count."""
    return max((drop.generation for drop in drops.values() if drop.covers(day, job)), default=0)


def write_drop(store: StoreRoot, before: str | None, job: str | None) -> None:
    """Record a drop in a file, and remove the files of drops that it includes."""
    drops = read_drops(store)
    drop = Drop(before, job, 1 + max((each.generation for each in drops.values()), default=0))
    content = json.dumps(asdict(drop)).encode()
    name = f"{FOLDER}/{hash_values(*asdict(drop).values())}.json"
    store.put_bytes(name, content + b"\n")
    for other, each in drops.items():
        if drop.includes(each):
            store.remove(other)
