"""The whole of `framedex index`: captures, then sources, then the locations of functions."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex import words
from framedex.binaries import KeptBinaries
from framedex.index import Store
from framedex.ingest.captures import has_moved, read_captures, states_of
from framedex.ingest.map_import import import_maps_of_wheels
from framedex.ingest.mapping import find_mapped, place_mapped
from framedex.ingest.needed import MOST, read_needed
from framedex.ingest.placing import place_functions
from framedex.ingest.recorded import RecordedBinaries
from framedex.ingest.released import owe_to_release_maps
from framedex.ingest.renaming import owe_better_names
from framedex.ingest.report import Report, TreeReport
from framedex.ingest.trees import find_trees, read_files, update_trees
from framedex.path_resolution.files import is_here
from framedex.path_resolution.rules import PathMap, PathRule
from framedex.progress import Progress
from framedex.sources import language_of

if TYPE_CHECKING:  # few runs need it
    from framedex.binaries.debuginfod import Debuginfod


@contextmanager
def _collecting_rarely() -> Iterator[None]:
    """Run the cyclic garbage collector rarely: few objects of indexing are in reference cycles."""
    usual = gc.get_threshold()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@_collecting_rarely()
def ingest_captures(
    store: Store,
    captures: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    find: Callable[[Store, Progress, RecordedBinaries], TreeReport] | None = None,
    rules: Sequence[PathRule] | None = None,
    debuginfod: Debuginfod | None = None,
) -> Report:
    """Add the captures that are new or have grown, store the source roots, and find every function's source.

    Each capture and each batch of source files is committed when it is done. An interrupted run loses only its present
    batch, and the next run continues. Several processes may do this at once. `rules` map recorded paths to local paths
    and replace the stored rules. `find` finds the functions' source: `find_sources` (the default), or the faster
    `find_needed_sources`. `debuginfod` provides debug files.
    """
    with store.transaction():
        for root in roots:
            store.sources.add_root(os.path.realpath(root))
        if rules is not None:
            store.sources.replace_path_rules(rules)
        owe_to_release_maps(store.sources)
    owed = owe_better_names(store, _binaries(store, debuginfod))
    states, refused = states_of([*captures, *owed])
    moved = [state.path for state in states if has_moved(store, state)]
    binaries = _binaries(store, debuginfod)
    added = [
        replace(report, renamed=report.path in owed)
        for report in read_captures(store, states, refused, progress, binaries)
    ]
    troubles = list(import_maps_of_wheels(store, progress))
    sources = (find or find_sources)(store, progress, binaries)
    sources.problems.extend(troubles)
    totals = store.totals()
    return Report(tuple(added), tuple(refused.items()), sources, totals, tuple(moved), moved_from=store.moved_from)


def find_sources(store: Store, progress: Progress, binaries: RecordedBinaries | None = None) -> TreeReport:
    """Update the source trees, and locate every function affected by them or by new captures.

    Recorded functions come first: their locations are committed for other processes before the rest of a large tree is
    read. `binaries` are the open binaries.
    """
    binaries = binaries or _binaries(store)
    report = TreeReport()
    trees = find_trees(store, progress, report)
    if (unread := len(trees.changed(store))) > MOST:
        read_needed(store, trees, progress, report, binaries)
        if report.parsed:
            progress.note(
                "The recorded frames have their lines, and traces show them. Ctrl-C stops reading"
                f" {words.count(unread - report.parsed, 'other file')}; the next `framedex index` continues."
            )
    mapped = find_mapped(store, trees)
    update_trees(store, trees, progress, report)
    with store.transaction():
        place_mapped(store, mapped)
        store.sources.assign_roots(trees.roots)
        report.tell(place_functions(store.sources, progress, binaries))
    return report


def find_needed_sources(store: Store, progress: Progress, binaries: RecordedBinaries | None = None) -> TreeReport:
    """Read only the source files that are likely to define recorded functions, and leave the rest for another run."""
    report = TreeReport()
    read_needed(store, find_trees(store, progress, report), progress, report, binaries or _binaries(store))
    return report


def no_sources(store: Store, progress: Progress, binaries: RecordedBinaries | None = None) -> TreeReport:
    """Read no sources: answers about Python lines do not need those of native functions, and another run finds them."""
    return TreeReport()


def refresh_files(store: Store, paths: Sequence[Path], progress: Progress) -> TreeReport:
    """Update a few files at once, without scanning the rest of their trees: for files saved in an editor.

    Files that are neither below a stored root nor referred to by a frame are skipped.
    """
    report = TreeReport()
    roots = store.sources.roots()
    known = store.sources.known_files()
    wanted = {}
    for path in dict.fromkeys(os.path.realpath(path) for path in paths):
        root = next((root for root in roots if path.startswith(f"{root}/")), None)
        if language_of(path) and (root or path in known):
            wanted[path] = root
    there = [path for path in wanted if is_here(path)]
    report.files = len(there)
    read_files(store, there, {path: root for path, root in wanted.items() if root}, report)
    with store.transaction():
        gone = [path for path in wanted if path in known and path not in there]
        store.sources.remove_files(gone)
        report.removed = len(gone)
        report.tell(place_functions(store.sources, progress, _binaries(store)))
    return report


def _binaries(store: Store, debuginfod: Debuginfod | None = None) -> RecordedBinaries:
    return RecordedBinaries(
        PathMap(store.sources.path_rules()),
        debuginfod=debuginfod,
        kept=KeptBinaries(),
        digests={known.id: known.content for known in store.binaries()},
    )
