"""Wiring and life cycle of the language server: `framedex serve` runs `serve` or `serve_clients`.

The server answers every request, even if the index is damaged or missing, and ends with its client.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from framedex.base.errors import FramedexError
from framedex.base.version import VERSION
from framedex_server import features
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import OpenDocuments
from framedex_server.indexes import IndexChoice, Indexes, NothingRecordedError
from framedex_server.logs import start_log
from framedex_server.markup import break_links
from framedex_server.protocol import FramedPipe, ReplyingProtocol, message_converter
from framedex_server.settings import Configuration
from framedex_server.sockets import Address, listen_on_port, listen_on_socket

_log = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve with the options of the command line; return the exit status.

    Over stdio, the exit status is 0 only if the client sent `shutdown` before `exit`.
    """
    options = _parse_options(arguments)
    address = options.tcp or options.socket
    if address is not None:
        return serve_clients(address, options.index, options.log_file)
    return serve(options.index, options.log_file)


def serve(index: Path | None, log_file: Path | None) -> int:
    """Serve one client over stdin and stdout; `index` replaces the nearest index above each document."""
    start_log(log_file)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # asyncio would stop the loop and then wait for the thread that reads stdin, which cannot be interrupted.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    source, sink = _reserve_protocol_streams()
    server = FramedexServer(index)
    _freeze_startup_objects()
    server.start_io(FramedPipe(source, server.protocol.may_read), sink)  # type: ignore[arg-type]  # has what pygls calls
    return 0 if server.protocol.was_shut_down else 1


def serve_clients(address: Address | Path, index: Path | None, log_file: Path | None) -> int:
    """Serve clients, each in its own session, until SIGINT or SIGTERM.

    `address` is a port or the path of a Unix socket. stderr shows the address and the token. The exit status is 1 if
    the server cannot listen there.
    """
    start_log(log_file)
    _freeze_startup_objects()

    def print_line(text: str) -> None:
        print(f"framedex: {text}", file=sys.stderr, flush=True)

    async def listen() -> None:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
        make_server = partial(FramedexServer, index)
        try:
            if isinstance(address, Address):
                await listen_on_port(address, make_server, print_line)
            else:
                await listen_on_socket(address, make_server, print_line)
        finally:
            # asyncio.run cancels the remaining tasks next and would log a traceback for each.
            asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)

    try:
        asyncio.run(listen())
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 0
    except FramedexError as error:
        print_line(f"{error.message}\n  {error.remedy}")
    return 1


class FramedexServer(LanguageServer):
    """A server for one client: its documents, its indexes, and the features over them."""

    protocol: ReplyingProtocol

    def __init__(self, index: Path | None = None) -> None:
        # Full synchronisation: pygls' incremental one splits lines at form feeds and U+2028, unlike editors, so its
        # text would differ from the client's.
        super().__init__(
            "framedex",
            VERSION,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            protocol_cls=ReplyingProtocol,
            converter_factory=message_converter,
        )
        self.documents = OpenDocuments(self._text_of, self._language_of, self._roots)
        settings = Configuration(self._roots, self._warn)
        choice = IndexChoice(index, self._roots, configured_index=lambda folder: settings.settings_for(folder).index)
        self.indexes = Indexes(choice, self._report, settings.settings_for)
        # Queries over a whole capture are slow: a separate thread with its own connections keeps hovers fast.
        self.contents = Indexes(choice, self._report, settings.settings_for, shared_with=self.indexes)
        # Over stdio, a clean exit is impossible: the thread that reads stdin cannot be interrupted.
        self.protocol.on_exit = self._exit_process
        self.on_client_death: Callable[[], None] = partial(os._exit, 1)
        self.session = Session(self, self.indexes, self.contents, self.documents, self._roots, settings, self._report)
        self.stop_client_watch: Callable[[], None] = lambda: None
        """Stops watching the client's process; called when the connection ends."""
        self._register_life_cycle()
        for register in features.ALL:
            register(self, self.session)

    def report_server_error(self, error: Exception, source: type[PyglsError] | type[JsonRpcException]) -> None:
        """Log an internal error; pygls would show a pop-up in the editor for every malformed message."""
        _log.error("%s: %s", source.__name__, error)

    def _register_life_cycle(self) -> None:
        @self.feature(types.INITIALIZED)
        async def initialized(_: types.InitializedParams) -> None:
            try:
                if self.process_id is not None:
                    self.stop_client_watch = call_on_process_end(self.process_id, self.on_client_death)
                for hook in self.session.before_start:
                    await hook()
            finally:
                self.protocol.may_read.set()
            # Opening the index now makes the first hover fast and reports problems at once.
            await asyncio.gather(self.indexes.open_early(), *(hook() for hook in self.session.on_start))

        @self.feature(types.TEXT_DOCUMENT_DID_OPEN)
        async def on_open(params: types.DidOpenTextDocumentParams) -> None:
            self.documents.on_open(params.text_document.uri)
            for hook in self.session.on_document_open:
                await hook(params.text_document.uri)

        @self.feature(types.TEXT_DOCUMENT_DID_CLOSE)
        def on_close(params: types.DidCloseTextDocumentParams) -> None:
            self.documents.on_close(params.text_document.uri)

        @self.feature(types.SHUTDOWN)
        def shut_down(_: None) -> None:
            self.end_session()

    def end_session(self) -> None:
        """Stop background work and close the indexes."""
        for hook in self.session.on_end:
            hook()
        self.indexes.close()
        self.contents.close()

    def _exit_process(self) -> None:
        self.end_session()
        sys.exit(0 if self.protocol.was_shut_down else 1)

    def _report(self, error: FramedexError) -> None:
        if isinstance(error, NothingRecordedError):
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, f"framedex: {error}"))
        else:
            self._warn(str(error))

    def _warn(self, message: str) -> None:
        shown = break_links(f"framedex: {message}")
        self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, shown))

    def _roots(self) -> list[Path]:
        workspace = self.workspace
        uris = [folder.uri for folder in workspace.folders.values()] or [workspace.root_uri or ""]
        return [folder for folder in map(_find_folder_of_uri, uris) if folder is not None]

    def _text_of(self, uri: str) -> str | None:
        document = self.workspace.text_documents.get(unquote(uri))
        return document.source if document is not None else None

    def _language_of(self, uri: str) -> str | None:
        document = self.workspace.text_documents.get(unquote(uri))
        return document.language_id if document is not None else None


@lru_cache(maxsize=64)
def _find_folder_of_uri(uri: str) -> Path | None:
    try:
        path = to_fs_path(uri)
    except ValueError:  # malformed URI
        return None
    # A zero byte would make every later query about the workspace fail.
    return Path(path) if path and os.path.isabs(path) and "\0" not in path else None  # noqa: PTH117 - a text


def _parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="framedex-server", description="framedex's language server")
    parser.add_argument("--index", type=Path, help="the index to use; default: the nearest .framedex/index.db upwards")
    parser.add_argument("--stdio", action="store_true", help="use stdin and stdout; this is the default")
    address = parser.add_mutually_exclusive_group()
    address.add_argument("--tcp", type=Address.parse, metavar="[HOST:]PORT", help="serve clients on this loopback port")
    address.add_argument("--socket", type=Path, metavar="FILE", help="serve clients on this Unix socket")
    parser.add_argument("--log-file", type=Path, help="write the log to this file; default: stderr")
    return parser.parse_args(arguments)


def _freeze_startup_objects() -> None:
    """Exempt start-up objects, which live as long as the process, from garbage collection."""
    gc.freeze()
    gc.enable()


def _reserve_protocol_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve stdin and stdout for the protocol: print() writes to stderr, and reads of stdin return end of file."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


def call_on_process_end(pid: int, action: Callable[[], None]) -> Callable[[], None]:
    """Have the running loop call `action` once process `pid` has ended; return a function that stops watching it.

    A client that dies closes the server's stdin, which ends the server. But another child of the client may keep the
    pipe open. pidfd_open(2) needs no polling and is safe from pid reuse. A pid that does not exist here is ignored: it
    may belong to another machine or container.
    """
    try:
        descriptor = os.pidfd_open(pid)
    except (OSError, AttributeError) as error:  # macOS and Windows have no pidfd_open
        _log.info("cannot watch the client's process %d (%s); this server ends with its input", pid, error)
        return lambda: None
    loop = asyncio.get_running_loop()

    def stop_client_watch() -> None:
        if loop.remove_reader(descriptor):
            os.close(descriptor)

    def on_death() -> None:
        stop_client_watch()
        action()

    loop.add_reader(descriptor, on_death)
    return stop_client_watch
