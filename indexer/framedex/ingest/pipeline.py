"""All steps of `framedex index`: captures, then sources, then the locations of functions.

A large source tree takes seconds to read. So the few files that are likely to define recorded functions are read first,
and the lines of recorded frames appear early.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.progress import Progress, SilentProgress
from framedex.binaries import BinaryStore
from framedex.captures import recorded_modules
from framedex.index import Store
from framedex.index.file.values import to_storable
from framedex.index.write.records import NameSource, UnplacedFunction
from framedex.ingest.captures import is_followed, read_captures, read_states, update_moved_path
from framedex.ingest.locations import locate_functions
from framedex.ingest.path_mapping import find_mapped_files, locate_mapped_frames
from framedex.ingest.recorded_binaries import RecordedBinaries
from framedex.ingest.release_maps import mark_stale_for_release_maps
from framedex.ingest.report import IndexingReport, TreeReport
from framedex.ingest.source_maps import import_wheel_maps
from framedex.ingest.trees import SourceFileLists, find_trees, read_files, update_trees
from framedex.model import BinaryId
from framedex.path_resolution.files import PathMap, PathRule, file_exists, select_usable_rules
from framedex.path_resolution.moved_files import TreeFiles
from framedex.sources import find_language, find_likely_files

if TYPE_CHECKING:  # rarely needed
    from framedex.binaries.debuginfod import Debuginfod


@contextmanager
def _reduce_garbage_collection() -> Iterator[None]:
    """Run the cyclic garbage collector rarely: few objects of indexing are in reference cycles."""
    usual = gc.get_threshold()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@_reduce_garbage_collection()
def ingest_captures(
    store: Store,
    captures: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    find: Callable[[Store, Progress, RecordedBinaries], TreeReport] | None = None,
    rules: Sequence[PathRule] | None = None,
    debuginfod: Debuginfod | None = None,
) -> IndexingReport:
    """Add the captures that are new or have grown, store the source roots, and find every function's source.

    Each capture and each batch of source files is committed when it is done. An interrupted run loses only its current
    batch, and the next run continues. Several processes may do this at once. `rules` map recorded paths to local paths
    and replace the stored rules. `find` finds the functions' source: `find_sources` (the default), or the faster
    `find_needed_sources`. `debuginfod` provides debug files.
    """
    with store.transaction():
        for root in roots:
            store.sources.add_root(os.path.realpath(root))
        if rules is not None:
            store.sources.replace_path_rules(select_usable_rules(rules, store.sources.roots()))
        mark_stale_for_release_maps(store.sources)
    stale = mark_captures_with_stale_names(store, _make_recorded_binaries(store, debuginfod))
    states, refused = read_states([*captures, *stale])
    moved = [state.path for state in states if update_moved_path(store, state)]
    binaries = _make_recorded_binaries(store, debuginfod)

    early_problems: list[str] = []

    def locate() -> None:
        if find is skip_sources or early_problems or store.sources.has_unread_roots():
            return  # the last step or another run locates them
        early_problems.extend(locate_functions(store.sources, SilentProgress(), binaries))
        if early_problems:
            store.sources.mark_stale_for_release_maps("")  # the last step tries again, and reports the problems

    added = [
        replace(report, renamed=report.path in stale)
        for report in read_captures(store, states, refused, progress, binaries, locate)
    ]
    map_problems = list(import_wheel_maps(store, progress))
    sources = (find or find_sources)(store, progress, binaries)
    sources.problems.extend(map_problems)
    totals = store.totals()
    return IndexingReport(
        tuple(added), tuple(refused.items()), sources, totals, tuple(moved), moved_from=store.moved_from
    )


def find_sources(store: Store, progress: Progress, binaries: RecordedBinaries | None = None) -> TreeReport:
    """Update the source trees, and locate every function affected by them or by new captures.

    Recorded functions come first: their locations are committed for other processes before the rest of a large tree is
    read. `binaries` are the open binaries.
    """
    binaries = binaries or _make_recorded_binaries(store)
    report = TreeReport()
    trees = find_trees(store, progress, report)
    if (unread := len(trees.changed_files(store))) > MAX_NEEDED_FILES:
        read_needed_sources(store, trees, progress, report, binaries)
        if report.parsed:
            progress.note(
                "The recorded frames have their lines, and traces show them. Ctrl-C stops reading"
                f" {words.count(unread - report.parsed, 'other file')}; the next `framedex index` continues."
            )
    mapped = find_mapped_files(store, trees)
    update_trees(store, trees, progress, report)
    with store.transaction():
        locate_mapped_frames(store, mapped)
        store.sources.assign_roots(trees.roots)
        report.add_problems(locate_functions(store.sources, progress, binaries))
    return report


def find_needed_sources(store: Store, progress: Progress, binaries: RecordedBinaries | None = None) -> TreeReport:
    """Read only the source files that are likely to define recorded functions, and leave the rest to another run."""
    report = TreeReport()
    read_needed_sources(
        store, find_trees(store, progress, report), progress, report, binaries or _make_recorded_binaries(store)
    )
    return report


def skip_sources(store: Store, progress: Progress, binaries: RecordedBinaries | None = None) -> TreeReport:
    """Read no sources: answers about Python lines do not need native sources. Another run reads them."""
    return TreeReport()


def refresh_files(store: Store, paths: Sequence[Path], progress: Progress) -> TreeReport:
    """Update a few files immediately, without scanning the rest of their trees: for files saved in an editor.

    Files that are neither below a stored root nor referred to by a frame are skipped.
    """
    report = TreeReport()
    roots = store.sources.roots()
    known = store.sources.known_files()
    roots_by_path = {}
    for path in dict.fromkeys(os.path.realpath(path) for path in paths):
        root = next((root for root in roots if path.startswith(f"{root}/")), None)
        if find_language(path) and (root or path in known):
            roots_by_path[path] = root
    existing = [path for path in roots_by_path if file_exists(path)]
    report.files = len(existing)
    read_files(store, existing, {path: root for path, root in roots_by_path.items() if root}, report)
    with store.transaction():
        gone = [path for path in roots_by_path if path in known and path not in existing]
        store.sources.remove_files(gone)
        report.removed = len(gone)
        report.add_problems(locate_functions(store.sources, progress, _make_recorded_binaries(store)))
    return report


def _make_recorded_binaries(store: Store, debuginfod: Debuginfod | None = None) -> RecordedBinaries:
    return RecordedBinaries(
        PathMap(store.sources.path_rules()),
        debuginfod=debuginfod,
        kept=BinaryStore(),
        digests={known.id: known.content for known in store.binaries()},
    )


MAX_NEEDED_FILES = 60
"""The maximum number of files to read first, which takes about 0.25 s."""

_MAX_FILES_PER_FUNCTION = 6  # the maximum number of files for a single function


def read_needed_sources(
    store: Store, trees: SourceFileLists, progress: Progress, report: TreeReport, binaries: RecordedBinaries
) -> None:
    """Read at most `MAX_NEEDED_FILES` of the new and changed files, and locate the functions found in them.

    The files for recorded paths come first, then files that names of functions suggest, then files of exact lines.
    """
    mapped = find_mapped_files(store, trees)
    unread = {file.path for file in trees.changed_files(store)}
    likely = _find_likely_files(store.sources.unlocated_functions(), TreeFiles(trees.files), unread)
    needed = [*(here.path for here in mapped.values()), *likely, *store.sources.files_of_exact_locations()]
    paths = list(dict.fromkeys(path for path in needed if path in unread))[:MAX_NEEDED_FILES]
    with progress.task("Reading the sources of recorded functions", len(paths)) as advance:
        read_files(store, paths, trees.roots, report, advance)
    with store.transaction():
        locate_mapped_frames(store, mapped)
        report.add_problems(locate_functions(store.sources, progress, binaries))


def _find_likely_files(functions: list[UnplacedFunction], files: TreeFiles, unread: set[str]) -> list[str]:
    votes: Counter[str] = Counter()
    for function in functions:
        likely = find_likely_files(files, function.record.symbol, function.record.unit)[:_MAX_FILES_PER_FUNCTION]
        for rank, path in enumerate(likely):
            votes[path] += 1 << (_MAX_FILES_PER_FUNCTION - rank)
    return [path for path, _ in votes.most_common() if path in unread][:MAX_NEEDED_FILES]


def mark_captures_with_stale_names(store: Store, binaries: RecordedBinaries) -> Sequence[Path]:
    """Mark the captures stale whose frames would get better names now; return their paths.

    A capture with a missing folder keeps its names.
    """
    lacking = [known for known in store.binaries() if known.name_source is not NameSource.DEBUG_INFORMATION]
    binaries.fetch_debug_files(binaries.make_module(known.id) for known in lacking)
    better = {
        known.id for known in lacking if binaries.find_names_source(binaries.make_module(known.id)) > known.name_source
    }
    stale = []
    for capture in store.captures() if better else ():
        if capture.signature and not is_followed(capture.unfinished_signature) and _has_binary(capture.path, better):
            store.mark_capture_stale(capture.id)
            stale.append(capture.path)
    return stale


def _has_binary(capture: Path, roots_by_path: set[BinaryId]) -> bool:
    return any(
        module.id._replace(path=to_storable(module.path)) in roots_by_path for module in recorded_modules(capture)
    )
