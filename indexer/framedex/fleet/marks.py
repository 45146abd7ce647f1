"""Which files of a store are to go: marked first, and removed when the mark is an hour old, if nobody needs them then.

So who is at it keeps what it has found: a query that goes by what it read, and whoever adds a capture and relies on
stacks that were there. Who looks later leaves marked files out of account.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from framedex.fleet.identities import id_of

if TYPE_CHECKING:
    from framedex.fleet.place import Place

FOLDER = "going"


def mark(place: Place, names: Iterable[str]) -> None:
    """Say that files are to go."""
    listed = sorted(names)
    if listed:
        content = json.dumps(listed, indent=0).encode() + b"\n"
        place.put_bytes(f"{FOLDER}/{id_of(*listed)}.json", content)


def marks(place: Place) -> dict[str, tuple[datetime, list[str]]]:
    """What was marked and when, by the names of the marks. One that is not understood marks nothing."""
    found = {}
    for name in place.names(FOLDER, ".json"):
        content, when = place.read(name), place.modified(name)
        if content is None or when is None:
            continue
        try:
            told = json.loads(content)
        except (ValueError, RecursionError):
            told = []
        found[name] = when, [each for each in told if isinstance(each, str)] if isinstance(told, list) else []
    return found


def names_going(place: Place) -> set[str]:
    """The files that are to go."""
    return {name for _, names in marks(place).values() for name in names}
