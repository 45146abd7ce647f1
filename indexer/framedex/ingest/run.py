"""The whole of `framedex index`: captures, then sources, then the functions' places."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from framedex.captures import CaptureState, capture_identity, capture_state, is_being_written, read_capture
from framedex.errors import FramedexError
from framedex.index import Store
from framedex.index.file.values import storable
from framedex.index.write.records import CaptureRecord, KnownCapture
from framedex.ingest.batches import add_whole
from framedex.ingest.ffi import name_ffi
from framedex.ingest.map_import import import_shipped_maps
from framedex.ingest.mapping import find_mapped, place_mapped
from framedex.ingest.naming import Namer
from framedex.ingest.needed import MOST, read_needed
from framedex.ingest.placing import place_functions
from framedex.ingest.progress import Progress
from framedex.ingest.recorded import RecordedBinaries
from framedex.ingest.report import CaptureReport, Report, TreeReport
from framedex.ingest.trees import find_trees, read_files, update_trees
from framedex.missing import all_problems
from framedex.model import Capture
from framedex.releases import find_builds
from framedex.sources import language_of
from framedex.whereabouts.files import is_here
from framedex.whereabouts.rules import PathMap, PathRule


def ingest_captures(
    store: Store,
    captures: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    find: Callable[[Store, Progress, RecordedBinaries], TreeReport] | None = None,
    rules: Sequence[PathRule] | None = None,
) -> Report:
    """Add the captures that are new or have grown, remember the source roots, and find every function's source.

    Each capture and each batch of source files is kept as soon as it is done: an interrupted run loses only what it was
    at, and running again continues. Several processes may do this at once.
    `rules` say where recorded paths are here, in place of those remembered. `find` finds the functions' source:
    `find_sources` (the default), or `find_needed_sources` to be quick.
    """
    with store.transaction():
        for root in roots:
            store.sources.add_root(os.path.realpath(root))
        if rules is not None:
            store.sources.replace_path_rules(rules)
    states, refused = _states(captures)
    moved = [state.path for state in states if _has_moved(store, state)]
    binaries = _binaries(store)
    added = _read_captures(store, states, refused, progress, binaries)
    troubles = list(import_shipped_maps(store, progress))
    sources = (find or find_sources)(store, progress, binaries)
    sources.problems.extend(troubles)
    return Report(tuple(added), tuple(refused.items()), sources, store.totals(), tuple(moved))


def add_capture(store: Store, capture: Capture, namer: Namer, signature: str = "") -> CaptureReport:
    """Name a decoded capture's frames and add it, in one transaction.

    `signature` is the capture's when its reading began: whatever comes later makes another one.
    """
    frames, naming_problems = namer.name_frames(capture)
    problems = (*capture.problems, *naming_problems)
    identity = capture_identity(capture.path, capture.metadata)
    grown = store.known_capture(identity) is not None
    record = CaptureRecord(
        capture,
        _started_unix_seconds(capture),
        shlex.join(capture.metadata.argv),
        frames,
        problems,
        identity=identity,
        signature=signature,
        ffi=name_ffi(capture, namer),
        builds=find_builds(capture),
        began=capture.metadata.started_unix_ns,
    )
    add_whole(store, record)
    told = all_problems(capture.stops, problems)
    return CaptureReport(capture.path, len(capture.calls), len(capture.stacks), told, grown)


def find_sources(store: Store, progress: Progress, binaries: RecordedBinaries | None = None) -> TreeReport:
    """Bring the source trees up to date and place every function that they, or new captures, say something new of.

    Recorded functions come first: they are placed, for other processes to see, before the rest of a large tree is read.
    `binaries` are those that are open already.
    """
    binaries = binaries or _binaries(store)
    report = TreeReport()
    trees = find_trees(store, progress, report)
    if (unread := len(trees.changed(store))) > MOST:
        read_needed(store, trees, progress, report, binaries)
        if report.parsed:
            progress.note(
                "The recorded frames have their lines: `framedex trace` works from now on. Ctrl-C keeps what is read"
                f" of the other {unread - report.parsed:,} files; the next `framedex index` goes on."
            )
    mapped = find_mapped(store, trees)
    update_trees(store, trees, progress, report)
    with store.transaction():
        place_mapped(store, mapped)
        place_functions(store.sources, progress, binaries)
    return report


def find_needed_sources(store: Store, progress: Progress, binaries: RecordedBinaries | None = None) -> TreeReport:
    """Read only the source files that recorded functions are likely to be in, and leave the rest for another run."""
    report = TreeReport()
    read_needed(store, find_trees(store, progress, report), progress, report, binaries or _binaries(store))
    return report


def refresh_files(store: Store, paths: Sequence[Path], progress: Progress) -> TreeReport:
    """Bring a few files up to date at once, without a look at the rest of their trees: for what an editor has saved.

    Files that are neither below a remembered root nor pointed to by a frame are left alone.
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
        place_functions(store.sources, progress, _binaries(store))
    return report


def _binaries(store: Store) -> RecordedBinaries:
    return RecordedBinaries(PathMap(store.sources.path_rules()))


def _states(captures: Sequence[Path]) -> tuple[list[CaptureState], dict[Path, FramedexError]]:
    """The captures as they are now, each once, and those that cannot be read with the reason."""
    states: dict[str, CaptureState] = {}
    refused: dict[Path, FramedexError] = {}
    for path in dict.fromkeys(Path(os.path.realpath(path)) for path in captures):
        try:
            state = capture_state(path)
        except FramedexError as error:
            refused[path] = error
        else:
            states.setdefault(state.identity, state)
    return list(states.values()), refused


def _has_moved(store: Store, state: CaptureState) -> bool:
    """Whether a known capture is now at another path, which is then remembered. A copy beside it has not moved it."""
    known = store.known_capture(state.identity)
    if known is None or _is_at(known, state.path) or _is_still_there(known):
        return False
    store.move_capture(known.id, state.path)
    return True


def _is_due(store: Store, state: CaptureState) -> bool:
    """Whether a capture is not in the index, or not in this state. Of one that was copied, the first place counts."""
    known = store.known_capture(state.identity)
    return known is None or (_is_at(known, state.path) and known.signature != state.signature)


def _is_at(known: KnownCapture, path: Path) -> bool:
    return str(known.path) == storable(str(path))


def _is_still_there(known: KnownCapture) -> bool:
    try:
        return capture_state(known.path).identity == known.identity
    except FramedexError:
        return False


def _read_captures(
    store: Store,
    states: Sequence[CaptureState],
    refused: dict[Path, FramedexError],
    progress: Progress,
    binaries: RecordedBinaries,
) -> list[CaptureReport]:
    namer = Namer(binaries)
    added: list[CaptureReport] = []
    pending = [state for state in states if _is_due(store, state)]
    with progress.task("Reading captures", len(pending)) as advance:
        for state in pending:
            # Meanwhile another process may have done it.
            if _is_due(store, state):
                try:
                    capture = read_capture(state.path)
                except FramedexError as error:
                    refused[state.path] = error
                else:
                    report = add_capture(store, capture, namer, state.signature)
                    added.append(replace(report, still_written=_is_still_written(state, capture)))
            advance(1)
    return added


def _is_still_written(state: CaptureState, capture: Capture) -> bool:
    """Whether its process is at it, or has been while it was read."""
    if is_being_written(state.path, capture.metadata):
        return True
    try:
        return capture_state(state.path) != state
    except FramedexError:
        return False


def _started_unix_seconds(capture: Capture) -> float:
    """When a recording began, by the wall clock; where its metadata do not say so, when its folder was changed."""
    if capture.metadata.started_unix_ns is not None:
        return capture.metadata.started_unix_ns / 1e9
    try:
        return capture.path.stat().st_mtime
    except OSError:
        return 0.0
