"""Automatic indexing of recordings and saved files, and the commands that index, rebuild and record.

A finished recording of the workspace is indexed automatically (`auto-index`). An indexed source file is parsed again
when it is saved or changed outside the editor. Both happen in a separate process (`jobs.IndexingWorker`), and the
client shows the progress. `framedex/recorder` returns whether this installation can record programs, else the reason
and the remedy.
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

from framedex.base import nativepart
from framedex.base.errors import FramedexError
from framedex.base.folders import check_index_path
from framedex_server.answers.progress import run_with_progress
from framedex_server.answers.requests import Json
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import to_path
from framedex_server.jobs import POLL_INTERVAL_S, FinishedCaptures, IndexingWorker, record_script
from framedex_server.protocol import INDEX_COMMAND, REBUILD_COMMAND, RECORD_COMMAND

_log = logging.getLogger(__name__)


def register(server: LanguageServer, session: Session) -> None:
    """Register automatic indexing, indexing on save, and the commands."""
    indexing = BackgroundIndexing(server, session)
    session.on_start.append(indexing.start_polling)
    session.on_end.append(indexing.end)
    session.on_recordings_change.append(indexing.poll_now)
    session.on_sources_change.append(indexing.refresh)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def on_save(params: types.DidSaveTextDocumentParams) -> None:
        path = to_path(params.text_document.uri)
        if path is not None:
            await indexing.refresh([path])

    @server.command(INDEX_COMMAND)
    async def index(*uris: str) -> dict[str, Any] | None:
        """Index the captures and all sources of the project around a document or folder; default: the workspace."""
        return await indexing.index_project(_parse_folder(session, uris))

    @server.command(REBUILD_COMMAND)
    async def rebuild(*uris: str) -> dict[str, Any] | None:
        """Rebuild the index of the project around a document or folder; default: the workspace's."""
        return await indexing.index_project(_parse_folder(session, uris), rebuild=True)

    @server.command(RECORD_COMMAND)
    async def record_program(*uris: str) -> int | None:
        """Run a script under the recorder; return its exit status."""
        path = _parse_path(uris)
        return await indexing.record_script(Path(path)) if path is not None else None


class BackgroundIndexing:
    """The background work of one session."""

    def __init__(self, server: LanguageServer, session: Session) -> None:
        self._server = server
        self._session = session
        self._worker = IndexingWorker(session.roots)
        self._arrivals = FinishedCaptures()
        self._changed_paths: dict[str, None] = {}
        self._refreshing: asyncio.Task[None] | None = None
        self._polling: asyncio.Task[None] | None = None
        self._has_ended = False
        self._wake = asyncio.Event()

    async def start_polling(self) -> None:
        """Start polling for finished recordings, unless the client has already disconnected."""
        if self._has_ended:
            return
        self._polling = asyncio.create_task(self._poll_forever())

    def poll_now(self) -> None:
        """Poll at once: a file in a folder of recordings changed."""
        self._wake.set()

    def end(self) -> None:
        """Stop all background work."""
        self._has_ended = True
        if self._polling is not None:
            self._polling.cancel()
        self._worker.close()

    async def refresh(self, paths: Iterable[str]) -> None:
        """Parse indexed source files again; files named meanwhile form the next batch."""
        self._changed_paths |= dict.fromkeys(paths)
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._refresh_changed())
        await asyncio.shield(self._refreshing)

    async def index_project(self, folder: Path, rebuild: bool = False) -> dict[str, Any] | None:
        """Update the index of the project around a folder, with all of its sources; None if that failed.

        With `rebuild`, build the index from scratch.
        """
        if not folder.is_dir():
            self._session.report(FramedexError(f"The folder {folder} does not exist.", "Open an existing folder."))
            return None
        index = await self._session.run(lambda: self._session.indexes.find_for_folder(folder))
        index = index or folder / ".framedex" / "index.db"
        folders = dict.fromkeys((index.parent.parent, folder))
        try:
            captures = await self._session.run(lambda: [each for above in folders for each in _find_captures(above)])
        except FramedexError as error:
            self._session.report(error)
            return None
        return await self._run_indexer(index, captures, lazy=False, do="rebuild" if rebuild else "index")

    async def record_script(self, script: Path) -> int | None:
        """Run a script under the recorder, in the workspace folder around it, which also gets the capture."""
        roots = [root for root in self._session.roots() if script.is_relative_to(root)]
        folder = max(roots, key=lambda root: len(root.parts), default=script.parent)

        def log_line(line: str) -> None:
            self._server.window_log_message(types.LogMessageParams(types.MessageType.Log, line))

        title = f"framedex: recording {script.name}"
        return await run_with_progress(
            self._server, title, lambda _: record_script(script, folder, log_line, self._session.roots())
        )

    async def _poll_forever(self) -> None:
        while True:
            try:
                await self._poll()
            except Exception:  # an error must not end the polling
                _log.exception("Polling for finished recordings failed")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), POLL_INTERVAL_S)
            self._wake.clear()

    async def _poll(self) -> None:
        for index, is_wanted in (await self._session.run(self._pop_outdated_indexes)).items():
            if not is_wanted:
                await self._session.indexes.query_folder(index.parent.parent, lambda index: None)  # reports it
                continue
            with suppress(JsonRpcRequestCancelled):
                await self._run_indexer(index, (), lazy=True)
        for index, captures in (await self._session.run(self._find_finished_captures)).items():
            with suppress(JsonRpcRequestCancelled):  # a cancelled progress skips only these captures
                await self._run_indexer(index, captures, lazy=True)
        if await self._session.have_changed():
            self._session.refresh_views()

    def _pop_outdated_indexes(self) -> dict[Path, bool]:
        """Return each index from an earlier version once, with whether to rebuild it automatically."""
        outdated = self._session.indexes.take_outdated()
        return {index: self._session.settings_for(index).auto_index for index in outdated}

    def _find_finished_captures(self) -> dict[Path, list[Path]]:
        """Return the captures to index automatically, by index."""
        indexes = self._session.indexes
        if indexes.is_fixed:
            return {}  # the user who named an index decides about its contents

        def list_indexed_captures(project: Path) -> set[Path]:
            path = indexes.find_for_folder(project)
            return indexes.list_captures(path) if path is not None else set()

        wanted = [root for root in self._session.roots() if self._session.settings_for(root).auto_index]
        by_index: dict[Path, list[Path]] = {}
        for project, captures in self._arrivals.find_finished(wanted, list_indexed_captures).items():
            index = indexes.find_for_folder(project) or project / ".framedex" / "index.db"
            by_index.setdefault(index, []).extend(captures)
        return by_index

    async def _run_indexer(
        self, index: Path, captures: Sequence[Path], lazy: bool, do: str = "index"
    ) -> dict[str, Any] | None:
        settings = self._session.folder_settings_for(index)
        request = {
            "do": do,
            "index": str(index),
            "captures": [str(capture) for capture in captures],
            "sources": [str(source) for source in settings.sources],
            "rules": [[rule.before, str(rule.after), rule.is_outside] for rule in settings.path_map],
            "lazy": lazy,
        }
        self._session.indexes.being_written.add(index)
        try:
            self._check_location(index)
            result = await run_with_progress(
                self._server, "framedex: indexing", lambda report: self._worker.run(request, report)
            )
        except FramedexError as error:
            self._session.report(error)
            return None
        finally:
            self._session.indexes.being_written.discard(index)
        for refused in result["refused"]:
            _log.warning("not indexed: %s", refused)
        self._session.refresh_views()
        return result

    async def _refresh_changed(self) -> None:
        while self._changed_paths:
            paths, self._changed_paths = list(self._changed_paths), {}
            for index, files in (await self._session.indexes.indexes_containing(paths)).items():
                request = {"do": "refresh", "index": str(index), "files": files}
                try:
                    self._check_location(index)
                    await self._worker.run(request, lambda task, done, total: None)
                except FramedexError as error:
                    self._session.report(error)
                else:
                    self._session.refresh_views()

    def _check_location(self, index: Path) -> None:
        """Raise FramedexError if links in a workspace lead its index elsewhere and the user did not name that path."""
        named = {self._session.folder_settings_for(root).index for root in self._session.roots()}
        if not self._session.indexes.is_fixed and index not in named:
            check_index_path(index)


def _find_captures(project: Path) -> list[Path]:
    from framedex.captures import capture_folders, project_captures_folder

    return capture_folders(project_captures_folder(project))


def _parse_path(uris: Sequence[object]) -> str | None:
    """Return the path of the first argument, which may have any type."""
    uri = next(iter(uris), None)
    return to_path(uri) if isinstance(uri, str) else None


def _parse_folder(session: Session, uris: Sequence[object]) -> Path:
    path = _parse_path(uris)
    if path is None:
        return next(iter(session.roots()), Path.cwd())
    return Path(path) if Path(path).is_dir() else Path(path).parent


def register_recorder(server: LanguageServer, session: Session) -> None:
    """Register `framedex/recorder`."""

    @server.feature("framedex/recorder")
    async def recorder(_: Any) -> Json:
        return await session.run(_build_recorder_json)


def _build_recorder_json() -> Json:
    """Return the reply as JSON; `isSupported` says whether another installation on this system could record."""
    try:
        nativepart._native  # noqa: B018 - the import is the check
    except nativepart.NoNativePartError as error:
        is_supported = nativepart.name_unsupported_system() is None
        return {"canRecord": False, "isSupported": is_supported, "message": error.message, "remedy": error.remedy}
    return {"canRecord": True, "isSupported": True, "message": None, "remedy": None}
