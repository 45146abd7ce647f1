"""Reasons for an empty answer, with the server command that helps, the same in all editors.

`framedex/why` returns them; commands without a result show the text.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from framedex.errors import FramedexError
from framedex.plaintext import printable
from framedex.words import command_short, count
from framedex_server.answers.elsewhere import continues_text, public_ways_on
from framedex_server.answers.ffi_places import recorded_place
from framedex_server.answers.frame_lines import public_frame_in_text
from framedex_server.answers.programs import nearby_text
from framedex_server.answers.requests import Json, document_in, position_in
from framedex_server.answers.session import Place, Session
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

_INDEX_IT = "Index this project"

_ENDS = {
    types.TEXT_DOCUMENT_DEFINITION: "No frame with source is further inward from here; the trace has the whole stack.",
    "framedex/waysIn": "No frame with source is further inward from here.",
    "framedex/waysOut": "No frame with source is further outward from here.",
    "framedex/stepIn": "No frame with source is further inward on this stack.",
    "framedex/stepOut": "No frame with source is further outward on this stack.",
    "framedex/selectFrame": "No source is here for this frame.",
    "framedex/compareCaptures": "Neither capture passed this line.",
}
"""The reason by request, for lines with recorded calls."""


_INWARD = (types.TEXT_DOCUMENT_DEFINITION, "framedex/stepIn", "framedex/waysIn")


async def why_nothing(session: Session, about: Json, request: str) -> Json:
    """Return why a request with the parameters `about` has an empty answer: a `text`, and an `action` or None.

    The first reason that applies is returned:

    - the index is unusable;
    - nothing was recorded, or not indexed;
    - the text names no source;
    - the stack ends here;
    - only captures outside the selection have calls on the line;
    - no capture has.
    """
    if request == "framedex/stack":
        return _why("No stack is picked yet: step along one, or pick one of those through a line.")
    place = _place(session, about)
    document = Path(place.path if place is not None else document_in(session, about))
    found = await session.indexes.problem_of(document)
    if found is not None:
        folder, problem = found
        return {"text": str(problem).replace("\n", " "), "action": action_for(problem, folder)}

    if request == types.TEXT_DOCUMENT_DEFINITION and (public := await _public_in_text(session, about)) is not None:
        return _why_elsewhere("This frame", public)

    def of_index(index: Index) -> Json | None:
        return _of_line(session, index, place, about, request) if index.captures() else None

    told = await (session.ask_at(place, of_index) if place is not None else session.ask(str(document), of_index))
    if told is None:
        told = await session.run(lambda: _not_recorded(session, about, document))
    return told


def action_for(problem: FramedexError, folder: Path) -> Json | None:
    """Return the command that repairs the unusable index of a folder; None if no command does."""
    from framedex.index.file.database import EmptyIndexError, RebuildableIndexError

    match problem:
        case RebuildableIndexError():
            return _action("Rebuild the index", REBUILD_COMMAND, folder.as_uri())
        case EmptyIndexError():
            return _action(_INDEX_IT, INDEX_COMMAND, folder.as_uri())
    return None


def _why(text: str, title: str = "", command: str = "", argument: object = None) -> Json:
    return {"text": text, "action": _action(title, command, argument) if command else None}


def _action(title: str, command: str, argument: object) -> Json:
    return {"title": title, "command": command, "arguments": [argument]}


def _place(session: Session, about: Json) -> Place | None:
    if about.get("position") is None:
        return None
    position = position_in(about)
    return session.place(position.text_document, position.position)


def _of_line(session: Session, index: Index, place: Place | None, about: Json, request: str) -> Json:
    changed = "What was recorded here has changed meanwhile: ask again."
    if about.get("position") is None:
        return _why(_ENDS[request] if request == "framedex/selectFrame" else changed)
    if request == types.TEXT_DOCUMENT_DEFINITION and session.texts.may_hold(about["textDocument"]["uri"]):
        return _why("No source is known for this line here.")
    passed = None if place is None else recorded_place(session, index, place)
    others = None if passed is None else index.line(passed.path, passed.line).summary()
    if passed is None:  # the line was typed after the last save
        return _why("No recorded call went through this line.")
    if others is None:
        return _why(nearby_text(index.line(passed.path, passed.line).nearby()))
    passes = session.chosen.stacks_through(index, passed.path, passed.line, limit=1)
    picked = next((each for each in index.captures() if each.id == session.chosen.capture_in(index)), None)
    if not passes and picked is not None:
        name = shorten(printable(command_short(picked.command)))
        return _why(
            f"No call of capture {picked.id} ({name}) went through this line;"
            f" {count(others.calls, 'call')} of other captures did. It is picked, so answers are of it alone.",
            *("Answer from other captures", SELECT_CAPTURE, {"textDocument": about["textDocument"], "capture": None}),
        )
    if passes and request in _INWARD and (ways := public_ways_on(session, index, passed)):
        return _why_elsewhere(*ways[0])
    if passes and request == types.TEXT_DOCUMENT_DEFINITION:
        line = {"textDocument": about["textDocument"], "position": about["position"]}
        return _why(_ENDS[request], "Open the trace", OPEN_TRACE, line)
    return _why(_ENDS.get(request, changed) if passes else changed)


async def _public_in_text(session: Session, about: Json) -> Location | None:
    position = position_in(about)
    uri = position.text_document.uri
    if not session.texts.may_hold(uri):
        return None
    found = await public_frame_in_text(session, uri, position.position)
    return found[1] if found is not None else None


def _why_elsewhere(what: str, there: Location) -> Json:
    """Return the reason for a frame whose source is only public."""
    text = f"{continues_text(what, there)}; its public page is {there.url}"
    return _why(text, "Open its public page", OPEN_PUBLIC, there.url)


def _not_recorded(session: Session, about: Json, document: Path) -> Json:
    """Return the reason if no index has a capture: it names the next step."""
    starts = [document.parent, *session.roots()]
    for folder in dict.fromkeys(folder for start in starts for folder in (start, *start.parents)):
        with suppress(FramedexError, ValueError):  # the client may have named an invalid folder
            from framedex.captures import capture_folders, captures_below

            if capture_folders(captures_below(folder)):
                text = "What was recorded here is not indexed yet: `framedex index` does that."
                return _why(text, _INDEX_IT, INDEX_COMMAND, folder.as_uri())
    text = "Nothing has been recorded here yet: `framedex run SCRIPT` records a program."
    if document.suffix == ".py":
        return _why(text, "Record this file", RECORD_COMMAND, about["textDocument"]["uri"])
    return _why(text)
