"""What a report is of: the answers of the index, asked once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING

from framedex.missing import all_problems
from framedex.model import CallFilter, Location, Metadata

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import (
        AnswerOf,
        CaptureRow,
        Check,
        Compiles,
        DeviceMemory,
        FlameGraph,
        FunctionTotals,
        Table,
        Timeline,
        Transfers,
        Waiting,
    )

MOST_CAPTURES = 4
"""Captures that have charts of their own: those with the most calls."""

_MOST_FLAMES = 1_200
"""Nodes of a flame graph: what a page shows without becoming slow."""


@dataclass(frozen=True, slots=True)
class OfCapture:
    """What is told of each capture alone. `lacks` says in sentences what of it is missing."""

    capture: CaptureRow
    metadata: Metadata
    lacks: tuple[str, ...]
    timeline: Timeline
    flames: FlameGraph
    check: Check


@dataclass(frozen=True, slots=True)
class Contents:
    """All that a report tells. `left_out` counts the captures that have no charts."""

    answer: AnswerOf
    totals: tuple[FunctionTotals, ...]
    compiles: Table[Compiles]
    transfers: Table[Transfers]
    memory: Table[DeviceMemory]
    waits: Waiting
    captures: tuple[OfCapture, ...]
    left_out: int

    def paths(self) -> set[str]:
        """The paths of all places in it."""
        return {location.path for location in _locations(self)}


def contents_of(index: Index, answer: AnswerOf, most_flames: int = _MOST_FLAMES) -> Contents:
    """Ask an index, which holds the captures of an answer and no others, for all that a report tells.

    A flame graph has at most `most_flames` functions.
    """
    largest = sorted(answer.captures, key=lambda each: (-each.calls, each.id))[:MOST_CAPTURES]
    return Contents(
        answer=answer,
        totals=tuple(index.calls.totals(CallFilter(), by_thread=False)),
        compiles=index.compiles(),
        transfers=index.transfers(),
        memory=index.memory(),
        waits=index.waits(),
        captures=tuple(
            _of_capture(index, capture, most_flames) for capture in sorted(largest, key=lambda each: each.id)
        ),
        left_out=len(answer.captures) - len(largest),
    )


def _of_capture(index: Index, capture: CaptureRow, most_flames: int) -> OfCapture:
    held = index.capture(capture.id)
    return OfCapture(
        capture=capture,
        metadata=Metadata.parse(capture.metadata_text),
        lacks=tuple(all_problems(capture.stops, capture.problems)),
        timeline=held.timeline(),
        flames=held.flame_graph(with_glue=False, most=most_flames),
        check=held.check(),
    )


def _locations(value: object) -> Iterator[Location]:
    if isinstance(value, Location):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _locations(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from _locations(each)
