"""Folding in trace documents and logs: every stack, and in it every run of glue and interpreter frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.words import count
from framedex_server.documents.stack_texts import StackText
from framedex_server.features.session import Session

if TYPE_CHECKING:
    from framedex.interchange import TextFrame, TextStack

MOST_RANGES = 5_000


def register(server: LanguageServer, session: Session) -> None:
    """Offer `textDocument/foldingRange`."""

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    async def fold(params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
        document = await session.texts.of(params.text_document.uri)
        if document is None:
            return None
        text_document = server.client_capabilities.text_document
        ability = text_document.folding_range if text_document else None
        limit = (ability.range_limit if ability else None) or MOST_RANGES
        return await session.texts.run(lambda: _ranges(document)[: min(limit, MOST_RANGES)] or None)


def _ranges(document: StackText) -> list[types.FoldingRange]:
    """Whole stacks first: a client with a small limit folds those."""
    stacks = document.reading.stacks
    whole = [
        types.FoldingRange(stack.first_line, stack.last_line, kind=types.FoldingRangeKind.Region)
        for stack in stacks
        if stack.last_line > stack.first_line
    ]
    return [*whole, *(run for stack in stacks for run in _runs(stack))]


def _runs(stack: TextStack) -> Iterator[types.FoldingRange]:
    run: list[TextFrame] = []
    for frame in stack.frames:
        if _is_plumbing(frame):
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


def _is_plumbing(frame: TextFrame) -> bool:
    """Whether a frame is glue or the interpreter; candidates go with the frame above them, and have its name."""
    from framedex.binaries.names import readable
    from framedex.binaries.roles import role_of
    from framedex.model import Language, Role

    if frame.language is not Language.NATIVE or not (frame.function or frame.module):
        return False
    return role_of(frame.module, readable(frame.function)) is not Role.CODE
