"""Marks on recorded lines: code lenses, inlay hints, and the lines of `framedex/recordedLines` for an editor's gutter.

Lines with costs (recompiles, transfers, memory, waits) have code lenses; by default only notable lines do. All lenses
of a line together take at most 100 columns; the last one names the captures counted. The command of a cost lens shows
the stacks behind its number if the client supports that. Otherwise it opens the trace of the latest of these calls.

Lenses on recorded functions are off by default, and are resolved only when the editor is about to show them. Their
command opens a trace through the function. Inlay hints show number and duration of calls at the end of recorded lines;
they are off by default.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from textwrap import shorten as shorten_at_word
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.base.plaintext import make_printable
from framedex.base.words import count, format_duration
from framedex.index.file.paths import is_user_file
from framedex_server.answers.costs import LensCosts, LineCost, find_lens_costs
from framedex_server.answers.provenance import (
    change_labels,
    format_counted_captures,
    format_counted_captures_label,
    format_doubt_suffix,
    query_counted,
)
from framedex_server.answers.requests import Json, parse_params
from framedex_server.answers.session import Session
from framedex_server.markup import shorten
from framedex_server.protocol import OPEN_TRACE, SHOW_COSTS

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FunctionCallTotals, LineMark

MAX_COLUMNS = 100
"""Maximum number of columns of all lenses of a line together."""

_SEPARATOR_COLUMNS = len(" | ")
"""Columns that VS Code puts between two lenses of a line."""


def register_code_lenses(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/codeLens` and `codeLens/resolve`."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        path = session.source_path(params.text_document)
        if path is None:
            return None
        found: list[types.CodeLens] = []
        if session.settings_for(path).code_lens:
            found += await query_counted(session, path, lambda index: make_function_lenses(session, path, index)) or []
        costs = await find_lens_costs(session, path)
        return [*found, *make_cost_lenses(session, path, costs)] or None

    @server.feature(types.CODE_LENS_RESOLVE)
    async def resolve(lens: types.CodeLens) -> types.CodeLens:
        match lens.data:
            case {"path": str(path), "function": int(function)}:
                line = session.documents.edits.nearest_saved_line(path, lens.range.start.line + 1)
                titled = await query_counted(
                    session, path, lambda index: _find_title(session, index, function, path, line)
                )
                arguments = [_lens_position(session, path, lens)]
                lens.command = types.Command(titled or "no longer recorded", OPEN_TRACE, arguments=arguments)
        return lens


def make_function_lenses(session: Session, path: str, index: Index) -> list[types.CodeLens]:
    """Return an unresolved lens for each recorded function of a file."""
    functions = index.file(path).functions()[: session.settings_for(path).limit]
    return [
        types.CodeLens(session.line_range(path, line), data={"path": path, "function": function})
        for line, function in functions
        if session.documents.edits.is_shown(path, line)
    ]


def make_cost_lenses(session: Session, path: str, found: LensCosts) -> Iterator[types.CodeLens]:
    """Yield the lenses of lines with costs; the last lens of a line names the captures counted."""
    suffix = _counted_suffix(found.counted)
    for line, of_line in groupby(found.costs, key=itemgetter(0)):
        costs_here = [cost for _, cost in of_line]
        line_range = session.line_range(path, line)
        *texts, last = fit_columns([cost.text for cost in costs_here], MAX_COLUMNS - len(suffix))
        for cost, text in zip(costs_here, [*texts, last + suffix], strict=True):
            yield _make_cost_lens(session, path, line_range, cost, text)


def _counted_suffix(counted: str) -> str:
    return f" · {counted}"


def fit_columns(texts: Sequence[str], columns: int = MAX_COLUMNS) -> list[str]:
    """Return the titles of one line's lenses, the longest truncated at a word so that all fit into the columns."""
    left = columns - _SEPARATOR_COLUMNS * (len(texts) - 1)
    found = list(texts)
    by_length = sorted(range(len(texts)), key=lambda each: len(texts[each]))
    for position, each in enumerate(by_length):
        share = left // (len(texts) - position)
        if len(found[each]) > share:
            cut = shorten_at_word(found[each], share, placeholder="…")
            found[each] = cut.removesuffix("…").rstrip(" ,:;") + "…"
        left -= len(found[each])
    return found


def _make_cost_lens(session: Session, path: str, line_range: types.Range, cost: LineCost, text: str) -> types.CodeLens:
    """Return a lens whose command shows the stacks behind its number."""
    lens = types.CodeLens(line_range)
    about = {**_lens_position(session, path, lens), "answer": cost.answer.name, "call": cost.latest_call}
    command = SHOW_COSTS if SHOW_COSTS in session.command_links else OPEN_TRACE
    lens.command = types.Command(text, command, arguments=[about])
    return lens


def _find_title(session: Session, index: Index, function: int, path: str, line: int) -> str | None:
    totals = index.functions.call_totals(function)
    if totals is None:
        return None
    suffix = _counted_suffix(format_counted_captures_label(session, index, path))
    return format_title(totals) + format_doubt_suffix(index, path, line) + suffix


def format_title(totals: FunctionCallTotals) -> str:
    """Return a lens title: `12 calls → PJRT_Client_BufferFromHostBuffer and 3 more, 1.2 ms`."""
    reached = ""
    if totals.boundaries:
        others = len(totals.boundaries) - 1
        reached = f" → {shorten(make_printable(totals.boundaries[0]))}" + (f" and {others} more" if others else "")
    time = f", {format_duration(totals.duration)}" if totals.duration is not None else ""
    return f"{count(totals.calls, 'call')}{reached}{time}"


def _lens_position(session: Session, path: str, lens: types.CodeLens) -> dict[str, Any]:
    start = lens.range.start
    return {
        "textDocument": {"uri": session.documents.uri_of(path)},
        "position": {"line": start.line, "character": start.character},
    }


MAX_BOUNDARY_NAMES = 8
"""Maximum number of boundary functions in a hint's tooltip."""


def register_inlay_hints(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/inlayHint`."""

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        path = session.source_path(params.text_document)
        if path is None or not session.settings_for(path).inlay_hints:
            return None
        edits = session.documents.edits
        first, last = (edits.nearest_saved_line(path, at.line + 1) for at in (params.range.start, params.range.end))
        return await query_counted(session, path, lambda index: make_hints(session, path, first, last, index))


def make_hints(session: Session, path: str, first: int, last: int, index: Index) -> list[types.InlayHint]:
    """Return a hint for each recorded line between two lines of a file."""
    return [_make_hint(session, path, mark, index) for mark in find_shown_marks(session, path, index, first, last)]


def _make_hint(session: Session, path: str, mark: LineMark, index: Index) -> types.InlayHint:
    names = [shorten(make_printable(name)) for name in mark.boundaries[:MAX_BOUNDARY_NAMES]]
    doubt = format_doubt_suffix(index, path, mark.line)
    return types.InlayHint(
        position=session.line_range(path, mark.line).end,
        label=f"{count(mark.calls, 'call')}, {format_duration(mark.duration)}{doubt}",
        tooltip="\n".join(
            [*change_labels(index, path, mark.line), *names, format_counted_captures(session, index, path)]
        ),
        padding_left=True,
    )


def register_recorded_lines(server: LanguageServer, session: Session) -> None:
    """Register `framedex/recordedLines`."""

    @server.feature("framedex/recordedLines")
    async def recorded_lines(params: Any) -> Json | None:
        """Return the lines of a document; None for files of installed packages and files without recorded calls."""
        match parse_params(params):
            case {"textDocument": {"uri": str(uri)}}:
                path = session.source_path(types.TextDocumentIdentifier(uri))
            case _:
                raise JsonRpcInvalidParams("textDocument is missing.")
        if path is None or not is_user_file(path):
            return None
        lines = await query_counted(session, path, lambda index: _build_recorded_lines_json(session, path, index))
        if not lines:
            return None
        costs = await find_lens_costs(session, path)
        return {"lines": lines, "unshown": costs.hidden_lines}


def _build_recorded_lines_json(session: Session, path: str, index: Index) -> list[Json]:
    return [
        {"line": session.documents.edits.shown_line(path, mark.line) - 1, "calls": mark.calls}
        for mark in find_shown_marks(session, path, index)
    ]


LAST_LINE = 2**31 - 1


def find_shown_marks(
    session: Session, path: str, index: Index, first: int = 1, last: int = LAST_LINE
) -> list[LineMark]:
    """Return the recorded lines between two 1-based lines of a file that are still in the document."""
    marks = [mark for mark in index.file(path).marks(first, last) if mark.calls]
    return [
        mark for mark in marks[: session.settings_for(path).limit] if session.documents.edits.is_shown(path, mark.line)
    ]
