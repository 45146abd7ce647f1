"""Differences between the ranks of a job as lines to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.terminal import Span, text_line
from framedex.model import Severity
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.commands.output.terminal import Line
    from framedex.fleet.ranks.model import Comparison, Finding

_MOST_RANGES = 8


def ranks_lines(comparison: Comparison, limit: int) -> Iterator[Line]:
    """The compared ranks, then the findings, worst first, at most `limit` (0: all)."""
    members = comparison.members
    yield text_line(
        f"{comparison.job}: {words.count(len(members), 'rank')} ({_ranks([each.rank for each in members])})", "head"
    )
    if comparison.loop is not None:
        loop = comparison.loop
        steps = f"{words.count(loop.steps, 'step')}, of {words.duration(loop.step)} mostly"
        yield text_line(f"{steps}, each with one run of a program by {loop.path}:{loop.line}")
    shown = comparison.findings[: limit or None]
    for finding in shown:
        yield ()
        yield from _finding(finding)
    if len(shown) < len(comparison.findings):
        yield ()
        yield text_line(f"… {len(comparison.findings) - len(shown):,} more; --json lists all", "dim")


def _finding(finding: Finding) -> Iterator[Line]:
    style = "head" if finding.severity is Severity.NOTE else "error"
    ranks = f"  rank{'' if len(finding.ranks) == 1 else 's'} {_ranks(finding.ranks)}" if finding.ranks else ""
    yield (Span(f"{finding.severity}: {finding.kind}", style), Span(ranks))
    yield text_line(f"    {finding.tells}")
    if finding.path is not None:
        place = Span(f"{printable(finding.path)}:{finding.line}", "place")
        yield (Span("    "), place, Span(_when(finding), "dim"))
    if finding.delay and not finding.kind.startswith("slow"):
        yield text_line(f"    the others waited {words.duration(finding.delay)} for it")
    if finding.capture is not None:
        called = f", call {finding.call}" if finding.call is not None else ""
        stack = f", stack {finding.stack}" if finding.stack is not None else ""
        other = f"; of rank {finding.other_rank} call {finding.other_call}" if finding.other_call is not None else ""
        yield text_line(f"    capture {finding.capture}{called}{stack}{other}", "dim")


def _when(finding: Finding) -> str:
    times = words.count(finding.times, "time") if finding.times > 1 else ""
    step = "" if finding.step is None else f"{'first ' * bool(times)}in step {finding.step}"
    return "".join(f"  {told}" for told in (step, times) if told)


def _ranks(ranks: Sequence[int]) -> str:
    """Ranks in order, with consecutive ranks as a range."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1][1:] = [rank]
        else:
            runs.append([rank])
    texts = ["-".join(map(str, run)) for run in runs]
    more = f" and {words.count(len(texts) - _MOST_RANGES, 'other')}" if len(texts) > _MOST_RANGES else ""
    return ", ".join(texts[:_MOST_RANGES]) + more
