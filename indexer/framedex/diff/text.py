"""Differences between runs as text for verbs and editors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.diff.model import IN_THE_RUNTIME, CostTrend, DiffAspect
from framedex.model.scopes import CaptureScope
from framedex.texts.captures import answer_heading

if TYPE_CHECKING:
    from framedex.diff.model import Differences, DiffSide, LineDiff, Quantity
    from framedex.diff.stack_paths import FrameRun

_NONE = "none"
_REASONS = (DiffAspect.COMPILES, DiffAspect.TIMES, DiffAspect.BYTES, DiffAspect.CALLS)
_VERDICTS = {
    CostTrend.WORSE: "got worse",
    CostTrend.BETTER: "got better",
    CostTrend.OTHER: "changed without a cost",
}
_FRAMES_AT_EACH_END = 2  # frames shown at each end of a run


def format_quantity(quantity: Quantity) -> str:
    """A quantity that changed: `calls PJRT_Client_Compile 2 -> 3`."""
    return " ".join(filter(None, (quantity.name, quantity.of, format_change(quantity))))


def format_change(quantity: Quantity) -> str:
    """The old and the new value: `2 -> 3`, `1.2 ms -> none`."""
    return f"{format_amount(quantity, quantity.before)} -> {format_amount(quantity, quantity.after)}"


def format_amount(quantity: Quantity, number: int | None) -> str:
    """One of the two numbers with its unit; `none` for None."""
    if number is None:
        return _NONE
    if quantity.about is DiffAspect.TIMES:
        return words.format_duration(number)
    return words.format_size(number) if quantity.about is DiffAspect.BYTES else f"{number:,}"


def format_versions(differences: Differences) -> list[str]:
    """The versions that differ between the two sides: `jaxlib 0.10.2 -> 0.12.0.1`."""
    before, after = dict(differences.before.versions), dict(differences.after.versions)
    return [
        f"{name} {before.get(name, _NONE)} -> {after.get(name, _NONE)}"
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    ]


def format_side_heading(side: DiffSide) -> str:
    """The heading of a side: its captures, without a remark about other captures."""
    return answer_heading(replace(side.answer, counted=CaptureScope.CHOSEN))


def format_path_section(run: FrameRun) -> str:
    """The first and the last frames of a run, and the number of calls through the last frame."""
    names = [each.function for each in run.frames]
    hidden = len(names) - 2 * _FRAMES_AT_EACH_END
    if hidden > 1:
        names[_FRAMES_AT_EACH_END:-_FRAMES_AT_EACH_END] = [f"({hidden} frames)"]
    last = run.frames[-1]
    differs = last.is_shared and last.before != last.after
    calls = f"{last.before:,} -> {last.after:,}" if differs else f"{last.before or last.after:,}"
    return f"{' > '.join(names)}  {calls}"


def format_line_reasons(line: LineDiff) -> list[str]:
    """The differences of a line: reasons for different programs, then compilations, times, bytes and calls."""
    figures = sorted(line.quantities, key=lambda each: _REASONS.index(each.about))
    shown = [format_quantity(each) for each in figures if each.name != IN_THE_RUNTIME]
    if line.paths and not shown:
        shown.append("other frames between this line and the runtime")
    return [*line.why, *shown]


def format_verdicts(verdicts: Sequence[CostTrend], unchanged: int) -> str:
    """The numbers of worse, better, differing and unchanged lines, as a sentence."""
    counts = Counter(verdicts)
    parts = [f"{words.count(counts[verdict], 'line')} {_VERDICTS[verdict]}" for verdict in CostTrend if counts[verdict]]
    same = f"{words.count(unchanged, 'line')} unchanged"
    return f"{', '.join([*parts, same])}."


def format_summary(differences: Differences) -> str:
    """The numbers of differing items and of unchanged lines, as a sentence."""
    if differences.is_empty:
        return "Nothing differs."
    found = (
        (differences.functions, "function"),
        (differences.lines, "line"),
        (differences.loops, "loop"),
        (differences.devices, "device"),
    )
    parts = [words.count(len(rows), noun) for rows, noun in found if rows]
    return f"Different: {', '.join(parts)}. The same: {words.count(differences.unchanged, 'line')}."
