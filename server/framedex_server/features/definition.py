"""Go to frame: definition on a line with recorded frames leads to the callee that really ran from there.

One frame inward, whatever the languages on either side, past the interpreter, glue, and frames without source. A file
that is not here is shown in a checkout that has it; a public page is opened only by who asks for it (`why` has the
command). Where nothing was recorded nothing is returned, so that pyright's and clangd's answers stand alone. Lines of
trace documents and logs are `frame_lines`'s.

Asked again and again, it walks one real stack. From a line that an answer has led to, only the stacks go on that came
there that way: of all callees ever recorded from a shared wrapper, those of this road. Among them the first is the way
to where the time went, past the making of the runtime's client (`inward.roads_inward` has the order). A callee whose
name is under the cursor comes before all others, but for the handler of an `ffi_call` on its line. A question about any
other recorded line begins a new walk.

A line inside `jit` made no call when its program ran: it leads to the lines that were called from it as it was traced,
and from the innermost of those to the lines that run the program. With the name of a jitted function under the cursor,
the line of its call leads to its first line with an op, before all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.whereabouts.files import is_here
from framedex_server.answers import frame_lines
from framedex_server.answers.elsewhere import shown
from framedex_server.answers.ffi_text import is_called_at
from framedex_server.answers.programs import lines_inside
from framedex_server.answers.session import Place, Session
from framedex_server.answers.targets import Target, Targets, along, answer, came_by
from framedex_server.inward import roads_inward

if TYPE_CHECKING:
    from framedex.ffi.model import FfiHandler
    from framedex.index import Index


def register(server: LanguageServer, session: Session) -> None:
    """Offer `textDocument/definition`."""

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> Targets:
        if session.texts.may_hold(params.text_document.uri):
            return await frame_lines.definition(session, params.text_document.uri, params.position)
        place = session.place(params.text_document, params.position)
        if place is None:
            return None
        return await session.ask_at(place, lambda index: in_source(session, place, index))


def in_source(session: Session, place: Place, index: Index) -> Targets:
    """The callees recorded from a source line, on the road that has led there if one has."""
    within = came_by(session, place, index)
    capture = session.chosen.capture_in(index)
    places = shown(session, index, place.uri)
    roads = roads_inward(index, place.path, place.line, within, session.word_at(place), capture, places)
    ways_on = along(session, place, index, roads, places)
    named = [Target.at(each) for each in lines_inside(session, place, index, session.word_at(place))]
    targets = [*named, *_to_handlers(_handlers(index, place), ways_on)]
    targets = targets or [Target.at(each) for each in lines_inside(session, place, index)]
    return answer(session, session.line_range(place.path, place.line), targets, session.links_supported)


def _handlers(index: Index, place: Place) -> list[FfiHandler]:
    """The handlers that the `ffi_call`s on a line stand for."""
    uses = index.line(place.path, place.line).ffi_uses()
    return [handler for use in uses if is_called_at(use, place) for handler in use.handlers]


def _to_handlers(handlers: Sequence[FfiHandler], ways_on: Sequence[Target]) -> list[Target]:
    """The function of each handler, else the line that registers it, and then the other ways on from the `ffi_call`.

    JAX's own machinery, which an eager call goes through, is nothing that a reader of that line means. The line that
    registers a handler has nothing to add where the function that it was made from can be shown.
    """
    first = []
    passed: set[tuple[str, int]] = set()
    for handler in handlers:
        written, registered = _written(handler), handler.location
        if registered is not None and is_here(registered.path):
            if written is None:
                first.append(Target(registered.path, registered.line, registered.line, registered.line))
            else:
                passed.add((registered.path, registered.line))
        if written is not None:
            first.append(written)
    return [*first, *(target for target in ways_on if (target.path, target.line) not in passed)]


def _written(handler: FfiHandler) -> Target | None:
    function = handler.implementation
    if function is None or function.location is None or not is_here(function.location.path):
        return None
    line = function.location.line
    return Target(function.location.path, line, line, max(line, function.end_line))
