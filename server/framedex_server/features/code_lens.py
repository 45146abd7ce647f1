"""Code lenses on lines with costs (recompiles, transfers, memory, waits), and on recorded functions.

By default only notable lines have lenses. All lenses of a line together take at most 100 columns. Lenses on functions
are off by default, and are resolved only when the editor is about to show them; the command opens a trace through the
function. The command of a cost lens shows the stacks behind its number if the client supports that. Otherwise it opens
the trace of the latest of these calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from textwrap import shorten as shorten_at_word
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex.words import count, duration
from framedex_server.answers.costs import LineCost, lens_costs
from framedex_server.answers.counted import ask_counted
from framedex_server.answers.session import Session
from framedex_server.answers.since import doubt_about
from framedex_server.markup import shorten
from framedex_server.protocol import OPEN_TRACE, SHOW_COSTS

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FunctionMark

WIDEST = 100
"""Maximum number of columns of all lenses of a line together."""

_BETWEEN = len(" | ")
"""Columns that VS Code puts between two lenses of a line."""


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/codeLens` and `codeLens/resolve`."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        path = session.source_path(params.text_document)
        if path is None:
            return None
        found: list[types.CodeLens] = []
        if session.settings_at(path).code_lens:
            found += await ask_counted(session, path, lambda index: on_functions(session, path, index)) or []
        costs, _ = await lens_costs(session, path)
        return [*found, *on_costs(session, path, costs)] or None

    @server.feature(types.CODE_LENS_RESOLVE)
    async def resolve(lens: types.CodeLens) -> types.CodeLens:
        match lens.data:
            case {"path": str(path), "function": int(function)}:
                line = session.documents.edits.nearest_saved_line(path, lens.range.start.line + 1)
                titled = await ask_counted(session, path, lambda index: _title(index, function, path, line))
                arguments = [_place(session, path, lens)]
                lens.command = types.Command(titled or "not recorded any more", OPEN_TRACE, arguments=arguments)
        return lens


def on_functions(session: Session, path: str, index: Index) -> list[types.CodeLens]:
    """Return an unresolved lens for each recorded function of a file."""
    functions = index.file(path).functions()[: session.settings_at(path).limit]
    return [
        types.CodeLens(session.line_range(path, line), data={"path": path, "function": function})
        for line, function in functions
        if session.documents.edits.is_shown(path, line)
    ]


def on_costs(session: Session, path: str, costs: Sequence[tuple[int, LineCost]]) -> Iterator[types.CodeLens]:
    """Yield the lenses of lines with costs; `costs` are in line order."""
    for line, of_line in groupby(costs, key=itemgetter(0)):
        costs_here = [cost for _, cost in of_line]
        for cost, text in zip(costs_here, fitted([cost.text for cost in costs_here]), strict=True):
            yield _on_cost(session, path, line, cost, text)


def fitted(texts: Sequence[str], columns: int = WIDEST) -> list[str]:
    """Return the texts of one line's lenses, the longest truncated at a word so that all fit into the columns."""
    left = columns - _BETWEEN * (len(texts) - 1)
    found = list(texts)
    by_length = sorted(range(len(texts)), key=lambda each: len(texts[each]))
    for position, each in enumerate(by_length):
        share = left // (len(texts) - position)
        if len(found[each]) > share:
            cut = shorten_at_word(found[each], share, placeholder="…")
            found[each] = cut.removesuffix("…").rstrip(" ,:;") + "…"
        left -= len(found[each])
    return found


def _on_cost(session: Session, path: str, line: int, cost: LineCost, text: str) -> types.CodeLens:
    """Return a lens whose command shows the stacks behind its number."""
    lens = types.CodeLens(session.line_range(path, line))
    about = {**_place(session, path, lens), "answer": cost.answer.name, "call": cost.latest_call}
    command = SHOW_COSTS if SHOW_COSTS in session.command_links else OPEN_TRACE
    lens.command = types.Command(text, command, arguments=[about])
    return lens


def _title(index: Index, function: int, path: str, line: int) -> str | None:
    mark = index.functions.mark(function)
    return None if mark is None else title(mark) + doubt_about(index, path, line)


def title(mark: FunctionMark) -> str:
    """Return a lens title: `12 calls → PJRT_Client_BufferFromHostBuffer and 3 more, 1.2 ms`."""
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
