"""The indexing process of a language server: one per session, started on demand.

A separate process keeps hovers from waiting for the GIL or for memory. A crash while it reads binaries and captures
does not end the server. Requests and answers are JSON, one per line.

Requests:

    {"do": "index", "index": FILE, "captures": [FOLDER...], "sources": [FOLDER...],
     "rules": [[BEFORE, AFTER]...], "lazy": true}

    {"do": "rebuild", ...}  as "index" without "lazy"; rebuilds the index

    {"do": "refresh", "index": FILE, "files": [FILE...]}

    {"do": "fetch", "component": "xla", "commit": COMMIT, "address": ADDRESS}  sources, into the user's cache

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
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from framedex.base.errors import FramedexError

if TYPE_CHECKING:
    from framedex.base.progress import AdvanceCallback
    from framedex.index import Store
    from framedex.index.file.database import LockTimeout
    from framedex.ingest.report import IndexingReport
    from framedex.path_resolution.files import PathRule

NICENESS = 10
"""The process's nice value: the editor has priority."""

PROGRESS_INTERVAL_S = 0.1
"""Seconds between two progress messages."""

LOCK_TIMEOUT_S = 3600.0
"""Seconds to wait for another indexer: the user can cancel."""

WAITING_TEXT = "Waiting for another process that is writing this index"


def main() -> None:
    """Answer requests until the end of input."""
    os.nice(NICENESS)
    # Output of libraries must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    interrupts = InterruptHandler()
    for line in sys.stdin:
        ProgressSender(answers).send(_handle_request(json.loads(line), ProgressSender(answers), interrupts))


class InterruptHandler:
    """Lets SIGINT cancel the running request, and ignores it between requests."""

    def __init__(self) -> None:
        self._working = False
        signal.signal(signal.SIGINT, self._on_sigint)

    @contextmanager
    def allow(self) -> Iterator[None]:
        """Let SIGINT raise KeyboardInterrupt inside the block."""
        self._working = True
        try:
            yield
        finally:
            self._working = False

    def _on_sigint(self, number: int, frame: FrameType | None) -> None:
        if self._working:
            self._working = False
            raise KeyboardInterrupt


class ProgressSender:
    """Sends progress to the server, one JSON object per line."""

    def __init__(self, answers: TextIO) -> None:
        self._answers = answers

    def send(self, message: dict[str, Any]) -> None:
        """Write one line; ignore a closed pipe, because the server is gone."""
        with suppress(BrokenPipeError):
            print(json.dumps(message), file=self._answers, flush=True)

    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[AdvanceCallback]:
        """Implement `framedex.ingest.Progress.task`."""
        self.send({"task": description, "total": total})
        done, last_sent = 0, time.monotonic()

        def advance(amount: int, /, calls: int = 0) -> None:
            nonlocal done, last_sent
            done += amount
            if time.monotonic() - last_sent >= PROGRESS_INTERVAL_S:
                last_sent = time.monotonic()
                self.send({"done": done})

        yield advance

    def note(self, text: str) -> None:
        """Implement `framedex.ingest.Progress.note`."""
        self.send({"task": text, "total": None})


def _handle_request(request: dict[str, Any], progress: ProgressSender, interrupts: InterruptHandler) -> dict[str, Any]:
    from framedex.index.file.soundness import report_damage

    try:
        with interrupts.allow():
            progress.send({"begun": True})
            with report_damage(Path(request["index"])) if "index" in request else nullcontext():
                return {"result": _HANDLERS[request["do"]](request, progress)}
    except KeyboardInterrupt:
        return {"cancelled": True}
    except FramedexError as error:
        return {"error": error.message, "remedy": error.remedy}


def _index_captures(request: dict[str, Any], progress: ProgressSender) -> dict[str, Any]:
    from framedex.ingest import find_needed_sources, find_sources, ingest_captures

    captures, sources, rules = _parse_inputs(request)
    with _open_store(request, progress) as store:
        find = find_needed_sources if request["lazy"] else find_sources
        # A workspace without rules may contain a project that has some: keep the rules stored in the index.
        report = ingest_captures(store, captures, sources, progress, find, rules or None)
        store.seal()
    return _report_json(report)


def _rebuild_index(request: dict[str, Any], progress: ProgressSender) -> dict[str, Any]:
    from framedex.ingest import rebuild_index

    captures, sources, rules = _parse_inputs(request)
    return _report_json(
        rebuild_index(Path(request["index"]), captures, sources, progress, _lock_timeout(progress), rules)
    )


def _open_store(request: dict[str, Any], progress: ProgressSender) -> Store:
    """Open the index of a request; rebuild it first if an earlier framedex wrote it."""
    from framedex.captures import capture_folders
    from framedex.index import Store
    from framedex.index.file.database import OutdatedIndexError
    from framedex.ingest.rebuild import renew_index

    path = Path(request["index"])
    try:
        return Store(path, _lock_timeout(progress))
    except OutdatedIndexError:
        _, sources, rules = _parse_inputs(request)
        on_rebuild = partial(progress.note, "Rebuilding the index, which an earlier framedex wrote")
        renew_index(
            path,
            capture_folders(path.parent / "captures"),
            sources,
            progress,
            on_rebuild,
            _lock_timeout(progress),
            rules,
        )
        return Store(path, _lock_timeout(progress))


def _parse_inputs(request: dict[str, Any]) -> tuple[list[Path], list[Path], list[PathRule]]:
    """Return the captures, sources and path rules of a request."""
    from framedex.path_resolution.files import PathRule

    captures, sources = ([Path(path) for path in request[key]] for key in ("captures", "sources"))
    return captures, sources, [PathRule(before, Path(after), outside) for before, after, outside in request["rules"]]


def _report_json(report: IndexingReport) -> dict[str, Any]:
    return {
        "captures": len(report.captures),
        "calls": sum(capture.calls for capture in report.captures),
        "refused": [f"{path}: {error.message}" for path, error in report.refused],
    }


def _refresh_files(request: dict[str, Any], progress: ProgressSender) -> dict[str, Any]:
    from framedex.index import Store
    from framedex.ingest import refresh_files

    with Store(Path(request["index"]), _lock_timeout(progress)) as store:
        report = refresh_files(store, [Path(path) for path in request["files"]], progress)
    return {"parsed": report.parsed, "removed": report.removed}


def _fetch_sources(request: dict[str, Any], progress: ProgressSender) -> dict[str, Any]:
    from framedex.sources.fetching.cache import SourceCache
    from framedex.sources.fetching.fetch import fetch_sources
    from framedex.sources.fetching.suppliers import open_supplier
    from framedex.sources.fetching.wanted import parse_named_commit

    wanted = parse_named_commit(request["component"], request["commit"])
    on_wait = partial(progress.note, f"Waiting for another process that fetches {wanted.component}")
    folder = fetch_sources(SourceCache.default(), wanted, [open_supplier(request["address"])], progress, on_wait)
    return {"folder": str(folder)}


def _lock_timeout(progress: ProgressSender) -> LockTimeout:
    """Return how long to wait for another indexer; the client shows that this one waits."""
    from framedex.index.file.database import LockTimeout

    return LockTimeout(LOCK_TIMEOUT_S, lambda: progress.note(WAITING_TEXT))


_HANDLERS: dict[str, Callable[[dict[str, Any], ProgressSender], dict[str, Any]]] = {
    "index": _index_captures,
    "rebuild": _rebuild_index,
    "refresh": _refresh_files,
    "fetch": _fetch_sources,
}

if __name__ == "__main__":
    main()
