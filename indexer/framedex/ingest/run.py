"""The whole of `framedex index`: captures, then sources, then the functions' places."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from framedex.captures import read_capture
from framedex.errors import FramedexError
from framedex.index import Store
from framedex.ingest.naming import Namer
from framedex.ingest.placing import place_functions
from framedex.ingest.progress import Progress
from framedex.ingest.report import CaptureReport, Report, TreeReport
from framedex.ingest.trees import update_trees
from framedex.model import Capture


def ingest_captures(store: Store, captures: Sequence[Path], roots: Sequence[Path], progress: Progress) -> Report:
    """Add the captures that are not indexed yet, remember the source roots, and find every function's source.

    Each capture and each batch of source files is kept as soon as it is done: an interrupted run loses only what it was
    at, and running again continues.
    """
    with store.transaction():
        for root in roots:
            store.sources.add_root(os.path.realpath(root))
    added, refused = _read_captures(store, captures, progress)
    sources = find_sources(store, progress)
    return Report(tuple(added), tuple(refused), sources, store.totals())


def add_capture(store: Store, capture: Capture, namer: Namer) -> CaptureReport:
    """Name a decoded capture's frames and add it, in one transaction."""
    frames, naming_problems = namer.name_frames(capture)
    problems = (*capture.problems, *naming_problems)
    store.add_capture(capture, capture.path, _started(capture), _command(capture), frames, problems)
    return CaptureReport(capture.path, len(capture.calls), len(capture.stacks), problems)


def find_sources(store: Store, progress: Progress) -> TreeReport:
    """Bring the source trees up to date, then place every function that they, or new captures, say something new of."""
    report = update_trees(store, progress)
    with store.transaction():
        place_functions(store.sources, progress)
    return report


def _read_captures(
    store: Store, captures: Sequence[Path], progress: Progress
) -> tuple[list[CaptureReport], list[tuple[Path, FramedexError]]]:
    namer = Namer()
    added: list[CaptureReport] = []
    refused: list[tuple[Path, FramedexError]] = []
    paths = list(dict.fromkeys(Path(os.path.realpath(path)) for path in captures))
    pending = [path for path in paths if not store.has_capture(path)]
    with progress.task("Reading captures", len(pending)) as advance:
        for path in pending:
            try:
                capture = read_capture(path)
            except FramedexError as error:
                refused.append((path, error))
            else:
                added.append(add_capture(store, capture, namer))
            advance(1)
    return added, refused


def _started(capture: Capture) -> float:
    """Unix time in seconds; for a capture whose metadata is lost, the time of its folder."""
    started = capture.metadata.get("started_unix_ns")
    if isinstance(started, int):
        return started / 1e9
    try:
        return capture.path.stat().st_mtime
    except OSError:
        return 0.0


def _command(capture: Capture) -> str:
    arguments = capture.metadata.get("argv", [])
    return shlex.join(map(str, arguments)) if isinstance(arguments, list) else str(arguments)
