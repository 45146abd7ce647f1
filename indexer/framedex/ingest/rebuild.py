"""Making an index anew: the way out of a damaged file or one of another version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from framedex.index.database import DamagedIndexError
from framedex.index.store import Store
from framedex.ingest.progress import Progress
from framedex.ingest.report import Report
from framedex.ingest.run import ingest_captures


def rebuild_index(path: Path, captures: Sequence[Path], roots: Sequence[Path], progress: Progress) -> Report:
    """Fill the index at `path` anew from its captures and roots and from the given ones, as one transaction.

    Until it is done, readers see the old content, and an interruption leaves it. A damaged file is set aside as
    `NAME.damaged`. Raises FramedexError where the file cannot be written or belongs to another program.
    """
    try:
        with Store.of_any_version(path) as store, store.transaction():
            return _refill(store, captures, roots, progress)
    except DamagedIndexError:
        _set_aside(path)
    with Store(path) as store, store.transaction():
        return _refill(store, captures, roots, progress)


def _refill(store: Store, captures: Sequence[Path], roots: Sequence[Path], progress: Progress) -> Report:
    old_roots, old_captures = store.clear()
    return ingest_captures(store, [*old_captures, *captures], [*map(Path, old_roots), *roots], progress)


def _set_aside(path: Path) -> None:
    # A write-ahead log left beside a new database would be replayed into it.
    for companion in ("-wal", "-shm"):
        path.with_name(path.name + companion).unlink(missing_ok=True)
    path.replace(path.with_name(path.name + ".damaged"))
