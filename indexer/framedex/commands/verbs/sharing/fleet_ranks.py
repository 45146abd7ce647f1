"""`framedex fleet ranks`: compare the ranks of a job.

The JSON document:

    ```
    {"job": str, "ranks": [{"rank", "capture", "path", "host", "calls"}], "compared": int, "loop": null | {"path",
    "line", "function", "steps": int, "step_ns": int}, "clocks": [{"rank", "ahead_ns": int, "gains_ns_per_second":
    float}], "findings": [finding], "notes": [str], "left_out": [str]}

    finding    {"kind", "severity", "ranks": [int], "tells": str, "step": int | null, "steps": [int], "times": int,
               "path", "line", "capture", "call", "stack", "other_rank", "other_call", "delay_ns": int}
    ```

Missing values are null.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.inputs.options import store_option
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import Document
from framedex.commands.output.terminal import Span, render_text_line
from framedex.model import Severity

if TYPE_CHECKING:
    from framedex.commands.output.terminal import Line
    from framedex.fleet.ranks.model import Comparison, Finding

_NS_PER_MS = 1_000_000  # ns


@click.command("ranks")
@click.argument("job", metavar="JOB")
@store_option
@click.option(
    "--floor",
    type=click.FloatRange(min=0),
    default=100,
    show_default=True,
    metavar="MS",
    help="Ignore delays below MS milliseconds: per step, or in total for a rank that is late in most steps.",
)
@click.option("--exit-code", is_flag=True, help="Exit with status 1 on any finding except notes.")
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N findings; 0: all."
)
@json_option
@click.pass_context
def compare_fleet_ranks(
    ctx: click.Context, /, job: str, store: str, floor: float, exit_code: bool, limit: int, as_json: bool
) -> None:
    """Compare the ranks of a job and show the outliers.

    The comparison covers calls that compile, load or run programs or move data, by line of Python. It reports ranks
    with another shape or program, with additional, missing or reordered calls, with an early end, with errors, and
    missing ranks. With clocks aligned, it reports ranks that are late in some or most steps, and the line that is
    slow. Work that only rank 0 does is a note.
    """
    from framedex.fleet.ranks.comparing import compare
    from framedex.fleet.store_queries import StoreConnection
    from framedex.fleet.store_root import StoreRoot

    with StoreConnection(StoreRoot(store)) as connection:
        found = compare(connection, job, round(floor * _NS_PER_MS))
        left_out = tuple(connection.left_out)
    if as_json:
        print_json(build_ranks_document(found, left_out))
    else:
        print_lines(render_ranks_lines(found, limit))
        for remark in (*found.notes, *left_out):
            note(remark)
        if not found.findings:
            note("No differences between the ranks.")
    if exit_code and any(each.severity is not Severity.NOTE for each in found.findings):
        ctx.exit(1)


def render_ranks_lines(comparison: Comparison, limit: int) -> Iterator[Line]:
    """The compared ranks, then the findings, most severe first, at most `limit` (0: all)."""
    members = comparison.members
    numbers = words.format_ranges([each.rank for each in members])
    yield render_text_line(
        f"{comparison.job}: {words.count(len(members), 'rank')} ({numbers})",
        "head",
    )
    if comparison.loop is not None:
        loop = comparison.loop
        steps = f"{words.count(loop.steps, 'step')}, typically {words.format_duration(loop.step)}"
        yield render_text_line(f"{steps}; each runs one program at {loop.path}:{loop.line}")
    shown = comparison.findings[: limit or None]
    for finding in shown:
        yield ()
        yield from _render_finding_lines(finding)
    if len(shown) < len(comparison.findings):
        yield ()
        yield render_text_line(f"… {len(comparison.findings) - len(shown):,} more; --json lists all", "dim")


def _render_finding_lines(finding: Finding) -> Iterator[Line]:
    style = "head" if finding.severity is Severity.NOTE else "error"
    ranks = (
        f"  rank{'' if len(finding.ranks) == 1 else 's'} {words.format_ranges(finding.ranks)}" if finding.ranks else ""
    )
    yield (Span(f"{finding.severity}: {finding.kind}", style), Span(ranks))
    yield render_text_line(f"    {finding.tells}")
    if finding.path is not None:
        place = Span(f"{make_printable(finding.path)}:{finding.line}", "place")
        yield (Span("    "), place, Span(_format_steps(finding), "dim"))
    if finding.delay and not finding.kind.startswith("slow"):
        yield render_text_line(f"    the other ranks waited {words.format_duration(finding.delay)} for it")
    if finding.capture is not None:
        called = f", call {finding.call}" if finding.call is not None else ""
        stack = f", stack {finding.stack}" if finding.stack is not None else ""
        other = f"; rank {finding.other_rank}: call {finding.other_call}" if finding.other_call is not None else ""
        yield render_text_line(f"    capture {finding.capture}{called}{stack}{other}", "dim")


def _format_steps(finding: Finding) -> str:
    times = words.count(finding.times, "time") if finding.times > 1 else ""
    step = "" if finding.step is None else f"{'first ' * bool(times)}in step {finding.step}"
    return "".join(f"  {part}" for part in (step, times) if part)


def build_ranks_document(comparison: Comparison, left_out: Sequence[str]) -> Document:
    """The comparison of ranks as a JSON document."""
    loop = comparison.loop
    return {
        "job": comparison.job,
        "ranks": [asdict(member) for member in comparison.members],
        "compared": comparison.compared,
        "loop": None
        if loop is None
        else {
            "path": loop.path,
            "line": loop.line,
            "function": loop.function,
            "steps": loop.steps,
            "step_ns": loop.step,
        },
        "clocks": [
            {"rank": each.rank, "ahead_ns": each.offset, "gains_ns_per_second": each.drift}
            for each in comparison.clocks
        ],
        "findings": [_build_finding_document(each) for each in comparison.findings],
        "notes": list(comparison.notes),
        "left_out": list(left_out),
    }


def _build_finding_document(finding: Finding) -> Document:
    document = asdict(finding)
    delay = document.pop("delay")
    return document | {
        "kind": finding.kind.value,
        "severity": finding.severity.value,
        "ranks": list(finding.ranks),
        "steps": list(finding.steps),
        "delay_ns": delay,
    }
