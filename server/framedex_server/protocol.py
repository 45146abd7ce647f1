"""pygls' protocol with the error replies that it lacks, and with an `exit` that ends only this session.

pygls 2.1 replies neither to a request with malformed parameters nor to one after `shutdown`, so the client waits
forever. The LSP specification requires an error reply to both (`InvalidParams`, `InvalidRequest`). It also requires one
to a request before `initialize` and to a second `initialize`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Generator
from threading import Event
from typing import Any, BinaryIO, Protocol

import attrs
import cattrs
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

OWN_METHOD_PREFIX = "framedex/"
"""Method prefix of framedex's extensions of LSP; docs/reference/language-server.md lists them."""

INDEX_CHANGED = "framedex/didChangeIndex"
"""The notification for clients that always show data of the index (`experimental.framedex.indexChanges`)."""

STEP_NOTE = "framedex/led"
"""The notification of a step's target, for clients that show it in a status line (`experimental.framedex.led`)."""

INDEX_COMMAND, REBUILD_COMMAND, RECORD_COMMAND = "framedex.index", "framedex.rebuildIndex", "framedex.record"
OPEN_TRACE, OPEN_PUBLIC, FETCH_SOURCE, OPEN_GUIDEBOOK, GO_TO, SELECT_CAPTURE, COMPARE_CAPTURES = (
    "framedex.openTrace",
    "framedex.openPublic",
    "framedex.fetchSource",
    "framedex.openGuidebook",
    "framedex.goTo",
    "framedex.selectCapture",
    "framedex.compareCaptures",
)
"""Server commands, run by `workspace/executeCommand`."""

SHOW_COSTS = "framedex.showCosts"
"""A command that the client may provide: it shows the stacks behind a line's costs."""

OPEN_HOW_TO = "framedex.openHowTo"
"""A command that the client may provide: it shows a page of docs/how-to, given its name."""


@attrs.define
class ExtensionRequest:
    """A request of a framedex extension; its parameters stay plain JSON."""

    id: Any
    method: str
    params: Any = None
    jsonrpc: str = "2.0"


@attrs.define
class ExtensionNotification:
    """A notification of a framedex extension."""

    method: str
    params: Any
    jsonrpc: str  # no default: pygls does not send fields with their default value


def message_converter() -> cattrs.Converter:
    """Return pygls' converter of JSON into typed messages, set to stop at the first invalid value.

    By default it records every invalid value and its path. That takes minutes for a text of 100,000 characters in place
    of a list of files, and blocks all other requests.
    """
    converter: cattrs.Converter = default_converter()
    converter.detailed_validation = False
    return converter


class ReplyingProtocol(LanguageServerProtocol):
    """A protocol that replies to every request that has an id."""

    on_exit: Callable[[], None]
    """Called on `exit`; ends the session as its transport requires."""

    client_name = ""
    """The client's name from `initialize`."""

    _received_initialized = False

    was_initialized = False
    was_shut_down = False
    """Whether the client sent `shutdown`: by the LSP specification, `exit` without it is a failure."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.may_read = Event()
        """Set while messages may be read."""
        self.may_read.set()

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Return pygls' result, plus the capability that it lacks: the content of virtual documents."""
        self.client_name = params.client_info.name if params.client_info is not None else ""
        result = yield from super().lsp_initialize(params)
        options = self.fm.feature_options.get(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)
        if options is not None and result.capabilities.workspace is not None:
            result.capabilities.workspace.text_document_content = options
        return result

    @lsp_method(types.INITIALIZED)
    def lsp_initialized(self, *params: Any) -> Generator[Any, Any, None]:
        """Run pygls' handler once.

        No further message is read until `may_read` is set, because settings are read first.
        """
        if not self._received_initialized:
            self._received_initialized = True
            self.may_read.clear()
            yield from super().lsp_initialized(*params)  # type: ignore[no-untyped-call]

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *params: Any) -> Generator[Any, Any, None]:
        """Run pygls' handler; later requests are refused."""
        yield from super().lsp_shutdown(*params)
        self.was_shut_down = True

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # type: ignore[override]
        """End this session, and over stdio the process: pygls would always end the process."""
        self.on_exit()

    @lsp_method(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def lsp_workspace__did_change_workspace_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> Any:
        """Remove folders, then add: a client renames a folder by doing both under one URI, which pygls would lose."""
        for removed in params.event.removed:
            self.workspace.remove_folder(removed.uri)
        for added in params.event.added:
            self.workspace.add_folder(added)
        handler = self.fm.features.get(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
        if handler is not None:
            yield handler, (params,), None

    def _run_generator(self, future: Any, *, result_future: Any, **step: Any) -> None:
        """Run pygls' step after a handler. The end of the session cancels handlers, which pygls would log as errors."""
        if future is not None and future.cancelled():
            result_future.cancel()
        else:
            super()._run_generator(future, result_future=result_future, **step)

    def to_json(self, value: Any) -> Any:
        """Return a value of LSP types as plain JSON."""
        return self.fm.converter.unstructure(value)

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """Return the type of a message: pygls would convert the parameters of our own requests to anonymous tuples."""
        if method in (INDEX_CHANGED, STEP_NOTE):
            return ExtensionNotification
        return ExtensionRequest if method.startswith(OWN_METHOD_PREFIX) else super().get_message_type(method)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return a nested object unchanged: pygls calls this for each one, and would parse it as a message."""
        return data

    def handle_message(self, message: Any) -> None:
        """Handle a message if it can be parsed; refuse requests out of order."""
        message = self._parse(message) if isinstance(message, dict) else None
        if not hasattr(message, "jsonrpc"):
            return
        refusal = self._find_order_error(getattr(message, "method", types.EXIT)) if hasattr(message, "id") else None
        if refusal is not None:
            self._send_response(message.id, error=refusal.to_response_error())
            return
        super().handle_message(message)

    def _find_order_error(self, method: str) -> JsonRpcException | None:
        """Return the error for a request out of order, else None: sessions begin and end once."""
        if method == types.EXIT:
            return None
        if self.was_shut_down:
            return JsonRpcInvalidRequest(f"{method} was sent after shutdown")
        if self.was_initialized == (method == types.INITIALIZE):
            if self.was_initialized:
                return JsonRpcInvalidRequest("initialize was sent twice")
            return JsonRpcServerNotInitialized(f"{method} was sent before initialize")
        self.was_initialized = True
        return None

    def _parse(self, data: dict[str, Any]) -> Any:
        """Return the typed message; None if it cannot be parsed, after an error reply to a request."""
        try:
            if not isinstance(data.get("method", ""), str):
                raise JsonRpcInvalidRequest("method must be a string.")
            return super().structure_message(data)
        except JsonRpcInvalidRequest as error:
            refusal: JsonRpcException = error
        except JsonRpcException:  # pygls has logged it
            refusal = JsonRpcInvalidParams()
        if "method" in data and isinstance(data.get("id"), int | str):
            self._send_response(data["id"], error=refusal.to_response_error())
        return None


MAX_MESSAGE_BYTES = 1 << 30
"""Maximum length of a message, in bytes: far above the largest text that an editor opens."""

_LENGTH = re.compile(rb"content-length: *([0-9]{1,10}) *", re.IGNORECASE)


def parse_content_length(line: bytes) -> int | None:
    """Parse the `Content-Length` header, in bytes; None for any other line."""
    match = _LENGTH.fullmatch(line)
    return int(match[1]) if match else None


def normalize_header(line: bytes) -> bytes:
    """Return a header line in the form that pygls parses; empty at the end of input."""
    if not line:
        return b""
    text = line.strip(b"\r\n")
    if not text:
        return b"\r\n"
    length = parse_content_length(text)
    return (
        b"Content-Length: %d\r\n" % length if length is not None and length <= MAX_MESSAGE_BYTES else b"X-Other: \r\n"
    )


class FramedPipe:
    """A pipe with normalised headers; it is read only while `may_read` is set."""

    def __init__(self, source: BinaryIO, may_read: Event) -> None:
        self._source = source
        self._may_read = may_read

    def readline(self) -> bytes:
        """Same as a file's `readline`."""
        self._may_read.wait()
        return normalize_header(self._source.readline())

    def read(self, count: int) -> bytes:
        """Same as a file's `read`."""
        return self._source.read(count)


class AsyncByteSource(Protocol):
    """An asynchronous byte source: a StreamReader or a wrapper of one."""

    async def readline(self) -> bytes:
        """Same as `StreamReader.readline`."""

    async def readexactly(self, count: int) -> bytes:
        """Same as `StreamReader.readexactly`."""


class FramedStream:
    """A connection with normalised headers; it is read only while `may_read` is set."""

    def __init__(self, source: AsyncByteSource, may_read: Event) -> None:
        self._source = source
        self._may_read = may_read

    async def readline(self) -> bytes:
        """Same as `StreamReader.readline`."""
        if not self._may_read.is_set():
            await asyncio.get_running_loop().run_in_executor(None, self._may_read.wait)
        return normalize_header(await self._source.readline())

    async def readexactly(self, count: int) -> bytes:
        """Same as `StreamReader.readexactly`."""
        return await self._source.readexactly(count)
