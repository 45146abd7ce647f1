"""Charts over time and flame graphs, as shapes for SVG.

A chart is an outline for the `d` attribute of a path. A flame graph is a list of boxes, outermost functions at the top.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from framedex.model import PARTS_OF_STEPS, CallActivity, FlameGraph, FlameKind, FlameNode
from framedex.texts.places import format_cell_name

if TYPE_CHECKING:
    from framedex.model import Location, Loop, LoopStep, ThreadTime, Timeline

CHART_WIDTH = 600
CHART_HEIGHT = 24
"""The height of a chart in its own units; a page stretches it."""

OWN = "own"
"""The field of a loop step with the program's own time: the rest beside `PARTS_OF_STEPS`."""

_MAX_THREADS = 12
_MAX_MEDIANS = 8  # maximum height of a step chart, as a multiple of the median step


@dataclass(frozen=True, slots=True)
class ChartLayer:
    """An area of a chart: its subject and its outline."""

    name: str
    outline: str


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A part of the time of a capture, in ns since the start of its recording."""

    start: int
    end: int

    def ticks(self, count: int = 5) -> list[int]:
        """`count` times at equal distances, including both ends."""
        return [self.start + (self.end - self.start) * number // (count - 1) for number in range(count)]


def find_common_span(memory: Sequence[Sequence[tuple[int, int]]], timeline: Timeline | None = None) -> TimeSpan:
    """The common time span of the charts of device memory and threads."""
    times = [time for points in memory for time, _ in points]
    if timeline is not None and timeline.threads:
        times += [timeline.start, timeline.end]
    return TimeSpan(min(times, default=0), max(times, default=0))


def find_busy_threads(timeline: Timeline) -> tuple[ThreadTime, ...]:
    """The threads that get a chart: at most `_MAX_THREADS`, and none that is almost idle."""
    least = timeline.threads[0].busy // 1000 if timeline.threads else 0
    return tuple(thread for thread in timeline.threads[:_MAX_THREADS] if thread.busy > least)


def draw_thread_layers(thread: ThreadTime, timeline: Timeline, span: TimeSpan) -> Iterator[ChartLayer]:
    """The activities of a thread as chart layers."""
    scale = CHART_WIDTH / max(span.end - span.start, 1)
    left, width = (timeline.start - span.start) * scale, (timeline.end - timeline.start) * scale
    return _draw_stack_layers([(activity.value, thread.shares[activity]) for activity in CallActivity], left, width)


def compute_step_height(loop: Loop) -> int:
    """The duration in ns at the full height of the chart; a few much longer iterations are cut off."""
    longest = max((step.duration for step in loop.steps), default=0)
    return max(min(longest, _MAX_MEDIANS * loop.median_duration), 1)


def draw_step_layers(loop: Loop) -> Iterator[ChartLayer]:
    """The parts of a loop's iterations as chart layers, iterations side by side; the height is the duration."""
    height, steps = compute_step_height(loop), _limit_columns(loop.steps)
    parts = [(name, [getattr(step, name) / height for step in steps]) for name in (*PARTS_OF_STEPS, OWN)]
    return _draw_stack_layers(parts, 0, CHART_WIDTH)


def _limit_columns(steps: Sequence[LoopStep]) -> Sequence[LoopStep]:
    """At most one iteration per unit of the width: the longest of each group of iterations."""
    if len(steps) <= CHART_WIDTH:
        return steps
    edges = [len(steps) * column // CHART_WIDTH for column in range(CHART_WIDTH + 1)]
    return [max(steps[low:high], key=lambda step: step.duration) for low, high in pairwise(edges)]


def _draw_stack_layers(
    parts: Sequence[tuple[str, Sequence[float]]], start: float, width: float
) -> Iterator[ChartLayer]:
    """Stack fractions of 1 as layers, the last one in front. Empty layers are left out."""
    stacked: list[tuple[str, list[float]]] = []
    below = [0.0] * len(parts[0][1])
    for name, heights in parts:
        if any(heights):
            below = [min(low + max(height, 0), 1.0) for low, height in zip(below, heights, strict=True)]
            stacked.append((name, below))
    slice_width = width / max(len(below), 1)
    for name, heights in reversed(stacked):
        yield ChartLayer(
            name,
            _draw_step_outline(
                [(start + slice_width * number, high) for number, high in enumerate(heights)], start + width
            ),
        )


def draw_memory_outline(points: Sequence[tuple[int, int]], peak: int, span: TimeSpan) -> str:
    """The live memory of a device, relative to `peak`: the maximum in each unit of the width."""
    scale = CHART_WIDTH / max(span.end - span.start, 1)
    most: dict[int, int] = {}
    alive = 0
    for time, size in points:
        place = min(round((time - span.start) * scale), CHART_WIDTH - 1)
        most[place] = max(most.get(place, alive), size)
        if place + 1 < CHART_WIDTH:
            most[place + 1] = size  # the memory is constant until the next point
        alive = size
    return _draw_step_outline([(place, size / max(peak, 1)) for place, size in sorted(most.items())], CHART_WIDTH)


def _draw_step_outline(heights: Sequence[tuple[float, float]], end: float) -> str:
    """The outline of an area from pairs of a position and the height (0 to 1) from there on."""
    parts, before = [f"M0 {CHART_HEIGHT}"], 0.0
    for place, height in heights:
        if height != before:
            parts.append(f"H{place:.5g}V{CHART_HEIGHT * (1 - height):.4g}")
            before = height
    return "".join([*parts, f"H{end:.5g}V{CHART_HEIGHT}Z"])


BOX_HEIGHT = 18
"""The height of a box, in pixels."""

_MIN_BOX_WIDTH = 0.02  # percent of the graph
_CALLER_KINDS = (FlameKind.PYTHON, FlameKind.NATIVE)


@dataclass(frozen=True, slots=True)
class FlameBox:
    """A function in the context of its callers; `left` and `width` in percent, `top` in pixels.

    `node` is the position of its node in the graph.
    """

    name: str
    kind: FlameKind
    left: float
    width: float
    top: int
    calls: int
    duration: int
    location: Location | None
    node: int


@dataclass(frozen=True, slots=True)
class FunctionTime:
    """A function with the time of its calls, including callees, in ns; `location` is that of its longest node."""

    name: str
    calls: int
    duration: int
    location: Location | None


def lay_out_flame_boxes(graph: FlameGraph) -> Iterator[FlameBox]:
    """The boxes that are wide enough to be visible, callers first; the width is the time, or calls without times."""
    whole = graph.duration or graph.calls or 1
    placed: list[tuple[float, int]] = []  # left and depth of each node
    ends: dict[int, float] = {}
    for position, node in enumerate(graph.nodes):
        left, depth = placed[node.parent] if node.parent >= 0 else (0.0, -1)
        left = ends.get(node.parent, left)
        width = 100 * (node.duration if graph.duration else node.calls) / whole
        ends[node.parent] = left + width
        placed.append((left, depth + 1))
        if width >= _MIN_BOX_WIDTH:
            name = node.name or f"{node.merged:,} smaller functions"
            yield FlameBox(
                name,
                node.kind,
                left,
                width,
                (depth + 1) * BOX_HEIGHT,
                node.calls,
                node.duration,
                node.location,
                position,
            )


def drop_callers_of_cells(graph: FlameGraph) -> FlameGraph:
    """Drop the callers of notebook cells from the graph, and show each cell by its name."""
    outermost_cells: set[int] = set()
    is_in_cell: list[bool] = []  # for each node: whether it is a cell or below one
    for number, node in enumerate(graph.nodes):
        is_below = node.parent >= 0 and is_in_cell[node.parent]
        is_cell = node.location is not None and bool(format_cell_name(node.location.path))
        is_in_cell.append(is_below or is_cell)
        if is_cell and not is_below:
            outermost_cells.add(number)
    callers_of_cells: set[int] = set()
    for number in outermost_cells:
        position = graph.nodes[number].parent
        while position >= 0 and position not in callers_of_cells:
            callers_of_cells.add(position)
            position = graph.nodes[position].parent
    new_positions = {-1: -1}
    kept: list[FlameNode] = []
    for number, node in enumerate(graph.nodes):
        if number not in callers_of_cells:
            new_positions[number] = len(kept)
            name = node.name
            if number in outermost_cells and name == "<module>" and node.location is not None:
                name = format_cell_name(node.location.path)
            kept.append(replace(node, name=name, parent=new_positions.get(node.parent, -1)))
    return replace(graph, nodes=tuple(kept))


def sort_functions_by_time(graph: FlameGraph) -> list[FunctionTime]:
    """The functions that called into the runtime, longest time first, or most calls first if there are no times.

    The runtime's own functions are left out.
    """
    groups: dict[str, list[FlameNode]] = {}
    callers: list[frozenset[str]] = []  # the functions above each node, so that a recursive function counts once
    for node in graph.nodes:
        above = callers[node.parent] if node.parent >= 0 else frozenset()
        if node.kind in _CALLER_KINDS and node.name not in above:
            groups.setdefault(node.name, []).append(node)
            above |= {node.name}
        callers.append(above)
    found = [
        FunctionTime(
            name,
            sum(node.calls for node in nodes),
            sum(node.duration for node in nodes),
            max(nodes, key=lambda each: (each.duration, each.calls)).location,
        )
        for name, nodes in groups.items()
    ]
    return sorted(found, key=lambda each: (-each.duration, -each.calls))
