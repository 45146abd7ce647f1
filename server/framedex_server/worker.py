"""The indexing process of a language server: one per session, started on demand.

A separate process keeps hovers from waiting for the GIL or for memory. A crash while it reads binaries and captures
does not end the server. Requests and answers are JSON, one per line.

Requests:

    {"do": "index", "index": FILE, "captures": [FOLDER...], "sources": [FOLDER...],
     "rules": [[BEFORE, AFTER]...], "lazy": true}

    {"do": "rebuild", ...}  as "index" without "lazy"; rebuilds the index

    {"do": "refresh", "index": FILE, "files": [FILE...]}

Answers:

    {"begun": true}  {"task": "Reading captures", "total": 3}  {"done": 2}  ...

    and then {"result": {...}}, {"error": ..., "remedy": ...}, or {"cancelled": true} after SIGINT

Finished work is kept after an error or a cancellation. The process ends with the server, which closes its input.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from framedex.errors import FramedexError

if TYPE_CHECKING:
    from framedex.index import Store
    from framedex.index.file.database import Patience
    from framedex.ingest.report import Report
    from framedex.path_resolution.rules import PathRule
    from framedex.progress import Advance

NICENESS = 10
"""The process's nice value: the editor has priority."""

EVERY = 0.1
"""Seconds between two progress messages."""

PATIENCE = 3600.0
"""Seconds to wait for another indexer: the user can cancel."""

WAITING = "Waiting for another process that writes this index"


def main() -> None:
    """Answer requests until the end of input."""
    os.nice(NICENESS)
    # Output of libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    interrupts = Interrupts()
    for line in sys.stdin:
        Telling(answers).send(_answer(json.loads(line), Telling(answers), interrupts))


class Interrupts:
    """Lets SIGINT cancel the running request, and ignores it between requests."""

    def __init__(self) -> None:
        self._working = False
        signal.signal(signal.SIGINT, self._interrupted)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let SIGINT raise KeyboardInterrupt inside the block."""
        self._working = True
        try:
            yield
        finally:
            self._working = False

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._working:
            self._working = False
            raise KeyboardInterrupt


class Telling:
    """Sends progress to the server, one JSON object per line."""

    def __init__(self, answers: TextIO) -> None:
        self._answers = answers

    def send(self, message: dict[str, Any]) -> None:
        """Write one line; ignore a closed pipe, because the server is gone."""
        with suppress(BrokenPipeError):
            print(json.dumps(message), file=self._answers, flush=True)

    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[Advance]:
        """Implement `framedex.ingest.Progress.task`."""
        self.send({"task": description, "total": total})
        done, told = 0, time.monotonic()

        def advance(amount: int, /, calls: int = 0) -> None:
            nonlocal done, told
            done += amount
            if time.monotonic() - told >= EVERY:
                told = time.monotonic()
                self.send({"done": done})

        yield advance

    def note(self, text: str) -> None:
        """Implement `framedex.ingest.Progress.note`."""
        self.send({"task": text, "total": None})


def _answer(request: dict[str, Any], progress: Telling, interrupts: Interrupts) -> dict[str, Any]:
    from framedex.index.file.soundness import blaming_damage

    try:
        with interrupts.allowed():
            progress.send({"begun": True})
            with blaming_damage(Path(request["index"])):
                return {"result": _WORK[request["do"]](request, progress)}
    except KeyboardInterrupt:
        return {"cancelled": True}
    except FramedexError as error:
        return {"error": error.message, "remedy": error.remedy}


def _index(request: dict[str, Any], progress: Telling) -> dict[str, Any]:
    from framedex.ingest import find_needed_sources, find_sources, ingest_captures

    captures, sources, rules = _given(request)
    with _opened(request, progress) as store:
        find = find_needed_sources if request["lazy"] else find_sources
        # A workspace without rules may contain a project that has some: keep the rules stored in the index.
        report = ingest_captures(store, captures, sources, progress, find, rules or None)
        store.seal()
    return _told(report)


def _rebuild(request: dict[str, Any], progress: Telling) -> dict[str, Any]:
    from framedex.ingest import rebuild_index

    captures, sources, rules = _given(request)
    return _told(rebuild_index(Path(request["index"]), captures, sources, progress, _patience(progress), rules))


def _opened(request: dict[str, Any], progress: Telling) -> Store:
    """Open the index of a request; rebuild it first if an earlier framedex wrote it."""
    from framedex.captures import capture_folders
    from framedex.index import Store
    from framedex.index.file.database import OutdatedIndexError
    from framedex.ingest.renewal import renew_index

    path = Path(request["index"])
    try:
        return Store(path, _patience(progress))
    except OutdatedIndexError:
        _, sources, rules = _given(request)
        told = partial(progress.note, "Making the index anew, as an earlier framedex made it")
        renew_index(
            path, capture_folders(path.parent / "captures"), sources, progress, told, _patience(progress), rules
        )
        return Store(path, _patience(progress))


def _given(request: dict[str, Any]) -> tuple[list[Path], list[Path], list[PathRule]]:
    """Return the captures, sources and path rules of a request."""
    from framedex.path_resolution.rules import PathRule

    captures, sources = ([Path(path) for path in request[key]] for key in ("captures", "sources"))
    return captures, sources, [PathRule(before, Path(after)) for before, after in request["rules"]]


def _told(report: Report) -> dict[str, Any]:
    return {
        "captures": len(report.captures),
        "calls": sum(capture.calls for capture in report.captures),
        "refused": [f"{path}: {error.message}" for path, error in report.refused],
    }


def _refresh(request: dict[str, Any], progress: Telling) -> dict[str, Any]:
    from framedex.index import Store
    from framedex.ingest import refresh_files

    with Store(Path(request["index"]), _patience(progress)) as store:
        report = refresh_files(store, [Path(path) for path in request["files"]], progress)
    return {"parsed": report.parsed, "removed": report.removed}


def _patience(progress: Telling) -> Patience:
    """Return how long to wait for another indexer; the progress shows the waiting."""
    from framedex.index.file.database import Patience

    return Patience(PATIENCE, lambda: progress.note(WAITING))


_WORK: dict[str, Callable[[dict[str, Any], Telling], dict[str, Any]]] = {
    "index": _index,
    "rebuild": _rebuild,
    "refresh": _refresh,
}

if __name__ == "__main__":
    main()
