"""Go to frame: definition on a line with recorded frames leads to the callee that really ran from there.

It leads one frame inward, across languages, and skips the interpreter, glue, framedex itself, and frames without
source. A file that is not here is shown in a checkout or in the fetched sources. After the last such frame the answer
is empty, and the client gets a note with a command that opens the next public page (`led`). Without recorded calls the
answer is empty, so that only pyright's and clangd's answers appear. `frame_lines` handles lines of trace documents and
logs.

The answer is one location, the likeliest, so that no editor shows a chooser: a walk takes one key per frame. A note
after the answer lists skipped frames (`led`). `code_action` and `other_ways` list the alternatives on demand.

Repeated requests walk along one real stack. From a line that an answer led to, only the stacks that led there continue:
of all callees recorded from a shared wrapper, only those on this path. The path that took most time comes first.
Creation of the runtime's client comes last (`inward.roads_inward` defines the order). A callee whose name is under the
cursor comes before all others, except the handler of an `ffi_call` on its line. A request on any other recorded line
begins a new walk.

A line inside `jit` made no call when its program ran. It leads to the lines called from it during tracing. The
innermost of those lead to the lines that run the program, and the client is notified. If the cursor is on the name of a
jitted function, the line of its call leads to the function's first line with an op. A walk that has just turned outward
to that line does not go inward again: it follows the stack.
"""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex_server.answers import frame_lines
from framedex_server.answers.led import lead, tell_of_page
from framedex_server.answers.session import Place, Session
from framedex_server.answers.targets import Targets
from framedex_server.answers.ways import ways_in


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/definition`."""

    async def _of_text(params: types.DefinitionParams, place: Place | None) -> Targets:
        about = session, params.text_document.uri, params.position
        targets = await frame_lines.definition(*about)
        if targets is None and place is not None and (found := await frame_lines.public_frame_in_text(*about)):
            tell_of_page(server, session, place, *found)
        return targets

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> Targets:
        place = session.place(params.text_document, params.position)
        if session.texts.may_hold(params.text_document.uri):
            return await _of_text(params, place)
        return await lead(server, session, place, types.TEXT_DOCUMENT_DEFINITION, ways_in) if place else None
