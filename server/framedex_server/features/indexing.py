"""Automatic indexing of recordings and saved files, and the commands that index, rebuild and record.

A finished recording of the workspace is indexed automatically (`auto-index`). An indexed source file is parsed again
when it is saved or changed outside the editor. Both happen in a separate process (`jobs.Worker`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcRequestCancelled
from pygls.lsp.server import LanguageServer

from framedex.errors import FramedexError
from framedex.indexplace import check_index_place
from framedex_server.answers.progress import with_progress
from framedex_server.answers.session import Session
from framedex_server.arrivals import EVERY, Arrivals
from framedex_server.documents.open_documents import path_of
from framedex_server.jobs import Worker, record
from framedex_server.protocol import INDEX_COMMAND, REBUILD_COMMAND, RECORD_COMMAND

_log = logging.getLogger(__name__)


def register(server: LanguageServer, session: Session) -> None:
    """Register automatic indexing, indexing on save, and the commands."""
    indexing = Indexing(server, session)
    session.at_start.append(indexing.watch)
    session.at_end.append(indexing.end)
    session.at_new_recordings.append(indexing.look_now)
    session.at_changed_sources.append(indexing.refresh)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None:
            await indexing.refresh([path])

    @server.command(INDEX_COMMAND)
    async def index(*uris: str) -> dict[str, Any] | None:
        """Index the captures and all sources of the project around a document or folder; default: the workspace."""
        return await indexing.index_project(_folder(session, uris))

    @server.command(REBUILD_COMMAND)
    async def rebuild(*uris: str) -> dict[str, Any] | None:
        """Rebuild the index of the project around a document or folder; default: the workspace's."""
        return await indexing.index_project(_folder(session, uris), anew=True)

    @server.command(RECORD_COMMAND)
    async def record_program(*uris: str) -> int | None:
        """Run a script under the recorder; return its exit status."""
        path = _path(uris)
        return await indexing.record(Path(path)) if path is not None else None


class Indexing:
    """The background work of one session."""

    def __init__(self, server: LanguageServer, session: Session) -> None:
        self._server = server
        self._session = session
        self._worker = Worker(session.roots)
        self._arrivals = Arrivals()
        self._saved: dict[str, None] = {}
        self._refreshing: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._has_ended = False
        self._woken = asyncio.Event()

    async def watch(self) -> None:
        """Start polling for finished recordings, unless the client has already disconnected."""
        if self._has_ended:
            return
        self._watching = asyncio.create_task(self._watch())

    def look_now(self) -> None:
        """Poll at once: a file in a folder of recordings changed."""
        self._woken.set()

    def end(self) -> None:
        """Stop all background work."""
        self._has_ended = True
        if self._watching is not None:
            self._watching.cancel()
        self._worker.close()

    async def refresh(self, paths: Iterable[str]) -> None:
        """Parse indexed source files again; files named meanwhile form the next batch."""
        self._saved |= dict.fromkeys(paths)
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._refresh())
        await asyncio.shield(self._refreshing)

    async def index_project(self, folder: Path, anew: bool = False) -> dict[str, Any] | None:
        """Update the index of the project around a folder, with all of its sources; None if that failed.

        `anew`: rebuild the index, even if an index exists.
        """
        if not folder.is_dir():
            self._session.report(FramedexError(f"There is no folder {folder}.", "Open an existing folder."))
            return None
        index = await self._session.run(lambda: self._session.indexes.of_folder(folder))
        index = index or folder / ".framedex" / "index.db"
        folders = dict.fromkeys((index.parent.parent, folder))
        try:
            captures = await self._session.run(lambda: [each for above in folders for each in _captures(above)])
        except FramedexError as error:
            self._session.report(error)
            return None
        return await self._index(index, captures, lazy=False, do="rebuild" if anew else "index")

    async def record(self, script: Path) -> int | None:
        """Run a script under the recorder, in the workspace folder around it, which also gets the capture."""
        roots = [root for root in self._session.roots() if script.is_relative_to(root)]
        folder = max(roots, key=lambda root: len(root.parts), default=script.parent)

        def told(line: str) -> None:
            self._server.window_log_message(types.LogMessageParams(types.MessageType.Log, line))

        title = f"framedex: recording {script.name}"
        return await with_progress(self._server, title, lambda _: record(script, folder, told, self._session.roots()))

    async def _watch(self) -> None:
        while True:
            try:
                await self._look()
            except Exception:  # an error must not end the polling
                _log.exception("Looking for recordings that have ended")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), EVERY)
            self._woken.clear()

    async def _look(self) -> None:
        for index, is_wanted in (await self._session.run(self._outdated)).items():
            if not is_wanted:
                await self._session.indexes.ask_of(index.parent.parent, lambda index: None)  # reports it
                continue
            with suppress(JsonRpcRequestCancelled):
                await self._index(index, (), lazy=True)
        for index, captures in (await self._session.run(self._ended)).items():
            with suppress(JsonRpcRequestCancelled):  # a cancelled progress skips only these captures
                await self._index(index, captures, lazy=True)
        if await self._session.have_changed():
            self._session.refresh_views()

    def _outdated(self) -> dict[Path, bool]:
        """Return the indexes from earlier versions, each with whether to rebuild it automatically. Tried once."""
        indexes = self._session.indexes
        found = {index: self._session.settings_at(index).auto_index for index in indexes.outdated}
        indexes.outdated.clear()
        indexes.kept.update(found)
        return found

    def _ended(self) -> dict[Path, list[Path]]:
        """Return the captures to index automatically, by index."""
        indexes = self._session.indexes
        if indexes.is_fixed:
            return {}  # the user who named an index decides about its contents

        def known(project: Path) -> set[Path]:
            path = indexes.of_folder(project)
            return indexes.captures(path) if path is not None else set()

        wanted = [root for root in self._session.roots() if self._session.settings_at(root).auto_index]
        by_index: dict[Path, list[Path]] = {}
        for project, captures in self._arrivals.ended(wanted, known).items():
            index = indexes.of_folder(project) or project / ".framedex" / "index.db"
            by_index.setdefault(index, []).extend(captures)
        return by_index

    async def _index(
        self, index: Path, captures: Sequence[Path], lazy: bool, do: str = "index"
    ) -> dict[str, Any] | None:
        settings = self._session.folder_settings_at(index)
        request = {
            "do": do,
            "index": str(index),
            "captures": [str(capture) for capture in captures],
            "sources": [str(source) for source in settings.sources],
            "rules": [[rule.before, str(rule.after)] for rule in settings.path_map],
            "lazy": lazy,
        }
        self._session.indexes.filled.add(index)
        try:
            self._check_place(index)
            result = await with_progress(
                self._server, "framedex: indexing", lambda told: self._worker.run(request, told)
            )
        except FramedexError as error:
            self._session.report(error)
            return None
        finally:
            self._session.indexes.filled.discard(index)
        for refused in result["refused"]:
            _log.warning("not indexed: %s", refused)
        self._session.refresh_views()
        return result

    async def _refresh(self) -> None:
        while self._saved:
            paths, self._saved = list(self._saved), {}
            for index, files in (await self._session.indexes.that_know(paths)).items():
                request = {"do": "refresh", "index": str(index), "files": files}
                try:
                    self._check_place(index)
                    await self._worker.run(request, lambda task, done, total: None)
                except FramedexError as error:
                    self._session.report(error)
                else:
                    self._session.refresh_views()

    def _check_place(self, index: Path) -> None:
        """Raise FramedexError if links in a workspace lead its index elsewhere, and no user has named that path."""
        named = {self._session.folder_settings_at(root).index for root in self._session.roots()}
        if not self._session.indexes.is_fixed and index not in named:
            check_index_place(index)


def _captures(project: Path) -> list[Path]:
    from framedex.captures import capture_folders, captures_below

    return capture_folders(captures_below(project))


def _path(uris: Sequence[object]) -> str | None:
    """Return the path of the first argument, which may have any type."""
    uri = next(iter(uris), None)
    return path_of(uri) if isinstance(uri, str) else None


def _folder(session: Session, uris: Sequence[object]) -> Path:
    path = _path(uris)
    if path is None:
        return next(iter(session.roots()), Path.cwd())
    return Path(path) if Path(path).is_dir() else Path(path).parent
