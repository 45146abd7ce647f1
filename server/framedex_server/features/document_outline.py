"""The structure of trace documents and logs: document symbols, folding ranges, selection ranges.

Symbols are the stacks with their frames. Clients without hierarchical symbols get a list of frames, each with the title
of its stack. Every stack folds, and so does every run of glue and interpreter frames in it. The index identifies
recorded glue; other frames are classified by name and binary. If the setting `fold-glue` is off, only stacks fold. A
selection grows from the part under the cursor to its frame, its stack and the document.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.base.words import count
from framedex.model import FrameRole, Language
from framedex_server.answers.frame_lines import frame_range, stack_range
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import to_path
from framedex_server.documents.stack_texts import StackText
from framedex_server.markup import shorten

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.text_stacks import TextFrame

MAX_SYMBOLS = 5_000
"""Maximum number of outline entries, filled from the start of the text."""

Symbols = list[types.DocumentSymbol] | list[types.SymbolInformation] | None


def register_symbols(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/documentSymbol`."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: types.DocumentSymbolParams) -> Symbols:
        uri = params.text_document.uri
        document = await session.texts.parse(uri)
        if document is None:
            return None
        tree = await session.texts.run(lambda: list(islice(_stack_symbols(session, document), MAX_SYMBOLS)))
        text_document = server.client_capabilities.text_document
        ability = text_document.document_symbol if text_document else None
        if ability is not None and ability.hierarchical_document_symbol_support:
            return tree or None
        return [flat for stack in tree for flat in _flatten(stack, uri)][:MAX_SYMBOLS] or None


def _stack_symbols(session: Session, document: StackText) -> Iterator[types.DocumentSymbol]:
    from framedex.text_stacks import StackFormat

    left = MAX_SYMBOLS
    for stack in document.reading.stacks:
        if stack.format is StackFormat.PLAIN or left <= 0:  # locations in plain text are not a stack
            continue
        frames = [frame for frame in stack.frames if not frame.is_alternative][:left]
        left -= len(frames) + 1
        first = document.lines[stack.first_line]
        yield types.DocumentSymbol(
            name=shorten(make_printable(stack.title or first.strip())) or str(stack.format),
            detail=f"{stack.format}, {words.count(len(stack.frames), 'frame')}",
            kind=types.SymbolKind.Event,
            range=stack_range(session, document, stack),
            selection_range=types.Range(
                types.Position(stack.first_line, 0), session.position_in(first, stack.first_line, len(first))
            ),
            children=[_build_frame_symbol(session, document, frame) for frame in frames],
        )


def _build_frame_symbol(session: Session, document: StackText, frame: TextFrame) -> types.DocumentSymbol:
    where = frame_range(session, document, frame)
    place = f"{frame.place.path}:{frame.place.line}" if frame.place else frame.module
    name = frame.function or place or (f"{frame.address:#x}" if frame.address is not None else "(unknown)")
    return types.DocumentSymbol(
        name=shorten(make_printable(name)),
        detail=make_printable(place),
        kind=types.SymbolKind.Function,
        range=where,
        selection_range=where,
    )


def _flatten(stack: types.DocumentSymbol, uri: str) -> Iterator[types.SymbolInformation]:
    for frame in stack.children or ():
        yield types.SymbolInformation(
            location=types.Location(uri, frame.range), name=frame.name, kind=frame.kind, container_name=stack.name
        )


MAX_RANGES = 5_000

MAX_FUNCTION_LOOKUPS = 1_000
"""Maximum number of a document's functions looked up in the index."""

FunctionKey = tuple[str, str, int]
"""A function's name, and the path and line of a frame in it."""


def register_folding(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/foldingRange`."""

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def fold(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        uri = params.text_document.uri
        document = await session.texts.parse(uri)
        if document is None:
            return None
        with_runs = session.settings_for(to_path(uri) or session.default_document()).fold_glue
        text_document = server.client_capabilities.text_document
        ability = text_document.folding_range if text_document else None
        limit = (ability.range_limit if ability else None) or MAX_RANGES
        found = await session.texts.run(lambda: list(_stack_ranges(document)))
        if with_runs:  # after whole stacks: a client with a small limit folds only those
            about = to_path(uri) or session.default_document()
            recorded = await session.query(about, lambda index: _find_recorded_glue(index, document)) or frozenset()
            found += await session.texts.run(lambda: list(_find_glue_ranges(document, recorded)))
        return found[: min(limit, MAX_RANGES)] or None


def _stack_ranges(document: StackText) -> Iterator[types.FoldingRange]:
    for stack in document.reading.stacks:
        if stack.last_line > stack.first_line:
            yield types.FoldingRange(stack.first_line, stack.last_line, kind=types.FoldingRangeKind.Region)


def _find_glue_ranges(document: StackText, recorded: Collection[FunctionKey]) -> Iterator[types.FoldingRange]:
    for stack in document.reading.stacks:
        run: list[TextFrame] = []
        for frame in stack.frames:
            if _function_key(frame) in recorded or _is_glue(frame):
                run.append(frame)
                continue
            yield from _make_range(run)
            run = []
        yield from _make_range(run)


def _make_range(run: list[TextFrame]) -> Iterator[types.FoldingRange]:
    if run and run[-1].last_line > run[0].first_line:
        number = sum(not frame.is_alternative for frame in run)
        text = count(number, "glue or interpreter frame")
        yield types.FoldingRange(run[0].first_line, run[-1].last_line, kind="framedex.glue", collapsed_text=f"… {text}")


def _find_recorded_glue(index: Index, document: StackText) -> frozenset[FunctionKey]:
    """Return the functions recorded as glue or interpreter: a text line with a location does not name its binary."""
    placed = {named for frame in document.reading.frames() if (named := _function_key(frame)) is not None}
    return frozenset(
        named
        for named in sorted(placed)[:MAX_FUNCTION_LOOKUPS]
        for function in index.line(named[1], named[2]).functions()
        if function.name == named[0] and function.role is not FrameRole.CODE
    )


def _function_key(frame: TextFrame) -> FunctionKey | None:
    if frame.language is not Language.NATIVE or frame.place is None or frame.module:
        return None
    return frame.function, frame.place.path, frame.place.line


def _is_glue(frame: TextFrame) -> bool:
    """Return whether a frame is glue or interpreter; alternatives share the name of the frame above them."""
    from framedex.binaries.names import readable_name
    from framedex.binaries.roles import classify_native_frame

    if frame.language is not Language.NATIVE or not (frame.function or frame.module):
        return False
    return classify_native_frame(frame.module, readable_name(frame.function)) is not FrameRole.CODE


def register_selection_ranges(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/selectionRange`."""

    @server.feature(types.TEXT_DOCUMENT_SELECTION_RANGE)
    async def select(params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
        document = await session.texts.parse(params.text_document.uri)
        return [_selection_range(session, document, position) for position in params.positions] if document else None


def _selection_range(session: Session, document: StackText, position: types.Position) -> types.SelectionRange:
    last = len(document.lines) - 1
    end = session.position_in(document.lines[last], last, len(document.lines[last]))
    found = types.SelectionRange(types.Range(types.Position(0, 0), end))
    for inner in _find_enclosing_ranges(session, document, position):
        if inner != found.range and _contains(found.range, inner) and _contains(inner, types.Range(position, position)):
            found = types.SelectionRange(inner, parent=found)
    return found


def _find_enclosing_ranges(session: Session, document: StackText, position: types.Position) -> Iterator[types.Range]:
    """Yield the ranges around a position, outermost first."""
    stack = document.stack_around(position.line)
    if stack is None:
        return
    yield stack_range(session, document, stack)
    frames = document.frames_on(position.line)
    yield from (frame_range(session, document, frame) for frame in frames)
    for part in (part for frame in frames for part in frame.parts if part.line == position.line):
        text = document.lines[part.line]
        yield types.Range(
            session.position_in(text, part.line, part.start), session.position_in(text, part.line, part.end)
        )


def _contains(outer: types.Range, inner: types.Range) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
