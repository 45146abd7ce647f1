"""Stepping along one recorded stack, and document highlights for the lines of that stack.

`framedex/stepIn` and `stepOut` go one frame along the selected stack, `selectFrame` to a given frame. `nextStack` and
`previousStack` go to another stack through the same line, `selectStack` to a given one. `framedex/stacks` lists the
stacks through a line, and `framedex/stack` returns every frame of the selected one. The selection is remembered. A step
from a line outside the selected stack selects the stack through that line that took longest. So do highlights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.base.plaintext import make_printable
from framedex_server.answers.ffi import resolve_registration
from framedex_server.answers.requests import (
    Json,
    build_duration_json,
    build_frame_json,
    build_position_json,
    parse_integer,
    parse_params,
    parse_position,
)
from framedex_server.answers.session import RequestPosition, Session
from framedex_server.selection import StackPosition

if TYPE_CHECKING:
    from framedex.index import Index

MAX_STACKS = 100
"""Maximum number of stacks through a line that are listed and cycled through."""

Move = Callable[["Index", RequestPosition], "StackPosition | None"]


def register(server: LanguageServer, session: Session) -> None:
    """Register the requests for stepping."""
    steps = StackNavigation(session)

    @server.feature("framedex/stepIn")
    async def step_in(params: Any) -> Json | None:
        return await steps.move(params, lambda index, place: steps.step(index, place, StackPosition.step_inward))

    @server.feature("framedex/stepOut")
    async def step_out(params: Any) -> Json | None:
        return await steps.move(params, lambda index, place: steps.step(index, place, StackPosition.step_outward))

    @server.feature("framedex/nextStack")
    async def next_stack(params: Any) -> Json | None:
        return await steps.move(params, lambda index, place: steps.switch_stack(index, place, 1))

    @server.feature("framedex/previousStack")
    async def previous_stack(params: Any) -> Json | None:
        return await steps.move(params, lambda index, place: steps.switch_stack(index, place, -1))

    @server.feature("framedex/selectStack")
    async def select_stack(params: Any) -> Json | None:
        stack = parse_integer(parse_params(params), "stack")
        return await steps.move(params, lambda index, place: steps.select_stack(index, place, stack))

    @server.feature("framedex/selectFrame")
    async def select_frame(params: Any) -> Json | None:
        return await steps.select_frame(parse_integer(parse_params(params), "frame"))

    @server.feature("framedex/stacks")
    async def stacks(params: Any) -> list[Json]:
        return await steps.list_stacks(params)

    @server.feature("framedex/stack")
    async def stack(_: Any) -> Json | None:
        return await steps.get_selected()


class StackNavigation:
    """The moves of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def move(self, params: Json, move: Move) -> Json | None:
        """Make a move from the place in `params`; select and return its target. None if there is no target."""
        place = self._parse_location(params)
        return await self._session.query_at(place, lambda index: self._make_move(index, place, move)) if place else None

    async def list_stacks(self, params: Json) -> list[Json]:
        """Return the stacks through a line, longest first."""
        place = self._parse_location(params)
        return (
            await self._session.query_at(place, lambda index: self._build_stacks_json(index, place)) if place else None
        ) or []

    async def get_selected(self) -> Json | None:
        """Return the selected position with all frames of its stack, outermost first."""
        at = await self._reload_selection()
        if at is None:
            return None
        return await self._session.run(
            lambda: {
                **build_position_json(self._session, at),
                "stackFrames": [build_frame_json(self._session, frame) for frame in at.frames],
            }
        )

    async def select_frame(self, number: int) -> Json | None:
        """Select and return the frame with this number on the selected stack; None if it has no source line here."""
        at = await self._reload_selection()
        reached = at.step_to(number) if at is not None else None
        if reached is None:
            return None
        self._session.selection.stack = reached
        return await self._session.run(lambda: build_position_json(self._session, reached))

    async def _reload_selection(self) -> StackPosition | None:
        """Return the selected position with current data; clear the selection and return None if its stack is gone."""
        selected = self._session.selection.stack
        if selected is None:
            return None

        def reload(index: Index) -> StackPosition | None:
            return selected.reload(index) if index.path == selected.index else selected

        document = selected.index.parent.parent / "any document"
        at = await self._session.indexes.query(document, reload, selected.index)
        if self._session.selection.stack is selected:
            self._session.selection.stack = at
        return at

    def step(
        self, index: Index, position: RequestPosition, step: Callable[[StackPosition], StackPosition | None]
    ) -> StackPosition | None:
        """Return the next frame along the selected stack, or along the first stack through the line."""
        current = self._find_selected(index, position) or self._find_longest(index, position)
        return step(current) if current is not None else None

    def switch_stack(self, index: Index, position: RequestPosition, offset: int) -> StackPosition | None:
        """Return the same line on another stack, `by` places further in the list, which wraps around."""
        hits = self._session.selection.stacks_through(index, position.path, position.line, self._limit(position))
        selected = self._find_selected(index, position)
        known = [hit.stack for hit in hits]
        if not hits:
            return None
        if selected is None or selected.stack not in known:
            return StackPosition.from_hit(index, hits[0 if offset > 0 else -1])
        return StackPosition.from_hit(index, hits[(known.index(selected.stack) + offset) % len(hits)])

    def select_stack(self, index: Index, position: RequestPosition, stack: int) -> StackPosition | None:
        """Return the line on the stack with this id."""
        hits = self._session.selection.stacks_through(index, position.path, position.line, self._limit(position))
        hit = next((hit for hit in hits if hit.stack == stack), None)
        return StackPosition.from_hit(index, hit) if hit is not None else None

    def _make_move(self, index: Index, position: RequestPosition, move: Move) -> Json | None:
        position = resolve_registration(self._session, index, position)
        reached = move(index, position)
        if reached is None:
            return None
        self._session.selection.stack = reached
        return build_position_json(self._session, reached)

    def _build_stacks_json(self, index: Index, position: RequestPosition) -> list[Json]:
        position = resolve_registration(self._session, index, position)
        selected = self._find_selected(index, position)
        hits = self._session.selection.stacks_through(index, position.path, position.line, self._limit(position))
        return [
            {
                "stack": hit.stack,
                "boundary": make_printable(hit.function),
                "call": hit.latest_call,
                "calls": hit.calls,
                **build_duration_json(hit.total_duration),
                "frame": hit.position,
                "selected": selected is not None and selected.stack == hit.stack,
            }
            for hit in hits
        ]

    def _find_selected(self, index: Index, position: RequestPosition) -> StackPosition | None:
        selected = self._session.selection.stack_in(index)
        if selected is None:
            return None
        return selected.find_on_lines(position.path, index.line(position.path, position.line).lines)

    def _find_longest(self, index: Index, position: RequestPosition) -> StackPosition | None:
        hits = self._session.selection.stacks_through(index, position.path, position.line)
        return StackPosition.from_hit(index, hits[0]) if hits else None

    def _parse_location(self, params: Json) -> RequestPosition | None:
        position = parse_position(params)
        return self._session.source_position(position.text_document, position.position)

    def _limit(self, position: RequestPosition) -> int:
        return min(self._session.settings_for(position.path).limit, MAX_STACKS)


def register_highlights(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/documentHighlight`."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        place = session.source_position(params.text_document, params.position)
        if place is None:
            return None
        return await session.query_at(place, lambda index: find_highlights(session, place, index))


def find_highlights(session: Session, position: RequestPosition, index: Index) -> list[types.DocumentHighlight] | None:
    """Return highlights for the lines of the place's file on the stack through it."""
    stack = session.selection.stack_in(index)
    if stack is None or stack.find_on_lines(position.path, index.line(position.path, position.line).lines) is None:
        hits = session.selection.stacks_through(index, position.path, position.line)
        stack = StackPosition.from_hit(index, hits[0]) if hits else None
    if stack is None:
        return None
    return [
        types.DocumentHighlight(session.line_range(position.path, line), types.DocumentHighlightKind.Text)
        for line in stack.find_lines_in(position.path)
    ]
