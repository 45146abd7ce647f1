"""Go to frame: definition on a line with recorded frames leads to the callee that really ran from there.

One frame inward, whatever the languages on either side, past the interpreter, glue, and frames without source. Where
nothing was recorded nothing is returned, so that pyright's and clangd's answers stand alone. Lines of trace documents
and logs are `frame_lines`'s.

Asked again and again, it walks one real stack. From a line that an answer has led to, only the stacks go on that came
there that way: of all callees ever recorded from a shared wrapper, those of this road. Among them the first is the way
to where the time went, past the making of the runtime's client (`inward.roads_inward` has the order). A callee whose
name is under the cursor comes before all others, but for the handler of an `ffi_call` on its line. A question about any
other recorded line begins a new walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex_server.documents.open_documents import is_source
from framedex_server.features import frame_lines
from framedex_server.features.ffi_text import is_called_at
from framedex_server.features.session import Place, Session
from framedex_server.features.targets import Target, Targets, along, answer
from framedex_server.inward import roads_inward

if TYPE_CHECKING:
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
    within = session.trail.nodes_at(index.path, place.path, place.line)
    capture = session.chosen.capture_in(index)
    roads = roads_inward(index, place.path, place.line, within, session.word_at(place), capture)
    targets = [*_handlers(index, place), *along(session, place, index, roads)]
    return answer(session, session.line_range(place.path, place.line), targets, session.links_supported)


def _handlers(index: Index, place: Place) -> Iterator[Target]:
    """The C++ functions that the `ffi_call` on a line stands for: what its author wrote, and where that is registered.

    They come first: JAX's own machinery, which an eager call goes through, is nothing that a reader of that line means.
    """
    for use in index.ffi_uses(place.path, place.line):
        for handler in use.handlers if is_called_at(use, place) else ():
            written = handler.implementation
            if written is not None and written.location is not None and is_source(written.location.path):
                line = written.location.line
                yield Target(written.location.path, line, line, max(line, written.end_line))
            if handler.location is not None and is_source(handler.location.path):
                line = handler.location.line
                yield Target(handler.location.path, line, line, line)
