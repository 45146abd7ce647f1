"""Stepping along one recorded stack: framedex's own requests for an editor's commands.

`framedex/stepIn` and `stepOut` go one frame along the selected stack, `selectFrame` to a given frame. `nextStack` and
`previousStack` go to another stack through the same line, `selectStack` to a given one. `framedex/stacks` lists the
stacks through a line, and `framedex/stack` returns every frame of the selected one. The selection is remembered. A step
from a line outside the selected stack selects the stack there that took longest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex_server.answers.ffi_places import recorded_place
from framedex_server.answers.requests import (
    Json,
    duration_json,
    frame_json,
    given,
    integer_in,
    position_in,
    position_json,
)
from framedex_server.answers.session import Place, Session
from framedex_server.chosen import StackPosition

if TYPE_CHECKING:
    from framedex.index import Index

MOST_STACKS = 100
"""Maximum number of stacks through a line that are listed and cycled through."""

Move = Callable[["Index", Place], "StackPosition | None"]


def register(server: LanguageServer, session: Session) -> None:
    """Register the requests."""
    steps = Steps(session)

    @server.feature("framedex/stepIn")
    async def step_in(params: Any) -> Json | None:
        return await steps.move(params, lambda index, place: steps.along(index, place, StackPosition.inward))

    @server.feature("framedex/stepOut")
    async def step_out(params: Any) -> Json | None:
        return await steps.move(params, lambda index, place: steps.along(index, place, StackPosition.outward))

    @server.feature("framedex/nextStack")
    async def next_stack(params: Any) -> Json | None:
        return await steps.move(params, lambda index, place: steps.beside(index, place, 1))

    @server.feature("framedex/previousStack")
    async def previous_stack(params: Any) -> Json | None:
        return await steps.move(params, lambda index, place: steps.beside(index, place, -1))

    @server.feature("framedex/selectStack")
    async def select_stack(params: Any) -> Json | None:
        stack = integer_in(given(params), "stack")
        return await steps.move(params, lambda index, place: steps.given(index, place, stack))

    @server.feature("framedex/selectFrame")
    async def select_frame(params: Any) -> Json | None:
        return await steps.frame(integer_in(given(params), "frame"))

    @server.feature("framedex/stacks")
    async def stacks(params: Any) -> list[Json]:
        return await steps.listed(params)

    @server.feature("framedex/stack")
    async def stack(_: Any) -> Json | None:
        return await steps.picked()


class Steps:
    """The moves of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def move(self, params: Json, move: Move) -> Json | None:
        """Make a move from the place in `params`; select and return its target. None if there is no target."""
        place = self._place(params)
        return await self._session.ask_at(place, lambda index: self._moved(index, place, move)) if place else None

    async def listed(self, params: Json) -> list[Json]:
        """Return the stacks through a line, longest first."""
        place = self._place(params)
        return (await self._session.ask_at(place, lambda index: self._listed(index, place)) if place else None) or []

    async def picked(self) -> Json | None:
        """Return the selected position with all frames of its stack, outermost first."""
        at = await self._anew()
        if at is None:
            return None
        return await self._session.run(
            lambda: {
                **position_json(self._session, at),
                "stackFrames": [frame_json(self._session, frame) for frame in at.frames],
            }
        )

    async def frame(self, wanted: int) -> Json | None:
        """Select and return the frame with this number on the selected stack; None if it has no source line here."""
        at = await self._anew()
        reached = at.on(wanted) if at is not None else None
        if reached is None:
            return None
        self._session.chosen.stack = reached
        return await self._session.run(lambda: position_json(self._session, reached))

    async def _anew(self) -> StackPosition | None:
        """Return the selected position with current data; clear the selection and return None if its stack is gone."""
        picked = self._session.chosen.stack
        if picked is None:
            return None

        def found(index: Index) -> StackPosition | None:
            return picked.anew(index) if index.path == picked.index else picked

        beside = picked.index.parent.parent / "any document"
        at = await self._session.indexes.ask(beside, found, picked.index)
        if self._session.chosen.stack is picked:
            self._session.chosen.stack = at
        return at

    def along(
        self, index: Index, place: Place, step: Callable[[StackPosition], StackPosition | None]
    ) -> StackPosition | None:
        """Return the next frame along the selected stack, or along the first stack through the line."""
        here = self._picked_at(index, place) or self._first_through(index, place)
        return step(here) if here is not None else None

    def beside(self, index: Index, place: Place, by: int) -> StackPosition | None:
        """Return the same line on another stack, `by` places further in the list, which wraps around."""
        hits = self._session.chosen.stacks_through(index, place.path, place.line, self._limit(place))
        picked = self._picked_at(index, place)
        known = [hit.stack for hit in hits]
        if not hits:
            return None
        if picked is None or picked.stack not in known:
            return StackPosition.of(index, hits[0 if by > 0 else -1])
        return StackPosition.of(index, hits[(known.index(picked.stack) + by) % len(hits)])

    def given(self, index: Index, place: Place, stack: int) -> StackPosition | None:
        """Return the line on the stack with this id."""
        hits = self._session.chosen.stacks_through(index, place.path, place.line, self._limit(place))
        hit = next((hit for hit in hits if hit.stack == stack), None)
        return StackPosition.of(index, hit) if hit is not None else None

    def _moved(self, index: Index, place: Place, move: Move) -> Json | None:
        place = recorded_place(self._session, index, place)
        reached = move(index, place)
        if reached is None:
            return None
        self._session.chosen.stack = reached
        return position_json(self._session, reached)

    def _listed(self, index: Index, place: Place) -> list[Json]:
        place = recorded_place(self._session, index, place)
        picked = self._picked_at(index, place)
        hits = self._session.chosen.stacks_through(index, place.path, place.line, self._limit(place))
        return [
            {
                "stack": hit.stack,
                "boundary": printable(hit.function),
                "call": hit.latest_call,
                "calls": hit.calls,
                **duration_json(hit.total_duration),
                "frame": hit.position,
                "selected": picked is not None and picked.stack == hit.stack,
            }
            for hit in hits
        ]

    def _picked_at(self, index: Index, place: Place) -> StackPosition | None:
        picked = self._session.chosen.stack_in(index)
        if picked is None:
            return None
        return picked.at(place.path, index.line(place.path, place.line).lines)

    def _first_through(self, index: Index, place: Place) -> StackPosition | None:
        hits = self._session.chosen.stacks_through(index, place.path, place.line)
        return StackPosition.of(index, hits[0]) if hits else None

    def _place(self, params: Json) -> Place | None:
        position = position_in(params)
        return self._session.source_place(position.text_document, position.position)

    def _limit(self, place: Place) -> int:
        return min(self._session.settings_at(place.path).limit, MOST_STACKS)
