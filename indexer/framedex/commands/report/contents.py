"""The data of a report, each part queried once from the index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING

from framedex.model import CallFilter, Location, Metadata
from framedex.texts.captures import format_all_problems

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import (
        AnswerScope,
        CaptureRow,
        Check,
        Compiles,
        DeviceMemory,
        FlameGraph,
        FunctionTotals,
        Startup,
        Table,
        Timeline,
        Transfers,
        WaitsAndLoops,
    )

MAX_CAPTURES = 4
"""Maximum number of captures with charts of their own. The captures with the most calls get them."""

_MAX_FLAMES = 1_200
"""Maximum number of nodes in a flame graph, which keeps the page fast."""


@dataclass(frozen=True, slots=True)
class CaptureSection:
    """The data of one capture. `missing_data` are sentences about its missing parts."""

    capture: CaptureRow
    metadata: Metadata
    missing_data: tuple[str, ...]
    timeline: Timeline
    flames: FlameGraph
    check: Check


@dataclass(frozen=True, slots=True)
class ReportContents:
    """All data of a report. `left_out` is the number of captures without charts."""

    answer: AnswerScope
    totals: tuple[FunctionTotals, ...]
    compiles: Table[Compiles]
    startups: Table[Startup]
    transfers: Table[Transfers]
    memory: Table[DeviceMemory]
    waits: WaitsAndLoops
    captures: tuple[CaptureSection, ...]
    left_out: int

    def paths(self) -> set[str]:
        """The paths of all locations in the report."""
        return {location.path for location in _find_locations(self)}


def read_contents(index: Index, answer: AnswerScope, most_flames: int = _MAX_FLAMES) -> ReportContents:
    """Query all data of a report from an index that has exactly the captures of an answer.

    A flame graph has at most `most_flames` nodes.
    """
    largest = sorted(answer.captures, key=lambda each: (-each.calls, each.id))[:MAX_CAPTURES]
    return ReportContents(
        answer=answer,
        totals=tuple(index.calls.totals(CallFilter(), by_thread=False)),
        compiles=index.compiles(),
        startups=index.startup(),
        transfers=index.transfers(),
        memory=index.memory(),
        waits=index.waits(),
        captures=tuple(
            _read_capture(index, capture, most_flames) for capture in sorted(largest, key=lambda each: each.id)
        ),
        left_out=len(answer.captures) - len(largest),
    )


def _read_capture(index: Index, capture: CaptureRow, most_flames: int) -> CaptureSection:
    queries = index.capture(capture.id)
    return CaptureSection(
        capture=capture,
        metadata=Metadata.parse(capture.metadata_text),
        missing_data=tuple(format_all_problems(capture.stops, capture.problems)),
        timeline=queries.timeline(),
        flames=queries.flame_graph(with_glue=False, max_nodes=most_flames),
        check=queries.check(),
    )


def _find_locations(value: object) -> Iterator[Location]:
    if isinstance(value, Location):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from _find_locations(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from _find_locations(each)
