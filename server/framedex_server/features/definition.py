"""Go to frame: definition on a line with recorded frames leads to the callee that really ran from there.

One frame inward, whatever the languages on either side, past the interpreter, glue, framedex itself, and frames without
source. A file that is not here is shown in a checkout or among the fetched sources. Past the last such frame the answer
is empty, and the client is told which public page is next, with the command that opens it (`led`). Where nothing was
recorded nothing is returned, so that pyright's and clangd's answers stand alone. Lines of trace documents and logs are
`frame_lines`'s.

The answer is one place, the likeliest, so that no editor has to ask which: a walk is one key for each frame. What it
went over is told after the answer (`led`), and the other ways on are listed by who asks for them (`code_action`,
`other_ways`).

Asked again and again, it walks one real stack. From a line that an answer has led to, only the stacks go on that came
there that way: of all callees ever recorded from a shared wrapper, those of this road. Among them the first is the way
to where the time went, past the making of the runtime's client (`inward.roads_inward` has the order). A callee whose
name is under the cursor comes before all others, but for the handler of an `ffi_call` on its line. A question about any
other recorded line begins a new walk.

A line inside `jit` made no call when its program ran: it leads to the lines that were called from it as it was traced,
and from the innermost of those to the lines that run the program, which the client is told. With the name of a jitted
function under the cursor, the line of its call leads to its first line with an op, before all others. A walk that has
just turned outward to that line does not go in again: it follows the stack.
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
    """Offer `textDocument/definition`."""

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
