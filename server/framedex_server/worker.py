"""The process that indexes for a language server: one per session, when needed.

It is a process of its own so that a hover waits neither for the interpreter's lock nor for memory, and so that what
breaks while it reads binaries and captures does not end the server. Requests and answers are JSON, one per line:

    {"do": "index", "index": FILE, "captures": [FOLDER...], "sources": [FOLDER...],
     "rules": [[BEFORE, AFTER]...], "lazy": true}
    {"do": "rebuild", ...}  as "index" without "lazy": the index is made anew
    {"do": "refresh", "index": FILE, "files": [FILE...]}

    {"begun": true}  {"task": "Reading captures", "total": 3}  {"done": 2}  ...
    and then {"result": {...}}, {"error": ..., "remedy": ...}, or {"cancelled": true} where SIGINT came while it worked

What was finished before is kept.

It ends with the server, whose end closes its input.
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
    from framedex.progress import Advance
    from framedex.whereabouts.rules import PathRule

NICENESS = 10
"""It gives way to whoever types in the editor."""

EVERY = 0.1
"""Seconds between two tellings of progress."""

PATIENCE = 3600.0
"""Seconds to wait for another indexer: it can be cancelled."""

WAITING = "Waiting for another process that writes this index"


def main() -> None:
    """Answer requests until the end of input."""
    os.nice(NICENESS)
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    interrupts = Interrupts()
    for line in sys.stdin:
        Telling(answers).send(_answer(json.loads(line), Telling(answers), interrupts))


class Interrupts:
    """SIGINT cancels the work that is under way, and nothing between one and the next."""

    def __init__(self) -> None:
        self._working = False
        signal.signal(signal.SIGINT, self._interrupted)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Inside, SIGINT raises KeyboardInterrupt."""
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
    """Progress, as lines to the server."""

    def __init__(self, answers: TextIO) -> None:
        self._answers = answers

    def send(self, message: dict[str, Any]) -> None:
        """Write one line; a server that is gone needs none."""
        with suppress(BrokenPipeError):
            print(json.dumps(message), file=self._answers, flush=True)

    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[Advance]:
        """As `framedex.ingest.Progress` has it."""
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
        """As `framedex.ingest.Progress` has it."""
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
        # A workspace without rules may have a project inside that has some: those that the index remembers stay.
        report = ingest_captures(store, captures, sources, progress, find, rules or None)
        store.seal()
    return _told(report)


def _rebuild(request: dict[str, Any], progress: Telling) -> dict[str, Any]:
    from framedex.ingest import rebuild_index

    captures, sources, rules = _given(request)
    return _told(rebuild_index(Path(request["index"]), captures, sources, progress, _patience(progress), rules))


def _opened(request: dict[str, Any], progress: Telling) -> Store:
    """The index of a request, made anew first where an earlier framedex made it."""
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
    """The captures, sources and rules for paths of a request."""
    from framedex.whereabouts.rules import PathRule

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
    """How long to wait for another indexer, and that whoever looks at the progress sees it."""
    from framedex.index.file.database import Patience

    return Patience(PATIENCE, lambda: progress.note(WAITING))


_WORK: dict[str, Callable[[dict[str, Any], Telling], dict[str, Any]]] = {
    "index": _index,
    "rebuild": _rebuild,
    "refresh": _refresh,
}

if __name__ == "__main__":
    main()
