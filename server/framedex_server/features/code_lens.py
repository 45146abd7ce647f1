"""Code lenses on recorded functions (how many calls passed, what took longest of what they reached, and the time), and
on lines that cost something: that compile, move data, hold memory or wait.

Off unless asked for. A lens on a function is resolved only when an editor is about to show it; its command opens a
trace through the function. That of a lens on a line shows the stacks behind its number in a client that says it can,
else the trace of the latest of these calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex.words import count, duration
from framedex_server.answers.costs import LineCost, answers_shown, costs_of_file
from framedex_server.answers.session import Session
from framedex_server.answers.since import doubt_about
from framedex_server.markup import shorten
from framedex_server.protocol import OPEN_TRACE, SHOW_COSTS

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FunctionMark


def register(server: LanguageServer, session: Session) -> None:
    """Offer `textDocument/codeLens` and `codeLens/resolve`."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        path = session.source_path(params.text_document)
        if path is None:
            return None
        settings = session.settings_at(path)
        found: list[types.CodeLens] = []
        if settings.code_lens:
            found += await session.ask(path, lambda index: on_functions(session, path, index)) or []
        costs = await costs_of_file(session, path, answers_shown(settings, "lenses"))
        return [*found, *(on_cost(session, path, line, cost) for line, cost in costs)] or None

    @server.feature(types.CODE_LENS_RESOLVE)
    async def resolve(lens: types.CodeLens) -> types.CodeLens:
        match lens.data:
            case {"path": str(path), "function": int(function)}:
                line = session.documents.edits.nearest_saved_line(path, lens.range.start.line + 1)
                titled = await session.ask(path, lambda index: _title(index, function, path, line))
                arguments = [_place(session, path, lens)]
                lens.command = types.Command(titled or "not recorded any more", OPEN_TRACE, arguments=arguments)
        return lens


def on_functions(session: Session, path: str, index: Index) -> list[types.CodeLens]:
    """A lens without its title for each recorded function of a file."""
    functions = index.file(path).functions()[: session.settings_at(path).limit]
    return [
        types.CodeLens(session.line_range(path, line), data={"path": path, "function": function})
        for line, function in functions
        if session.documents.edits.is_shown(path, line)
    ]


def on_cost(session: Session, path: str, line: int, cost: LineCost) -> types.CodeLens:
    """A lens on a line that costs something, which leads to the stacks behind that."""
    lens = types.CodeLens(session.line_range(path, line))
    about = {**_place(session, path, lens), "answer": cost.answer.name, "call": cost.latest_call}
    command = SHOW_COSTS if SHOW_COSTS in session.command_links else OPEN_TRACE
    lens.command = types.Command(cost.text, command, arguments=[about])
    return lens


def _title(index: Index, function: int, path: str, line: int) -> str | None:
    mark = index.functions.mark(function)
    return None if mark is None else title(mark) + doubt_about(index, path, line)


def title(mark: FunctionMark) -> str:
    """What a lens says: `12 calls → PJRT_Client_BufferFromHostBuffer and 3 more, 1.2 ms`."""
    reached = ""
    if mark.boundaries:
        others = len(mark.boundaries) - 1
        reached = f" → {shorten(printable(mark.boundaries[0]))}" + (f" and {others} more" if others else "")
    time = f", {duration(mark.duration)}" if mark.duration is not None else ""
    return f"{count(mark.calls, 'call')}{reached}{time}"


def _place(session: Session, path: str, lens: types.CodeLens) -> dict[str, Any]:
    start = lens.range.start
    return {
        "textDocument": {"uri": session.documents.uri_of(path)},
        "position": {"line": start.line, "character": start.character},
    }
