"""Mark files of a store for removal. A file is removed when its mark is an hour old and the file is still unused.

The delay protects running queries and adds, which rely on files that they found. Processes that start later ignore
marked files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from framedex.fleet.identities import hash_values

if TYPE_CHECKING:
    from framedex.fleet.store_root import StoreRoot

FOLDER = "going"


def mark_for_removal(store: StoreRoot, names: Iterable[str]) -> None:
    """Mark files for removal."""
    listed = sorted(names)
    if listed:
        content = json.dumps(listed, indent=0).encode() + b"\n"
        store.put_bytes(f"{FOLDER}/{hash_values(*listed)}.json", content)


def read_marks(store: StoreRoot) -> dict[str, tuple[datetime, list[str]]]:
    """Return the time and the marked files of each mark, by its name. A malformed mark marks no file."""
    found = {}
    for name in store.names(FOLDER, ".json"):
        content, when = store.read(name), store.modification_time(name)
        if content is None or when is None:
            continue
        try:
            listed = json.loads(content)
        except (ValueError, RecursionError):
            listed = []
        found[name] = when, [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
    return found


def read_marked_names(store: StoreRoot) -> set[str]:
    """Return the names of all marked files."""
    return {name for _, names in read_marks(store).values() for name in names}
