"""Source trees into the index: only what changed is read again, and an interruption keeps what was read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from framedex.index import Store
from framedex.index.values import storable
from framedex.ingest.progress import Progress
from framedex.ingest.report import TreeReport
from framedex.sources import find_files, parse_file, short_name

_BATCH = 100


def update_trees(store: Store, progress: Progress) -> TreeReport:
    """Bring the definitions of the remembered source folders, and of the files that frames point to, up to date."""
    report = TreeReport()
    found, missing_roots = _wanted_files(store, progress, report)
    known = store.sources.known_files()
    changed = [(path, root) for path, root in found.items() if known.get(path) != _stamp(path)]
    gone = [path for path in known if path not in found and not _is_below(path, missing_roots)]
    if gone:
        with store.transaction():
            store.sources.remove_files(gone)
    report.files, report.removed = len(found), len(gone)
    with progress.task("Reading sources", len(changed)) as advance:
        for batch in _batches(changed):
            with store.transaction():
                for path, root in batch:
                    _read(store, path, root, report)
                    advance(1)
    return report


def _wanted_files(store: Store, progress: Progress, report: TreeReport) -> tuple[dict[str, str | None], list[str]]:
    """The files to have in the index with the root each belongs to, and the roots that are not there any more."""
    found: dict[str, str | None] = {}
    missing = []
    with progress.task("Looking for sources", None) as advance:
        for root in store.sources.roots():
            if not os.path.isdir(root):  # noqa: PTH112 - Path.is_dir raises where it may not look
                missing.append(root)
                report.problems.append(f"The source folder {root} is missing; what was read from it is kept.")
                continue
            for path in find_files(Path(root)):
                real = os.path.realpath(path)
                if storable(real) == real:
                    found.setdefault(real, root)
                else:
                    report.problems.append(f"{storable(real)} is left out: its name is no UTF-8.")
                advance(1)
    for pointed in store.sources.frame_files():
        if pointed not in found and _stamp(pointed) is not None:
            found[pointed] = None
    return found, missing


def _read(store: Store, path: str, root: str | None, report: TreeReport) -> None:
    source = parse_file(Path(path))
    store.sources.replace_file(source, root, {found.name: short_name(found.name) for found in source.definitions})
    report.parsed += 1
    report.definitions += len(source.definitions)
    report.problems.extend(f"{path}: {problem}" for problem in source.problems)


def _stamp(path: str) -> tuple[int, int] | None:
    """(mtime in ns, size), or None where there is no such file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - a hot loop over thousands of files
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def _is_below(path: str, roots: Sequence[str]) -> bool:
    return any(path.startswith(f"{root}/") for root in roots)


def _batches(files: Sequence[tuple[str, str | None]]) -> Iterator[list[tuple[str, str | None]]]:
    remaining = iter(files)
    while batch := list(islice(remaining, _BATCH)):
        yield batch
