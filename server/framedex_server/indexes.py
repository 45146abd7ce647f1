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
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from framedex.errors import FramedexError
from framedex.plaintext import printable
from framedex_server.settings import FolderSettings

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model.scopes import Counted

Answer = TypeVar("Answer")
Report = Callable[[FramedexError], None]
"""Reports a problem to the user; called on the protocol loop."""

_log = logging.getLogger(__name__)

MOST_FOLDERS = 1000
"""Maximum number of workspace folders searched for nested projects."""

MOST_LISTED = 100
"""Maximum number of indexes of a workspace that are listed and kept open."""

FRESH = 5.0
"""Seconds for which the list of nested indexes is cached: every keystroke in a file without recordings needs it."""

PATIENCE = 0.5
"""Seconds to wait for a locked index: all other queries wait too."""


class IndexChoice:
    """The indexes to query: only `fixed` if the user named one, else indexes around the document and the `roots`.

    `roots` returns the workspace folders, and `set_for` the index that the settings name for a folder. `clock` returns
    monotonic seconds.
    """

    def __init__(
        self,
        fixed: Path | None,
        roots: Callable[[], Sequence[Path]],
        clock: Callable[[], float] = time.monotonic,
        set_for: Callable[[Path], Path | None] = lambda root: None,
    ) -> None:
        self.fixed = fixed
        self._roots = roots
        self._clock = clock
        self._set_for = set_for
        self._inside: dict[Path, tuple[float, list[Path]]] = {}

    def roots(self) -> list[Path]:
        """Return the real paths of the workspace folders."""
        return [Path(os.path.realpath(root)) for root in self._roots()]

    def upwards(self, document: Path) -> list[Path]:
        """Return the indexes above a document (real path) and above the workspace folders, likeliest first.

        A document inside a workspace folder belongs to the nearest index above it. Any other document (an installed
        library, a system header) was most likely reached from the workspace, so the workspace's index comes first.
        """
        if self.fixed is not None:
            return [self.fixed]
        roots = self.roots()
        inside = any(document.is_relative_to(root) for root in roots)
        starts = [document.parent, *roots] if inside else [*roots, document.parent]
        return list(dict.fromkeys(filter(None, map(self.of_folder, starts))))

    def of_folder(self, folder: Path) -> Path | None:
        """Return the index that the settings name for a folder, else the nearest one upwards."""
        from framedex.index import find_index

        return self._set_for(folder) or find_index(folder)

    def of_workspace(self) -> dict[Path, Path]:
        """Return the indexes of the workspace folders and of nested projects, each with its folder."""
        if self.fixed is not None:
            return {self.fixed: next(iter(self.roots()), self.fixed.parent)}
        of_roots = ((self.of_folder(root), root) for root in self.roots())
        inside = {path: path.parent.parent for path in self.inside_workspace()}
        return inside | {path: root for path, root in of_roots if path is not None}

    def inside_workspace(self) -> Iterator[Path]:
        """Yield the indexes of projects nested in the workspace folders; the search is lazy."""
        if self.fixed is None:
            for root in self.roots():
                yield from self._indexes_in(root)

    def _indexes_in(self, root: Path) -> list[Path]:
        known = self._inside.get(root)
        if known is None or self._clock() - known[0] >= FRESH:
            found = indexes_in(root)
            known = self._inside[root] = self._clock(), found
        return known[1]


def indexes_in(root: Path) -> list[Path]:
    """Return the indexes of the projects below a folder, newest first."""
    paths = (project / ".framedex" / "index.db" for project in projects_in(root))
    states = ((_state(path), path) for path in paths)
    return [path for _, path in sorted((-state[1], path) for state, path in states if state is not None)]


def projects_in(root: Path) -> list[Path]:
    """Return the folders with recordings one or two levels below a folder; hidden folders and links are skipped."""
    found = []
    left = MOST_FOLDERS
    level = [root]
    for _ in range(2):
        level = list(islice((folder for parent in level for folder in _folders(parent)), left))
        left -= len(level)
        found += [folder for folder in level if os.path.isdir(folder / ".framedex")]  # noqa: PTH112 - Path's raises
    return found


def _folders(parent: Path) -> Iterator[Path]:
    try:
        with os.scandir(parent) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    yield parent / entry.name
    except OSError:
        return


class Indexes:
    """The indexes of a session: called from the protocol loop, queried on the thread that owns them."""

    def __init__(
        self,
        choice: IndexChoice,
        report: Report,
        settings_for: Callable[[Path], FolderSettings] = lambda path: FolderSettings(),
        beside: Indexes | None = None,
    ) -> None:
        """`settings_for` returns the settings that apply to an index.

        `beside` is another instance with its own thread. Both share the indexes being written and the problems already
        reported.
        """
        self._choice = choice
        self._report = report
        self._settings_for = settings_for
        self._opened_by: dict[Path, tuple[Mapping[str, str], Counted]] = {}
        self.filled: set[Path] = beside.filled if beside else set()
        """The indexes that this session is writing: they are not reported as empty or outdated."""
        self.outdated: dict[Path, None] = beside.outdated if beside else {}
        """Indexes from earlier versions that were not reported yet: the server may rebuild them."""
        self.kept: set[Path] = beside.kept if beside else set()
        """Outdated indexes that were already rebuilt or reported, or whose rebuild failed."""
        self.at_close: list[Callable[[], None]] = []
        """Callbacks to run after the last query."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="framedex-index")
        self._open: dict[Path, Index] = {}
        self._used: dict[Path, None] = {}
        self._states: dict[Path, tuple[int, ...] | None] = {}
        self._present: set[Path] | None = None
        self._told: set[tuple[Path | None, tuple[int, int] | None, str]] = beside._told if beside else set()

    async def ask(
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
        tell = self._telling()
        return await self.run(lambda: self._answer(document, question, likeliest, tell))

    async def ask_of(self, folder: Path, question: Callable[[Index], Answer]) -> Answer | None:
        """Return the result of `question` on the index of a folder, whatever it contains; None if there is no index."""
        tell = self._telling()
        return await self.run(lambda: self._of_folder(folder, question, tell))

    async def each(self, question: Callable[[Index], Answer]) -> list[tuple[Path, Path, Answer | FramedexError]]:
        """Return the folder, path and result of `question` for every index of the workspace.

        If an index is unusable, its error replaces the result.
        """
        return await self.run(lambda: self._each(question))

    async def problem_of(self, document: Path) -> tuple[Path, FramedexError] | None:
        """Return a folder and the error that makes the index of `document` unusable; None if it is usable or missing.

        The document belongs to the nearest index above it or the workspace. If there is none above, one usable index
        inside the workspace is enough.
        """
        return await self.run(lambda: self._problem_of(document))

    async def open_early(self) -> None:
        """Open the first workspace folder's index: makes the first query fast and reports problems at once."""
        folder = next(iter(self._choice.roots()), None)
        if folder is not None:
            await self.ask(folder / "any document", lambda index: None)

    async def that_know(self, documents: Iterable[str]) -> dict[Path, list[str]]:
        """Return the indexes around the source files, each with the files that it contains; report no problems."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._that_know, list(documents))

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """Return the result of `work`, run on the index thread: for file access off the protocol loop."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    @property
    def is_fixed(self) -> bool:
        """Whether the user has named the index."""
        return self._choice.fixed is not None

    def of_folder(self, folder: Path) -> Path | None:
        """Return the index of a folder; None if it has none yet."""
        return self._choice.fixed or self._choice.of_folder(folder)

    def have_changed(self) -> bool:
        """Return whether another process wrote to an open index, or a workspace folder got one, since the last call.

        For the index thread only.
        """
        states = {path: self._ask(path, lambda index: index.state(), None) for path in list(self._open)}
        before, self._states = self._states, states
        present = self._of_roots()
        appeared, self._present = present - (present if self._present is None else self._present), present
        return bool(appeared) or any(before.get(path, state) != state for path, state in states.items())

    def captures(self, path: Path) -> set[Path]:
        """Return the capture folders in the index at `path`; empty if it is unusable. For the index thread only."""
        return {Path(row.path) for row in self._ask(path, lambda index: index.captures(), None) or ()}

    def close(self) -> None:
        """Stop accepting queries; close the indexes after the running query."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        Thread(target=self._close_indexes, name="framedex-closing").start()

    def _close_indexes(self) -> None:
        self._thread.shutdown(wait=True)
        for call in self.at_close:
            call()
        for path in list(self._open):
            self._forget(path)

    def _telling(self) -> Report:
        """Return a function that reports a problem from the index thread."""
        loop = asyncio.get_running_loop()

        def tell(error: FramedexError) -> None:
            loop.call_soon_threadsafe(self._report, error)

        return tell

    def _answer(
        self, document: Path, question: Callable[[Index], Answer], likeliest: Path | None, tell: Report
    ) -> Answer | None:
        near = [*filter(None, [likeliest]), *self._choice.upwards(document)]
        first: Path | None = None
        path: Path | None = None
        answered = dict.fromkeys([*self._open, *self._used])  # a removed index may have been closed already
        removed = [path for path in answered if path not in near and self._is_removed(path, document)]
        known = [path for path in self._used if path not in near]
        for path in chain(near, known, self._choice.inside_workspace()):
            # The user did not name indexes further away, so their problems are only logged.
            whom = tell if path in near else None
            is_recorded = self._ask(path, lambda index: index.file(str(document)).is_recorded(), whom)
            if is_recorded:
                self._used = dict.fromkeys([path, *self._used])
                return self._ask(path, question, tell)
            if first is None and is_recorded is not None:
                first = path
            elif path not in near and path not in known:
                self._forget(path)  # otherwise every index of a large workspace would stay open
        if path is None and not removed:
            self._tell_once(None, _nothing_recorded(), tell)
        for each in removed:
            self._forget(each)
            self._tell_once(each, _removed(each), tell)
        return self._ask(first, question, tell) if first is not None else None

    def _is_removed(self, path: Path, document: Path) -> bool:
        """Return whether an index is missing now that was above the document or the workspace."""
        project = path.parent.parent
        is_above = any(each.is_relative_to(project) for each in (document, *self._choice.roots()))
        return is_above and _state(path) is None

    def _of_folder(self, folder: Path, question: Callable[[Index], Answer], tell: Report) -> Answer | None:
        path = self.of_folder(folder)
        return self._ask(path, question, tell) if path is not None else None

    def _of_roots(self) -> set[Path]:
        return set(filter(None, map(self._choice.of_folder, self._choice.roots())))

    def _each(self, question: Callable[[Index], Answer]) -> list[tuple[Path, Path, Answer | FramedexError]]:
        if self._present is None:
            self._present = self._of_roots()
        answers: list[tuple[Path, Path, Answer | FramedexError]] = []
        for path, folder in islice(self._choice.of_workspace().items(), MOST_LISTED):
            try:
                answers.append((folder, path, self._asked(path, question)))
            except FramedexError as error:
                if _state(path) is not None and not self._is_being_filled(path, error):
                    answers.append((folder, path, error))
        return answers

    def _problem_of(self, document: Path) -> tuple[Path, FramedexError] | None:
        nearest = next(iter(self._choice.upwards(document)), None)
        if nearest is not None:
            problem = self._problem(nearest)
            starts = (document.parent, *self._choice.roots())
            folder = next((each for each in starts if self.of_folder(each) == nearest), nearest.parent.parent)
            return (folder, problem) if problem is not None else None
        inside = list(islice(filter(_state, self._choice.inside_workspace()), MOST_LISTED))
        problems = [problem for path in inside if (problem := self._problem(path))]
        return (inside[0].parent.parent, problems[0]) if problems and len(problems) == len(inside) else None

    def _problem(self, path: Path) -> FramedexError | None:
        try:
            self._asked(path, lambda index: None)
        except FramedexError as error:
            return None if self._is_being_filled(path, error) else error
        return None

    def _that_know(self, documents: Sequence[str]) -> dict[Path, list[str]]:
        indexes = {
            path: None for document in documents for path in (*self._choice.upwards(Path(document)), *self._used)
        }
        known = {
            path: self._ask(path, lambda index: list(filter(index.sources.knows, documents)), None) for path in indexes
        }
        return {path: known_there for path, known_there in known.items() if known_there}

    def _ask(self, path: Path, question: Callable[[Index], Answer], tell: Report | None) -> Answer | None:
        """Return the result of `question` on the index at `path`; None if it is unusable, which is reported once."""
        try:
            answer = self._asked(path, question)
            if path in self._open and self._open[path].was_changed:
                from framedex.index.file.database import changed_by_others

                self._tell_once(path, changed_by_others(path), tell)
            return answer
        except OverflowError as error:  # a number outside SQLite's integer range
            _log.info("%s", error)
        except FramedexError as error:
            if not self._is_being_filled(path, error) and not self._is_to_be_renewed(path, error):
                self._tell_once(path, error, tell)
        return None

    def _asked(self, path: Path, question: Callable[[Index], Answer]) -> Answer:
        """Return the result of `question` on the index at `path`. Raises FramedexError if it is unusable."""
        from framedex.index.file.database import LockedIndexError

        was_open = path in self._open
        try:
            index = self._current(path)
            with index.reading():
                return question(index)
        except LockedIndexError:
            raise
        except FramedexError:
            self._forget(path)
            if not was_open:
                raise
        # Perhaps only the open connection broke because the file was rewritten in place: reopen and retry once.
        return self._asked(path, question)

    def _is_being_filled(self, path: Path, error: FramedexError) -> bool:
        from framedex.index.file.database import EmptyIndexError, OutdatedIndexError

        return isinstance(error, EmptyIndexError | OutdatedIndexError) and path in self.filled

    def _is_to_be_renewed(self, path: Path, error: FramedexError) -> bool:
        from framedex.index.file.database import OutdatedIndexError

        if not isinstance(error, OutdatedIndexError) or path in self.kept or self.is_fixed:
            return False
        self.outdated[path] = None
        return True

    def _current(self, path: Path) -> Index:
        """Return the open index at `path`; reopen it if its file was replaced or its settings changed."""
        index = self._open.get(path)
        settings = self._settings_for(path)
        wanted = settings.links, settings.captures
        if index is not None and wanted == self._opened_by[path] and not index.replaced():
            return index
        self._forget(path)
        from framedex.index import Index

        self._open[path] = Index.open(path, PATIENCE, settings.links, counted=settings.captures)
        self._opened_by[path] = wanted
        return self._open[path]

    def _forget(self, path: Path) -> None:
        index = self._open.pop(path, None)
        if index is not None:
            index.close()

    def _tell_once(self, path: Path | None, error: FramedexError, tell: Report | None) -> None:
        """Report a problem, unless it was reported for the same state of the file."""
        if tell is None:
            _log.info("%s", error)
            return
        told = (path, _state(path) if path else None, error.message)
        if told not in self._told:
            self._told.add(told)
            _log.warning("%s", error)
            tell(error)


def _state(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


class NothingRecordedError(FramedexError):
    """No index exists yet. This is usual in a fresh project, so it is logged without a pop-up."""


def _removed(path: Path) -> FramedexError:
    return FramedexError(
        f"The index {printable(str(path))} is gone.",
        "`framedex index` rebuilds it from the captures; the server notices.",
    )


def _nothing_recorded() -> NothingRecordedError:
    return NothingRecordedError(
        "Nothing has been recorded for this workspace: there is no .framedex/index.db in it or above it.",
        "Record a program with `framedex run SCRIPT`, then `framedex index`; the server notices.",
    )
