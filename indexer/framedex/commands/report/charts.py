"""Charts over time as outlines of areas, for the `d` attribute of SVG paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from framedex.model import PARTS_OF_STEPS, Activity

if TYPE_CHECKING:
    from framedex.model import Loop, LoopStep, ThreadTime, Timeline

WIDTH = 600
HEIGHT = 24
"""The height of a chart in its own units; a page stretches it."""

OWN = "own"
"""The field with the rest of a loop step beside `PARTS_OF_STEPS`: the time of the program itself."""

_MOST_THREADS = 12
_MOST_MEDIANS = 8


@dataclass(frozen=True, slots=True)
class Layer:
    """An area of a chart: its subject and its outline."""

    name: str
    outline: str


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the time of a capture, in ns since the start of its recording."""

    start: int
    end: int

    def ticks(self, count: int = 5) -> list[int]:
        """`count` times at equal distances, including both ends."""
        return [self.start + (self.end - self.start) * number // (count - 1) for number in range(count)]


def span_of(memory: Sequence[Sequence[tuple[int, int]]], timeline: Timeline | None = None) -> Span:
    """The common time span of the charts of device memory and threads."""
    times = [time for points in memory for time, _ in points]
    if timeline is not None and timeline.threads:
        times += [timeline.start, timeline.end]
    return Span(min(times, default=0), max(times, default=0))


def told_apart(timeline: Timeline) -> tuple[ThreadTime, ...]:
    """The threads with a row of their own: at most `_MOST_THREADS`, and none with an almost empty chart."""
    least = timeline.threads[0].busy // 1000 if timeline.threads else 0
    return tuple(thread for thread in timeline.threads[:_MOST_THREADS] if thread.busy > least)


def layers(thread: ThreadTime, timeline: Timeline, span: Span) -> Iterator[Layer]:
    """The activities of a thread as layers."""
    scale = WIDTH / max(span.end - span.start, 1)
    left, width = (timeline.start - span.start) * scale, (timeline.end - timeline.start) * scale
    return _stacked([(activity.value, thread.shares[activity]) for activity in Activity], left, width)


def step_height(loop: Loop) -> int:
    """The duration in ns at the full height of the chart; a few much longer rounds are cut off."""
    longest = max((step.duration for step in loop.steps), default=0)
    return max(min(longest, _MOST_MEDIANS * loop.median_duration), 1)


def step_layers(loop: Loop) -> Iterator[Layer]:
    """The parts of a loop's rounds, side by side; the height is the duration."""
    height, steps = step_height(loop), _columns(loop.steps)
    parts = [(name, [getattr(step, name) / height for step in steps]) for name in (*PARTS_OF_STEPS, OWN)]
    return _stacked(parts, 0, WIDTH)


def _columns(steps: Sequence[LoopStep]) -> Sequence[LoopStep]:
    """At most one round per unit of the width; for more rounds, the longest of each equal group."""
    if len(steps) <= WIDTH:
        return steps
    edges = [len(steps) * column // WIDTH for column in range(WIDTH + 1)]
    return [max(steps[low:high], key=lambda step: step.duration) for low, high in pairwise(edges)]


def _stacked(parts: Sequence[tuple[str, Sequence[float]]], left: float, width: float) -> Iterator[Layer]:
    """Stack fractions of 1 as layers, the last one in front. Empty layers are left out."""
    stacked: list[tuple[str, list[float]]] = []
    below = [0.0] * len(parts[0][1])
    for name, heights in parts:
        if any(heights):
            below = [min(low + max(height, 0), 1.0) for low, height in zip(below, heights, strict=True)]
            stacked.append((name, below))
    slice_width = width / max(len(below), 1)
    for name, heights in reversed(stacked):
        yield Layer(
            name, _steps([(left + slice_width * number, high) for number, high in enumerate(heights)], left + width)
        )


def memory_outline(points: Sequence[tuple[int, int]], peak: int, span: Span) -> str:
    """The live memory of a device, relative to `peak`: the maximum in each unit of the width."""
    scale = WIDTH / max(span.end - span.start, 1)
    most: dict[int, int] = {}
    alive = 0
    for time, size in points:
        place = min(round((time - span.start) * scale), WIDTH - 1)
        most[place] = max(most.get(place, alive), size)
        if place + 1 < WIDTH:
            most[place + 1] = size  # constant until the next point
        alive = size
    return _steps([(place, size / max(peak, 1)) for place, size in sorted(most.items())], WIDTH)


def _steps(heights: Sequence[tuple[float, float]], end: float) -> str:
    """The outline of an area from pairs of a position and the height (0 to 1) from there on."""
    parts, before = [f"M0 {HEIGHT}"], 0.0
    for place, height in heights:
        if height != before:
            parts.append(f"H{place:.5g}V{HEIGHT * (1 - height):.4g}")
            before = height
    return "".join([*parts, f"H{end:.5g}V{HEIGHT}Z"])
