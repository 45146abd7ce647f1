"""framedex's own requests (`framedex/...`): parsing of parameters, and results as JSON.

docs/reference/language-server.md is their reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.base.plaintext import make_printable
from framedex.base.words import format_duration, shorten_command
from framedex.path_resolution.files import file_exists
from framedex.texts.places import format_stale_labels
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import to_path
from framedex_server.markup import break_links
from framedex_server.stack_paths import (
    find_local_locations,
    find_public_location,
    format_short_location,
    format_skipped_notes,
)

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import CallRow, CaptureRow, FrameRow, PythonLine
    from framedex_server.selection import StackPosition

Json = dict[str, Any]
Answer = TypeVar("Answer")

_LSP_INTEGERS = range(2**31)
"""The range of line and character numbers in LSP."""


def parse_position(params: Mapping[str, Any]) -> types.TextDocumentPositionParams:
    """Return the document and position of a request. Raises JsonRpcInvalidParams if they are missing or malformed."""
    match params:
        case {"textDocument": {"uri": str(uri)}, "position": {"line": int(line), "character": int(character)}} if (
            not isinstance(line, bool)
            and not isinstance(character, bool)
            and line in _LSP_INTEGERS
            and character in _LSP_INTEGERS
        ):
            return types.TextDocumentPositionParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
    raise JsonRpcInvalidParams("textDocument and position are required.")


def parse_integer(params: Mapping[str, Any], name: str) -> int:
    """Return an integer parameter. Raises JsonRpcInvalidParams if it is missing or not an integer."""
    value = params.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise JsonRpcInvalidParams(f"{name} must be an integer.")
    return value


def parse_optional_integer(params: Mapping[str, Any], name: str) -> int | None:
    """Return an integer parameter, or None if it is null or missing. Raises JsonRpcInvalidParams for anything else."""
    return None if params.get(name) is None else parse_integer(params, name)


def parse_params(params: Any) -> Json:
    """Return the parameters of a request; empty if the client sent no object."""
    return params if isinstance(params, dict) else {}


def find_document(session: Session, params: Mapping[str, Any]) -> str:
    """Return a path that selects the index: the document, else one in the `folder`, else one in the workspace."""
    match params:
        case {"textDocument": {"uri": str(uri)}}:
            return to_path(uri) or session.default_document()
        case {"folder": str(folder)}:
            return str(Path(folder) / "any document")
    return session.default_document()


async def query_contents(
    session: Session, params: Mapping[str, Any], question: Callable[[Index], Answer]
) -> Answer | None:
    """Return the result of a query over a whole capture, on a thread of its own; `params` select the index."""
    match params:
        case {"folder": str(folder)} if "textDocument" not in params:
            return await session.contents.query_folder(Path(folder), question)
    return await session.contents.query(Path(find_document(session, params)), question)


def show_message(server: LanguageServer, message: str) -> None:
    """Show the user the result of a command."""
    server.window_show_message(types.ShowMessageParams(types.MessageType.Info, break_links(message)))


def build_frame_json(session: Session, frame: FrameRow) -> Json:
    """Return a frame as JSON; `location` is null if the source is unknown or not on this machine.

    In the latter case `url` may be its public address, and `publicPlace` a short name of that.
    """
    place = next(find_local_locations(frame), None)
    public = find_public_location(frame) if place is None else None
    shown: Json | None = None
    if place is not None:
        shown = {
            "uri": session.documents.uri_of(place.path),
            "range": build_range_json(session.line_range(place.path, place.line)),
        }
    return {
        "function": make_printable(frame.function.name),
        "language": frame.function.language.value,
        "role": frame.function.role.value,
        "module": make_printable(frame.location_without_file or frame.module),
        "location": shown,
        "how": place.how.value if place is not None else None,
        "stale": ", ".join(format_stale_labels(place)) or None if place is not None else None,
        "url": public.url if public is not None else None,
        "publicPlace": format_short_location(public) if public is not None else None,
    }


def build_python_line_json(session: Session, line: PythonLine | None) -> Json:
    """Return a line of Python as JSON; `location` is null if its file is not on this machine."""
    if line is None:
        return {"function": "", "place": "no line of Python", "location": None, "stale": None}
    place = line.location
    location: Json | None = None
    if file_exists(place.path):
        where = session.line_range(place.path, place.line)
        location = {"uri": session.documents.uri_of(place.path), "range": build_range_json(where)}
    stale = ", ".join(format_stale_labels(place)) or None
    return {
        "function": make_printable(line.function),
        "place": format_short_location(place),
        "location": location,
        "stale": stale,
    }


def build_duration_json(nanoseconds: int) -> Json:
    """Return a duration in nanoseconds and as text; -1 for a call that never returned."""
    return {"duration": nanoseconds, "durationText": format_duration(nanoseconds)}


def format_difference(nanoseconds: int) -> str:
    """Return a change of a duration with its sign: `+1.2 ms`; `=` if there is none."""
    sign = "\N{MINUS SIGN}" if nanoseconds < 0 else "+"
    return sign + format_duration(abs(nanoseconds)) if nanoseconds else "="


def build_position_json(session: Session, selected: StackPosition) -> Json:
    """Return a frame and its stack as JSON: `frame` counts from 0, the `text` from 1."""
    function, boundary = make_printable(selected.frame.function.name), make_printable(selected.boundary)
    position = f"{function}: frame {selected.position + 1} of {len(selected.frames)} on the way to {boundary}"
    return {
        **build_frame_json(session, selected.frame),
        "stack": selected.stack,
        "boundary": boundary,
        "call": selected.call,
        "calls": selected.calls,
        "frame": selected.position,
        "frames": len(selected.frames),
        "text": "; ".join([position, *format_skipped_notes(selected.skipped)]),
    }


def call_json(call: CallRow) -> Json:
    """Return a call as JSON, with times in nanoseconds.

    `start` counts from the start of the recording; `format_duration` is -1 if the call never returned.
    """
    from framedex.texts.calls import format_arguments, format_outcome

    return {
        "id": call.id,
        "capture": call.capture,
        "function": make_printable(call.function),
        "boundary": make_printable(call.boundary),
        "arguments": format_arguments(call),
        "outcome": format_outcome(call).removeprefix(" -> "),
        "error": call.error,
        "start": call.start,
        "startText": format_duration(call.start),
        **build_duration_json(call.duration),
        "thread": make_printable(call.thread),
        "stack": call.stack,
    }


def build_capture_json(capture: CaptureRow) -> Json:
    """Return a capture as JSON; `started` is Unix time in seconds, `name` a short form of the command."""
    return {
        "id": capture.id,
        "path": make_printable(capture.path),
        "started": capture.started,
        "command": make_printable(capture.command),
        "name": make_printable(shorten_command(capture.command)),
        "calls": capture.calls,
        "stacks": capture.stacks,
    }


def build_range_json(text_range: types.Range) -> Json:
    """Return a range as LSP's JSON."""
    return {
        "start": {"line": text_range.start.line, "character": text_range.start.character},
        "end": {"line": text_range.end.line, "character": text_range.end.character},
    }
