"""pygls' protocol with the replies it leaves out, and an end that is the session's.

pygls 2.1 answers neither a request whose parameters are malformed nor one that comes after `shutdown`; a client then
waits for ever. The LSP specification asks for an error reply to both (`InvalidParams`, `InvalidRequest`), and to
requests before `initialize` and a second one of these.
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
"""What the methods begin with that are none of LSP's; docs/reference/language-server.md has them all."""

INDEX_CHANGED = "framedex/didChangeIndex"
"""The notification for clients that show something of the index all the time (`experimental.framedex.indexChanges`)."""

LED = "framedex/led"
"""The notification of where a step has led, for clients that show it quietly (`experimental.framedex.led`)."""

INDEX_COMMAND, REBUILD_COMMAND, RECORD_COMMAND = "framedex.index", "framedex.rebuildIndex", "framedex.record"
OPEN_TRACE, OPEN_PUBLIC, OPEN_GUIDEBOOK, GO_TO, SELECT_CAPTURE, COMPARE_CAPTURES = (
    "framedex.openTrace",
    "framedex.openPublic",
    "framedex.openGuidebook",
    "framedex.goTo",
    "framedex.selectCapture",
    "framedex.compareCaptures",
)
"""What clients have the server do by `workspace/executeCommand`."""

SHOW_COSTS = "framedex.showCosts"
"""A command that a client may have of its own: it shows the stacks behind what a line costs."""


@attrs.define
class OwnRequest:
    """A request of framedex's own: its parameters stay as JSON has them."""

    id: Any
    method: str
    params: Any = None
    jsonrpc: str = "2.0"


@attrs.define
class OwnNotification:
    """A notification of framedex's own."""

    method: str
    params: Any
    jsonrpc: str  # no default: pygls does not send what has it


def message_converter() -> cattrs.Converter:
    """pygls' converter of JSON into typed messages, made to stop at the first value that is wrong.

    Otherwise it notes every wrong value and where that stands, which takes minutes for a text of 100,000 characters
    in place of a list of files; and nobody else is answered meanwhile.
    """
    converter: cattrs.Converter = default_converter()
    converter.detailed_validation = False
    return converter


class AnsweringProtocol(LanguageServerProtocol):
    """A protocol that replies to every request that has an id."""

    leave: Callable[[], None]
    """Ends the session, as its transport does."""

    client_name = ""
    """What the client calls itself."""

    _has_begun = False

    was_initialized = False
    was_shut_down = False
    """Whether the client asked for `shutdown`: `exit` without it is a failure, says the specification."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.may_read = Event()
        """Set while messages may be read."""
        self.may_read.set()

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """What pygls answers, with the capability that it does not know: the content of virtual documents."""
        self.client_name = params.client_info.name if params.client_info is not None else ""
        result = yield from super().lsp_initialize(params)
        options = self.fm.feature_options.get(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)
        if options is not None and result.capabilities.workspace is not None:
            result.capabilities.workspace.text_document_content = options
        return result

    @lsp_method(types.INITIALIZED)
    def lsp_initialized(self, *params: Any) -> Generator[Any, Any, None]:
        """What pygls does, once; no message is read behind it until `may_read` is set: settings are read first."""
        if not self._has_begun:
            self._has_begun = True
            self.may_read.clear()
            yield from super().lsp_initialized(*params)  # type: ignore[no-untyped-call]

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *params: Any) -> Generator[Any, Any, None]:
        """What pygls does; what comes after it is refused."""
        yield from super().lsp_shutdown(*params)
        self.was_shut_down = True

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # type: ignore[override]
        """End this session, and over stdio the process: pygls would end the process always."""
        self.leave()

    @lsp_method(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def lsp_workspace__did_change_workspace_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> Any:
        """Remove folders, then add: a client renames one by doing both under one URI, which pygls would lose."""
        for removed in params.event.removed:
            self.workspace.remove_folder(removed.uri)
        for added in params.event.added:
            self.workspace.add_folder(added)
        handler = self.fm.features.get(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
        if handler is not None:
            yield handler, (params,), None

    def plain(self, value: Any) -> Any:
        """A value of LSP types as JSON has it."""
        return self.fm.converter.unstructure(value)

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """The type of a message: pygls would turn the parameters of our own requests into anonymous tuples."""
        if method in (INDEX_CHANGED, LED):
            return OwnNotification
        return OwnRequest if method.startswith(OWN_REQUESTS) else super().get_message_type(method)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return an object of a message as it is: pygls asks for each, and would take those inside for messages too."""
        return data

    def handle_message(self, message: Any) -> None:
        """Pass on what can be understood; refuse requests after `shutdown`."""
        message = self._typed(message) if isinstance(message, dict) else None
        if not hasattr(message, "jsonrpc"):
            return
        refusal = self._out_of_turn(getattr(message, "method", types.EXIT)) if hasattr(message, "id") else None
        if refusal is not None:
            self._send_response(message.id, error=refusal.to_response_error())
            return
        super().handle_message(message)

    def _out_of_turn(self, method: str) -> JsonRpcException | None:
        """Why a request of this method is refused now, if it is: sessions begin and end once."""
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
        """The typed message, or None for one that cannot be understood; its sender has been told if it waits."""
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
