"""framedex's own requests (`framedex/...`): their parameters and what they answer with, as JSON.

docs/language-server.md is their reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex_server.features.session import Session
from framedex_server.inward import locations

if TYPE_CHECKING:
    from framedex.model import CaptureRow, FrameRow
    from framedex_server.chosen import StackPosition

Json = dict[str, Any]


def position_in(params: Mapping[str, Any]) -> types.TextDocumentPositionParams:
    """The document and position of a request. Raises JsonRpcInvalidParams where there are none."""
    match params:
        case {"textDocument": {"uri": str(uri)}, "position": {"line": int(line), "character": int(character)}}:
            return types.TextDocumentPositionParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
    raise JsonRpcInvalidParams("textDocument and position are needed.")


def integer_in(params: Mapping[str, Any], name: str) -> int:
    """A number of a request. Raises JsonRpcInvalidParams where there is none."""
    value = params.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise JsonRpcInvalidParams(f"{name} is needed, a number.")
    return value


def tell(server: LanguageServer, message: str) -> None:
    """Show the user what came of a command."""
    server.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))


def frame_json(session: Session, frame: FrameRow) -> Json:
    """A frame; its `location` is null where the source is unknown or not on this machine."""
    place = next(locations(frame), None)
    shown: Json | None = None
    if place is not None:
        shown = {
            "uri": session.documents.uri_of(place.path),
            "range": range_json(session.line_range(place.path, place.line)),
        }
    return {
        "function": printable(frame.function.name),
        "language": frame.function.language.value,
        "role": frame.function.role.value,
        "module": printable(frame.module),
        "location": shown,
        "how": place.how.value if place is not None else None,
    }


def position_json(session: Session, at: StackPosition) -> Json:
    """A frame of a stack, and which stack that is."""
    return {
        **frame_json(session, at.frame),
        "stack": at.stack,
        "boundary": printable(at.boundary),
        "call": at.call,
        "calls": at.calls,
        "frame": at.position,
        "frames": len(at.frames),
    }


def capture_json(capture: CaptureRow) -> Json:
    """A capture; `started` is Unix time in seconds."""
    return {
        "id": capture.id,
        "path": printable(capture.path),
        "started": capture.started,
        "command": printable(capture.command),
        "calls": capture.calls,
        "stacks": capture.stacks,
    }


def range_json(where: types.Range) -> Json:
    """A range as LSP has it."""
    return {
        "start": {"line": where.start.line, "character": where.start.character},
        "end": {"line": where.end.line, "character": where.end.character},
    }
