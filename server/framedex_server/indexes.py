"""Selection of the index for a file, and access to it while indexers write, replace, break or remove it.

All SQLite work runs on one thread that owns every open index. So the protocol loop never waits for a query, and a
cancelled request costs nothing. A problem with an index is reported once, not once per keystroke. Until it is solved,
queries return None; the index is tried again as soon as its file has changed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, TypeVar

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.index import find_index
from framedex.index.file.database import EmptyIndexError, LockedIndexError, OutdatedIndexError, changed_index_error
from framedex_server.session_thread import SessionThread
from framedex_server.settings import FolderSettings

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model.scopes import CaptureScope

Answer = TypeVar("Answer")
Report = Callable[[FramedexError], None]
"""Reports a problem to the user; called on the protocol loop."""

_log = logging.getLogger(__name__)

MAX_SEARCHED_FOLDERS = 1000
"""Maximum number of workspace folders searched for nested projects."""

MAX_OPEN_INDEXES = 100
"""Maximum number of indexes of a workspace that are listed and kept open."""

SCAN_TTL_S = 5.0
"""Seconds for which the list of nested indexes is cached: every keystroke in a file without recordings needs it."""

LOCK_TIMEOUT_S = 0.5
"""Seconds to wait for a locked index: all other queries wait too."""


class IndexChoice:
    """The indexes to query: only `user_index` if the user named one, else indexes around the document and the `roots`.

    `roots` returns the workspace folders. `configured_index` returns the index that the settings name for a folder.
    `clock` returns monotonic seconds.
    """

    def __init__(
        self,
        fixed: Path | None,
        roots: Callable[[], Sequence[Path]],
        clock: Callable[[], float] = time.monotonic,
        configured_index: Callable[[Path], Path | None] = lambda root: None,
    ) -> None:
        self.user_index = fixed
        self._roots = roots
        self._clock = clock
        self._configured_index = configured_index
        self._nested: dict[Path, tuple[float, list[Path]]] = {}

    def roots(self) -> list[Path]:
        """Return the real paths of the workspace folders."""
        return [Path(os.path.realpath(root)) for root in self._roots()]

    def find_upwards(self, document: Path) -> list[Path]:
        """Return the indexes above a document (real path) and above the workspace folders, likeliest first.

        A document inside a workspace folder belongs to the nearest index above it. Any other document (an installed
        library, a system header) was most likely reached from the workspace, so the workspace's index comes first.
        """
        if self.user_index is not None:
            return [self.user_index]
        roots = self.roots()
        inside = any(document.is_relative_to(root) for root in roots)
        starts = [document.parent, *roots] if inside else [*roots, document.parent]
        return list(dict.fromkeys(filter(None, map(self.find_for_folder, starts))))

    def find_for_folder(self, folder: Path) -> Path | None:
        """Return the index that the settings name for a folder, else the nearest one upwards."""
        return self._configured_index(folder) or find_index(folder)

    def find_workspace_indexes(self) -> dict[Path, Path]:
        """Return the indexes of the workspace folders and of nested projects, each with its folder."""
        if self.user_index is not None:
            return {self.user_index: next(iter(self.roots()), self.user_index.parent)}
        of_roots = ((self.find_for_folder(root), root) for root in self.roots())
        inside = {path: path.parent.parent for path in self.find_nested_indexes()}
        return inside | {path: root for path, root in of_roots if path is not None}

    def find_nested_indexes(self) -> Iterator[Path]:
        """Yield the indexes of projects nested in the workspace folders; the search is lazy."""
        if self.user_index is None:
            for root in self.roots():
                yield from self._find_indexes_in(root)

    def _find_indexes_in(self, root: Path) -> list[Path]:
        known = self._nested.get(root)
        if known is None or self._clock() - known[0] >= SCAN_TTL_S:
            found = find_indexes_below(root)
            known = self._nested[root] = self._clock(), found
        return known[1]


def find_indexes_below(root: Path) -> list[Path]:
    """Return the indexes of the projects below a folder, newest first."""
    paths = (project / ".framedex" / "index.db" for project in find_projects_below(root))
    states = ((_file_state(path), path) for path in paths)
    return [path for _, path in sorted((-state[1], path) for state, path in states if state is not None)]


def find_projects_below(root: Path) -> list[Path]:
    """Return the folders with recordings one or two levels below a folder; hidden folders and links are skipped."""
    found = []
    left = MAX_SEARCHED_FOLDERS
    level = [root]
    for _ in range(2):
        level = list(islice((folder for parent in level for folder in _list_folders(parent)), left))
        left -= len(level)
        found += [folder for folder in level if os.path.isdir(folder / ".framedex")]  # noqa: PTH112 - Path's raises
    return found


def _list_folders(parent: Path) -> Iterator[Path]:
    try:
        with os.scandir(parent) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    yield parent / entry.name
    except OSError:
        return


_Problem = tuple[Path | None, tuple[int, int] | None, str]


class _SharedStates:
    """The states of index files that all `Indexes` of a session share. Their threads change them at the same time."""

    def __init__(self) -> None:
        self.being_written: set[Path] = set()
        self._lock = Lock()
        self._outdated: dict[Path, None] = {}
        self._handled_outdated: set[Path] = set()
        self._problems: set[_Problem] = set()

    def queue_outdated(self, path: Path) -> bool:
        """Queue an index of an earlier version. Return whether it is still queued; a queued index is not reported."""
        with self._lock:
            if path in self._handled_outdated:
                return False
            self._outdated[path] = None
            return True

    def take_outdated(self) -> list[Path]:
        """Empty the queue and return its indexes; they are never queued again."""
        with self._lock:
            taken = list(self._outdated)
            self._outdated.clear()
            self._handled_outdated.update(taken)
            return taken

    def add_problem(self, problem: _Problem) -> bool:
        """Return whether the problem is new, and remember it."""
        with self._lock:
            is_new = problem not in self._problems
            self._problems.add(problem)
            return is_new


class Indexes:
    """The indexes of a session: called from the protocol loop, queried on the thread that owns them."""

    def __init__(
        self,
        choice: IndexChoice,
        report: Report,
        settings_for: Callable[[Path], FolderSettings] = lambda path: FolderSettings(),
        shared_with: Indexes | None = None,
    ) -> None:
        """`settings_for` returns the settings that apply to an index.

        `shared_with` is another instance with its own thread. Both share the indexes being written and the problems
        already reported.
        """
        self._choice = choice
        self._report = report
        self._settings_for = settings_for
        self._open_settings: dict[Path, tuple[Mapping[str, str], CaptureScope]] = {}
        self._states_of_files: _SharedStates = shared_with._states_of_files if shared_with else _SharedStates()
        self.being_written = self._states_of_files.being_written
        """The indexes that this session is writing: they are not reported as empty or outdated."""
        self.close_callbacks: list[Callable[[], None]] = []
        """Callbacks to run after the last query."""
        self._thread = SessionThread("framedex-index")
        self._open_indexes: dict[Path, Index] = {}
        self._recently_used: dict[Path, None] = {}
        self._states: dict[Path, tuple[int, ...] | None] = {}
        self._known_root_indexes: set[Path] | None = None

    async def query(
        self, document: Path, question: Callable[[Index], Answer], likeliest: Path | None = None
    ) -> Answer | None:
        """Return the result of `question` on the index for `document`; None if no index is usable.

        The index is the first one with calls through the document, in this order:

        - the `likeliest`;
        - those above the document and the workspace;
        - those used before and those inside the workspace, for sources outside the recorded project (an environment, a
          checkout of XLA).

        If none has calls through the document (a trace document), the first usable index answers. `question` runs on
        the index thread and must not keep the index.
        """
        report = self._make_thread_safe_report()
        return await self.run(lambda: self._query_document(document, question, likeliest, report))

    async def query_folder(self, folder: Path, question: Callable[[Index], Answer]) -> Answer | None:
        """Return the result of `question` on the index of any folder; None if there is no index."""
        report = self._make_thread_safe_report()
        return await self.run(lambda: self._query_folder(folder, question, report))

    async def query_all(self, question: Callable[[Index], Answer]) -> list[tuple[Path, Path, Answer | FramedexError]]:
        """Return the folder, path and result of `question` for every index of the workspace.

        If an index is unusable, its error replaces the result.
        """
        return await self.run(lambda: self._query_all(question))

    async def find_problem(self, document: Path) -> tuple[Path, FramedexError] | None:
        """Return a folder and the error that makes the index of `document` unusable; None if it is usable or missing.

        The document belongs to the nearest index above it or the workspace. If there is none above, one usable index
        inside the workspace is enough.
        """
        return await self.run(lambda: self._find_problem(document))

    async def open_early(self) -> None:
        """Open the first workspace folder's index, so that the first query is fast and problems are reported early."""
        folder = next(iter(self._choice.roots()), None)
        if folder is not None:
            await self.query(folder / "any document", lambda index: None)

    async def indexes_containing(self, documents: Iterable[str]) -> dict[Path, list[str]]:
        """Return the indexes around the source files, each with the files that it contains; report no problems."""
        return await self.run(lambda: self._find_indexes_containing(list(documents)))

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """Return the result of `work`, run on the index thread: for file access off the protocol loop."""
        return await self._thread.run(work)

    @property
    def is_fixed(self) -> bool:
        """Whether the user has named the index."""
        return self._choice.user_index is not None

    def find_for_folder(self, folder: Path) -> Path | None:
        """Return the index of a folder; None if it has none yet."""
        return self._choice.user_index or self._choice.find_for_folder(folder)

    def have_changed(self) -> bool:
        """Return whether another process wrote to an open index or created one since the last call.

        For the index thread only.
        """
        states = {path: self._query(path, lambda index: index.state(), None) for path in list(self._open_indexes)}
        before, self._states = self._states, states
        present = self._find_root_indexes()
        is_new = self._known_root_indexes is not None and bool(present - self._known_root_indexes)
        self._known_root_indexes = present
        return is_new or any(before.get(path, state) != state for path, state in states.items())

    def list_captures(self, path: Path) -> set[Path]:
        """Return the capture folders in the index at `path`; empty if it is unusable. For the index thread only."""
        return {Path(row.path) for row in self._query(path, lambda index: index.captures(), None) or ()}

    def close(self) -> None:
        """Stop accepting queries; close the indexes after the running query."""
        self._thread.close()
        Thread(target=self._close_indexes, name="framedex-closing").start()

    def _close_indexes(self) -> None:
        self._thread.join()
        for call in self.close_callbacks:
            call()
        for path in list(self._open_indexes):
            self._close_index(path)

    def _make_thread_safe_report(self) -> Report:
        """Return a function that reports a problem from the index thread."""
        loop = asyncio.get_running_loop()

        def report(error: FramedexError) -> None:
            loop.call_soon_threadsafe(self._report, error)

        return report

    def _query_document(
        self, document: Path, question: Callable[[Index], Answer], likeliest: Path | None, report_error: Report
    ) -> Answer | None:
        near = [*filter(None, [likeliest]), *self._choice.find_upwards(document)]
        first: Path | None = None
        path: Path | None = None
        # A removed index may have been closed already.
        queried_before = dict.fromkeys([*self._open_indexes, *self._recently_used])
        removed = [path for path in queried_before if path not in near and self._is_removed(path, document)]
        known = [path for path in self._recently_used if path not in near]
        for path in chain(near, known, self._choice.find_nested_indexes()):
            # The user did not name indexes further away, so their problems are only logged.
            report = report_error if path in near else None
            is_recorded = self._query(path, lambda index: index.file(str(document)).is_recorded(), report)
            if is_recorded:
                self._recently_used = dict.fromkeys([path, *self._recently_used])
                return self._query(path, question, report_error)
            if first is None and is_recorded is not None:
                first = path
            elif path not in near and path not in known:
                self._close_index(path)  # otherwise every index of a large workspace would stay open
        if path is None and not removed:
            self._report_once(None, _nothing_recorded_error(), report_error)
        for each in removed:
            self._close_index(each)
            self._report_once(each, _removed_error(each), report_error)
        return self._query(first, question, report_error) if first is not None else None

    def _is_removed(self, path: Path, document: Path) -> bool:
        """Return whether an index is missing now that was above the document or the workspace."""
        project = path.parent.parent
        is_above = any(each.is_relative_to(project) for each in (document, *self._choice.roots()))
        return is_above and _file_state(path) is None

    def _query_folder(self, folder: Path, question: Callable[[Index], Answer], report: Report) -> Answer | None:
        path = self.find_for_folder(folder)
        return self._query(path, question, report) if path is not None else None

    def _find_root_indexes(self) -> set[Path]:
        return set(filter(None, map(self._choice.find_for_folder, self._choice.roots())))

    def _query_all(self, question: Callable[[Index], Answer]) -> list[tuple[Path, Path, Answer | FramedexError]]:
        if self._known_root_indexes is None:
            self._known_root_indexes = self._find_root_indexes()
        answers: list[tuple[Path, Path, Answer | FramedexError]] = []
        for path, folder in islice(self._choice.find_workspace_indexes().items(), MAX_OPEN_INDEXES):
            try:
                answers.append((folder, path, self._query_or_raise(path, question)))
            except FramedexError as error:
                if _file_state(path) is not None and not self._is_being_written(path, error):
                    answers.append((folder, path, error))
        return answers

    def _find_problem(self, document: Path) -> tuple[Path, FramedexError] | None:
        nearest = next(iter(self._choice.find_upwards(document)), None)
        if nearest is not None:
            problem = self._check_index(nearest)
            starts = (document.parent, *self._choice.roots())
            folder = next((each for each in starts if self.find_for_folder(each) == nearest), nearest.parent.parent)
            return (folder, problem) if problem is not None else None
        inside = list(islice(filter(_file_state, self._choice.find_nested_indexes()), MAX_OPEN_INDEXES))
        problems = [problem for path in inside if (problem := self._check_index(path))]
        return (inside[0].parent.parent, problems[0]) if problems and len(problems) == len(inside) else None

    def _check_index(self, path: Path) -> FramedexError | None:
        try:
            self._query_or_raise(path, lambda index: None)
        except FramedexError as error:
            return None if self._is_being_written(path, error) else error
        return None

    def _find_indexes_containing(self, documents: Sequence[str]) -> dict[Path, list[str]]:
        indexes = {
            path: None
            for document in documents
            for path in (*self._choice.find_upwards(Path(document)), *self._recently_used)
        }
        known = {
            path: self._query(path, lambda index: list(filter(index.sources.is_known_source, documents)), None)
            for path in indexes
        }
        return {path: known_there for path, known_there in known.items() if known_there}

    def _query(self, path: Path, question: Callable[[Index], Answer], report: Report | None) -> Answer | None:
        """Return the result of `question` on the index at `path`; None if it is unusable, which is reported once."""
        try:
            answer = self._query_or_raise(path, question)
            if path in self._open_indexes and self._open_indexes[path].was_changed:
                self._report_once(path, changed_index_error(path), report)
            return answer
        except OverflowError as error:  # a number outside SQLite's integer range
            _log.info("%s", error)
        except FramedexError as error:
            if not self._is_being_written(path, error) and not self._queue_rebuild(path, error):
                self._report_once(path, error, report)
        return None

    def _query_or_raise(self, path: Path, question: Callable[[Index], Answer]) -> Answer:
        """Return the result of `question` on the index at `path`. Raises FramedexError if it is unusable."""
        was_open = path in self._open_indexes
        try:
            index = self._get_open_index(path)
            with index.reading():
                return question(index)
        except LockedIndexError:
            raise
        except FramedexError:
            self._close_index(path)
            if not was_open:
                raise
        # The open connection may have broken because the file was rewritten in place: reopen and retry once.
        return self._query_or_raise(path, question)

    def _is_being_written(self, path: Path, error: FramedexError) -> bool:
        return isinstance(error, EmptyIndexError | OutdatedIndexError) and path in self.being_written

    def _queue_rebuild(self, path: Path, error: FramedexError) -> bool:
        is_outdated = isinstance(error, OutdatedIndexError) and not self.is_fixed
        return is_outdated and self._states_of_files.queue_outdated(path)

    def take_outdated(self) -> list[Path]:
        """Return the indexes of earlier versions that queries encountered, each only once."""
        return self._states_of_files.take_outdated()

    def _get_open_index(self, path: Path) -> Index:
        """Return the open index at `path`; reopen it if its file was replaced or its settings changed."""
        index = self._open_indexes.get(path)
        settings = self._settings_for(path)
        wanted = settings.links, settings.captures
        if index is not None and wanted == self._open_settings[path] and not index.was_replaced():
            return index
        self._close_index(path)
        from framedex.index import Index

        self._open_indexes[path] = Index.open(path, LOCK_TIMEOUT_S, settings.links, counted=settings.captures)
        self._open_settings[path] = wanted
        return self._open_indexes[path]

    def _close_index(self, path: Path) -> None:
        index = self._open_indexes.pop(path, None)
        if index is not None:
            index.close()

    def _report_once(self, path: Path | None, error: FramedexError, report: Report | None) -> None:
        """Report a problem, unless it was reported for the same state of the file."""
        if report is None:
            _log.info("%s", error)
            return
        if self._states_of_files.add_problem((path, _file_state(path) if path else None, error.message)):
            _log.warning("%s", error)
            report(error)


def _file_state(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


class NothingRecordedError(FramedexError):
    """Raised when no index exists yet. A fresh project has none, so the error is logged without a pop-up."""


def _removed_error(path: Path) -> FramedexError:
    return FramedexError(
        f"The index {make_printable(str(path))} was removed.",
        "Run `framedex index` to rebuild it from the captures. The server will notice.",
    )


def _nothing_recorded_error() -> NothingRecordedError:
    return NothingRecordedError(
        "No recordings for this workspace: there is no .framedex/index.db in it or above it.",
        "Record a program with `framedex run SCRIPT`, then run `framedex index`. The server will notice.",
    )
