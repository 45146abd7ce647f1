"""Folding in trace documents and logs: every stack, and every run of glue and interpreter frames in it.

The index identifies recorded glue; other frames are classified by name and binary. If the setting `fold-glue` is off,
only stacks are folded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.words import count
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import path_of
from framedex_server.documents.stack_texts import StackText

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.text_stacks import TextFrame

MOST_RANGES = 5_000

MOST_LOOKED_UP = 1_000
"""Maximum number of a document's functions looked up in the index."""

Named = tuple[str, str, int]
"""A function's name, and the path and line of a frame in it."""


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/foldingRange`."""

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def fold(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        uri = params.text_document.uri
        document = await session.texts.of(uri)
        if document is None:
            return None
        with_runs = session.settings_at(path_of(uri) or session.any_document()).fold_glue
        text_document = server.client_capabilities.text_document
        ability = text_document.folding_range if text_document else None
        limit = (ability.range_limit if ability else None) or MOST_RANGES
        found = await session.texts.run(lambda: list(_stacks(document)))
        if with_runs:  # after whole stacks: a client with a small limit folds only those
            about = path_of(uri) or session.any_document()
            recorded = await session.ask(about, lambda index: _recorded_plumbing(index, document)) or frozenset()
            found += await session.texts.run(lambda: list(_runs(document, recorded)))
        return found[: min(limit, MOST_RANGES)] or None


def _stacks(document: StackText) -> Iterator[types.FoldingRange]:
    for stack in document.reading.stacks:
        if stack.last_line > stack.first_line:
            yield types.FoldingRange(stack.first_line, stack.last_line, kind=types.FoldingRangeKind.Region)


def _runs(document: StackText, recorded: Collection[Named]) -> Iterator[types.FoldingRange]:
    for stack in document.reading.stacks:
        run: list[TextFrame] = []
        for frame in stack.frames:
            if _named(frame) in recorded or _is_plumbing(frame):
                run.append(frame)
                continue
            yield from _run(run)
            run = []
        yield from _run(run)


def _run(run: list[TextFrame]) -> Iterator[types.FoldingRange]:
    if run and run[-1].last_line > run[0].first_line:
        number = sum(not frame.is_alternative for frame in run)
        text = count(number, "glue or interpreter frame")
        yield types.FoldingRange(run[0].first_line, run[-1].last_line, kind="framedex.glue", collapsed_text=f"… {text}")


def _recorded_plumbing(index: Index, document: StackText) -> frozenset[Named]:
    """Return the functions recorded as glue or interpreter: a text line with a location does not name its binary."""
    from framedex.model import Role

    placed = {named for frame in document.reading.frames() if (named := _named(frame)) is not None}
    return frozenset(
        named
        for named in sorted(placed)[:MOST_LOOKED_UP]
        for function in index.line(named[1], named[2]).functions()
        if function.name == named[0] and function.role is not Role.CODE
    )


def _named(frame: TextFrame) -> Named | None:
    from framedex.model import Language

    if frame.language is not Language.NATIVE or frame.place is None or frame.module:
        return None
    return frame.function, frame.place.path, frame.place.line


def _is_plumbing(frame: TextFrame) -> bool:
    """Return whether a frame is glue or interpreter; alternatives share the name of the frame above them."""
    from framedex.binaries.names import readable
    from framedex.binaries.roles import role_of
    from framedex.model import Language, Role

    if frame.language is not Language.NATIVE or not (frame.function or frame.module):
        return False
    return role_of(frame.module, readable(frame.function)) is not Role.CODE
