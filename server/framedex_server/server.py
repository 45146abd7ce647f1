"""The language server's wiring and life cycle: `framedex serve` ends up in `main`.

Whatever happens to the index, the server answers every request; whatever happens to the client, the server ends with
it.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter
from pygls.uris import to_fs_path

from framedex.errors import FramedexError
from framedex_server import features, parent
from framedex_server.documents.open_documents import OpenDocuments
from framedex_server.features.session import Session
from framedex_server.indexes import IndexChoice, Indexes, NothingRecordedError
from framedex_server.protocol import AnsweringProtocol

VERSION = "0.1.0"
"""As in pyproject.toml (a test compares them): asking importlib.metadata would cost a tenth of the start-up."""

_log = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve one client over stdin and stdout until it leaves; the exit status is 0 if it said `shutdown` first."""
    options = _options(arguments)
    return serve(options.index, options.log_file)


def serve(index: Path | None = None, log_file: Path | None = None) -> int:
    """Serve one client over stdin and stdout; `index` is used instead of the nearest one upwards from each document."""
    _log_to(log_file)
    source, sink = _protocol_streams()
    server = FramedexServer(index)
    # What start-up made lives as long as the process: keep the collector from walking it while a client waits.
    gc.freeze()
    gc.enable()
    server.start_io(source, sink)
    return 0 if server.protocol.was_shut_down else 1


class FramedexServer(LanguageServer):
    """A server for one client: its documents, its indexes, and the features over them."""

    protocol: AnsweringProtocol

    def __init__(self, index: Path | None = None) -> None:
        # Full synchronisation: pygls' incremental one splits lines at form feeds and U+2028, as no editor does, and
        # would let the text drift from what the client shows.
        super().__init__(
            "framedex",
            VERSION,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            protocol_cls=AnsweringProtocol,
            converter_factory=default_converter,
        )
        self.documents = OpenDocuments(self._text_of, self._language_of, self._roots)
        self.indexes = Indexes(IndexChoice(index, self._roots), self._report)
        self._register_life_cycle()
        self.session = Session(self, self.indexes, self.documents)
        for register in features.ALL:
            register(self, self.session)

    def report_server_error(self, error: Exception, source: type[PyglsError] | type[JsonRpcException]) -> None:
        """Log what went wrong inside; pygls would pop up a window in the editor for every malformed message."""
        _log.error("%s: %s", source.__name__, error)

    def _register_life_cycle(self) -> None:
        @self.feature(types.INITIALIZE)
        def initialize(params: types.InitializeParams) -> None:
            self.session.configure(params.initialization_options)

        @self.feature(types.INITIALIZED)
        async def initialized(_: types.InitializedParams) -> None:
            if self.process_id is not None:
                # No clean end is possible: the thread that reads stdin cannot be woken.
                parent.call_when_dead(self.process_id, lambda: os._exit(1))
            # Opening the index now makes the first hover fast, and says at once if there is something wrong with it.
            await self.indexes.open_early()

        @self.feature(types.TEXT_DOCUMENT_DID_OPEN)
        async def opened(params: types.DidOpenTextDocumentParams) -> None:
            self.documents.opened(params.text_document.uri)
            for look in self.session.at_document:
                await look(params.text_document.uri)

        @self.feature(types.TEXT_DOCUMENT_DID_CLOSE)
        def closed(params: types.DidCloseTextDocumentParams) -> None:
            self.documents.closed(params.text_document.uri)

        @self.feature(types.SHUTDOWN)
        def shut_down(_: None) -> None:
            self.indexes.close()

    def _report(self, error: FramedexError) -> None:
        if isinstance(error, NothingRecordedError):
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, f"framedex: {error}"))
        else:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"framedex: {error}"))

    def _roots(self) -> list[Path]:
        workspace = self.workspace
        uris = [folder.uri for folder in workspace.folders.values()] or [workspace.root_uri or ""]
        return [Path(path) for path in map(to_fs_path, uris) if path]

    def _text_of(self, uri: str) -> str | None:
        document = self.workspace.text_documents.get(unquote(uri))
        return document.source if document is not None else None

    def _language_of(self, uri: str) -> str | None:
        document = self.workspace.text_documents.get(unquote(uri))
        return document.language_id if document is not None else None


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="framedex-server", description="framedex's language server, over stdio")
    parser.add_argument("--index", type=Path, help="the index to use; default: the nearest .framedex/index.db upwards")
    parser.add_argument("--stdio", action="store_true", help="accepted because editors pass it; it is what is used")
    parser.add_argument("--log-file", type=Path, help="where to write the server's log; default: stderr")
    return parser.parse_args(arguments)


def _log_to(log_file: Path | None) -> None:
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s: %(message)s", filename=log_file
    )
    # pygls warns of every request that is cancelled after it was answered, which editors do all the time.
    logging.getLogger("pygls").setLevel(logging.ERROR)


def _protocol_streams() -> tuple[BinaryIO, BinaryIO]:
    """The process's stdin and stdout for the protocol alone: other prints go to stderr, other reads get nothing."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink
