"""pygls' protocol with the error replies that it lacks, and with an `exit` that ends only this session.

pygls 2.1 replies neither to a request with malformed parameters nor to one after `shutdown`, so the client waits
forever. The LSP specification requires an error reply to both (`InvalidParams`, `InvalidRequest`). It also requires one
to a request before `initialize` and to a second `initialize`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from threading import Event
from typing import Any

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

OWN_REQUESTS = "framedex/"
"""Method prefix of framedex's extensions of LSP; docs/reference/language-server.md lists them."""

INDEX_CHANGED = "framedex/didChangeIndex"
"""The notification for clients that always show data of the index (`experimental.framedex.indexChanges`)."""

LED = "framedex/led"
"""The notification of a step's target, for clients that show it quietly (`experimental.framedex.led`)."""

INDEX_COMMAND, REBUILD_COMMAND, RECORD_COMMAND = "framedex.index", "framedex.rebuildIndex", "framedex.record"
OPEN_TRACE, OPEN_PUBLIC, OPEN_GUIDEBOOK, GO_TO, SELECT_CAPTURE, COMPARE_CAPTURES = (
    "framedex.openTrace",
    "framedex.openPublic",
    "framedex.openGuidebook",
    "framedex.goTo",
    "framedex.selectCapture",
    "framedex.compareCaptures",
)
"""Server commands, run by `workspace/executeCommand`."""

SHOW_COSTS = "framedex.showCosts"
"""A command that the client may provide: it shows the stacks behind a line's costs."""


@attrs.define
class OwnRequest:
    """A request of a framedex extension; its parameters stay plain JSON."""

    id: Any
    method: str
    params: Any = None
    jsonrpc: str = "2.0"


@attrs.define
class OwnNotification:
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


class AnsweringProtocol(LanguageServerProtocol):
    """A protocol that replies to every request that has an id."""

    leave: Callable[[], None]
    """Ends the session in its transport's way."""

    client_name = ""
    """The client's name from `initialize`."""

    _has_begun = False

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
        if not self._has_begun:
            self._has_begun = True
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
        self.leave()

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

    def plain(self, value: Any) -> Any:
        """Return a value of LSP types as plain JSON."""
        return self.fm.converter.unstructure(value)

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """Return the type of a message: pygls would convert the parameters of our own requests to anonymous tuples."""
        if method in (INDEX_CHANGED, LED):
            return OwnNotification
        return OwnRequest if method.startswith(OWN_REQUESTS) else super().get_message_type(method)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return a nested object unchanged: pygls calls this for each one, and would parse it as a message."""
        return data

    def handle_message(self, message: Any) -> None:
        """Handle a message if it can be parsed; refuse requests after `shutdown`."""
        message = self._typed(message) if isinstance(message, dict) else None
        if not hasattr(message, "jsonrpc"):
            return
        refusal = self._out_of_turn(getattr(message, "method", types.EXIT)) if hasattr(message, "id") else None
        if refusal is not None:
            self._send_response(message.id, error=refusal.to_response_error())
            return
        super().handle_message(message)

    def _out_of_turn(self, method: str) -> JsonRpcException | None:
        """Return the error if a request is out of order, else None: sessions begin and end once."""
        if method == types.EXIT:
            return None
        if self.was_shut_down:
            return JsonRpcInvalidRequest(f"{method} after shutdown")
        if self.was_initialized == (method == types.INITIALIZE):
            if self.was_initialized:
                return JsonRpcInvalidRequest("initialize comes once")
            return JsonRpcServerNotInitialized(f"{method} before initialize")
        self.was_initialized = True
        return None

    def _typed(self, data: dict[str, Any]) -> Any:
        """Return the typed message; None if it cannot be parsed, after an error reply to a request."""
        try:
            if not isinstance(data.get("method", ""), str):
                raise JsonRpcInvalidRequest("method has to be a text.")
            return super().structure_message(data)
        except JsonRpcInvalidRequest as error:
            refusal: JsonRpcException = error
        except JsonRpcException:  # pygls has logged it
            refusal = JsonRpcInvalidParams()
        if "method" in data and isinstance(data.get("id"), int | str):
            self._send_response(data["id"], error=refusal.to_response_error())
        return None
