"""Reasons for an empty answer, with the server command that helps, the same in all editors.

`framedex/why` returns them; commands without a result show the text.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.words import count, shorten_command
from framedex.index.file.database import EmptyIndexError, RebuildableIndexError
from framedex_server.answers.ffi import resolve_registration
from framedex_server.answers.frame_lines import find_public_frame
from framedex_server.answers.programs import format_nearby
from framedex_server.answers.remote_sources import find_public_callees, format_public_callee, make_fetch_action
from framedex_server.answers.requests import Json, find_document, parse_position
from framedex_server.answers.session import RequestPosition, Session
from framedex_server.markup import shorten
from framedex_server.protocol import (
    INDEX_COMMAND,
    OPEN_PUBLIC,
    OPEN_TRACE,
    REBUILD_COMMAND,
    RECORD_COMMAND,
    SELECT_CAPTURE,
)

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Location

_INDEX_TITLE = "Index this project"

_END_REASONS = {
    types.TEXT_DOCUMENT_DEFINITION: "No frame with source is further inward from here; the trace has the whole stack.",
    "framedex/waysIn": "No frame with source is further inward from here.",
    "framedex/waysOut": "No frame with source is further outward from here.",
    "framedex/stepIn": "No frame with source is further inward on this stack.",
    "framedex/stepOut": "No frame with source is further outward on this stack.",
    "framedex/selectFrame": "The source of this frame is not on this machine.",
    "framedex/compareCaptures": "Neither capture executed this line.",
}
"""The reason by request, for lines with recorded calls."""


_INWARD_REQUESTS = (types.TEXT_DOCUMENT_DEFINITION, "framedex/stepIn", "framedex/waysIn")


async def explain_empty_answer(session: Session, parameters: Json, request: str) -> Json:
    """Return why a request with the parameters `parameters` has an empty answer: a `text`, and an `action` or None.

    The first reason that applies is returned:

    - the index is unusable;
    - nothing was recorded, or the recordings are not indexed;
    - the text names no source;
    - the stack ends here;
    - only captures outside the selection have calls on the line;
    - no capture has calls on the line.
    """
    if request == "framedex/stack":
        return _make_reason("No stack is selected. Step along a stack, or select one of the stacks through a line.")
    place = _parse_location(session, parameters)
    document = Path(place.path if place is not None else find_document(session, parameters))
    found = await session.indexes.find_problem(document)
    if found is not None:
        folder, problem = found
        return {"text": str(problem).replace("\n", " "), "action": find_repair_action(problem, folder)}

    if (
        request == types.TEXT_DOCUMENT_DEFINITION
        and (public := await _find_public_in_text(session, parameters)) is not None
    ):
        return _public_reason(session, parameters, "This frame", public)

    def explain(index: Index) -> Json | None:
        return _explain_line(session, index, place, parameters, request) if index.captures() else None

    reason = await (session.query_at(place, explain) if place is not None else session.query(str(document), explain))
    if reason is None:
        reason = await session.run(lambda: _explain_not_recorded(session, parameters, document))
    return reason


def find_repair_action(problem: FramedexError, folder: Path) -> Json | None:
    """Return the command that repairs the unusable index of a folder; None if no command does."""
    match problem:
        case RebuildableIndexError():
            return _make_action("Rebuild the index", REBUILD_COMMAND, folder.as_uri())
        case EmptyIndexError():
            return _make_action(_INDEX_TITLE, INDEX_COMMAND, folder.as_uri())
    return None


def _make_reason(text: str, title: str = "", command: str = "", argument: object = None) -> Json:
    return {"text": text, "action": _make_action(title, command, argument) if command else None}


def _make_action(title: str, command: str, argument: object) -> Json:
    return {"title": title, "command": command, "arguments": [argument]}


def _parse_location(session: Session, parameters: Json) -> RequestPosition | None:
    if parameters.get("position") is None:
        return None
    position = parse_position(parameters)
    return session.request_position(position.text_document, position.position)


def _explain_line(
    session: Session, index: Index, position: RequestPosition | None, parameters: Json, request: str
) -> Json:
    changed = "The recordings of this line have changed in the meantime. Try again."
    if parameters.get("position") is None:
        return _make_reason(_END_REASONS[request] if request == "framedex/selectFrame" else changed)
    if request == types.TEXT_DOCUMENT_DEFINITION and session.texts.may_contain_stacks(
        parameters["textDocument"]["uri"]
    ):
        return _make_reason("No source found for this line.")
    passed = None if position is None else resolve_registration(session, index, position)
    others = None if passed is None else index.line(passed.path, passed.line).summary()
    if passed is None:  # the line was typed after the last save
        return _make_reason("No recorded call went through this line.")
    if others is None:
        return _make_reason(format_nearby(index.line(passed.path, passed.line).nearby()))
    passes = session.selection.stacks_through(index, passed.path, passed.line, limit=1)
    picked = next((each for each in index.captures() if each.id == session.selection.capture_in(index)), None)
    if not passes and picked is not None:
        name = shorten(make_printable(shorten_command(picked.command)))
        return _make_reason(
            f"No call of capture {picked.id} ({name}) went through this line;"
            f" {count(others.calls, 'call')} of other captures did. Answers cover only the selected capture.",
            *(
                "Answer from other captures",
                SELECT_CAPTURE,
                {"textDocument": parameters["textDocument"], "capture": None},
            ),
        )
    if passes and request in _INWARD_REQUESTS and (ways := find_public_callees(session, index, passed)):
        return _public_reason(session, parameters, *ways[0])
    if passes and request == types.TEXT_DOCUMENT_DEFINITION:
        line = {"textDocument": parameters["textDocument"], "position": parameters["position"]}
        return _make_reason(_END_REASONS[request], "Open the trace", OPEN_TRACE, line)
    return _make_reason(_END_REASONS.get(request, changed) if passes else changed)


async def _find_public_in_text(session: Session, parameters: Json) -> Location | None:
    position = parse_position(parameters)
    uri = position.text_document.uri
    if not session.texts.may_contain_stacks(uri):
        return None
    found = await find_public_frame(session, uri, position.position)
    return found[1] if found is not None else None


def _public_reason(session: Session, parameters: Json, name: str, location: Location) -> Json:
    """Return the reason for a frame whose source is only public; `alternative` fetches its sources if possible."""
    text = f"{format_public_callee(name, location)}; its public page is {location.url}"
    reason = _make_reason(text, "Open its public page", OPEN_PUBLIC, location.url)
    fetch = make_fetch_action(session, parameters["textDocument"]["uri"], location)
    return {**reason, "alternative": fetch} if fetch is not None else reason


def _explain_not_recorded(session: Session, parameters: Json, document: Path) -> Json:
    """Return the reason if no index has a capture: it names the next step."""
    starts = [document.parent, *session.roots()]
    for folder in dict.fromkeys(folder for start in starts for folder in (start, *start.parents)):
        with suppress(FramedexError, ValueError):  # the client may have named an invalid folder
            from framedex.captures import capture_folders, project_captures_folder

            if capture_folders(project_captures_folder(folder)):
                text = "The recordings here are not indexed yet. Run `framedex index`."
                return _make_reason(text, _INDEX_TITLE, INDEX_COMMAND, folder.as_uri())
    text = "Nothing has been recorded here yet. Run `framedex run SCRIPT` to record a program."
    if document.suffix == ".py":
        return _make_reason(text, "Record this file", RECORD_COMMAND, parameters["textDocument"]["uri"])
    return _make_reason(text)
