"""Compiled programs as lines to print: the programs that contain a line, and the programs that it ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.proposals import trace_command
from framedex.commands.output.terminal import Span, place_line, text_line
from framedex.placetext import location_labels
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.commands.output.terminal import Line
    from framedex.model import Location, Nearby, ProgramLine, ProgramMark, ProgramRun, ProgramUse, PythonLine

_MOST_OPS = 6  # kinds of ops
_MOST_LINES = 6
_MOST_RUNS = 5


def use_lines(place: Location, uses: Sequence[ProgramUse]) -> Iterator[Line]:
    """The programs that contain a line: its ops, their compilations, and the lines that ran them."""
    yield (*place_line(place), Span(f"  is inside {_inside(uses)}"))
    for use in uses:
        yield from _use(use)


def _inside(uses: Sequence[ProgramUse]) -> str:
    roots = dict.fromkeys(printable(use.root or use.name) for use in uses)
    return ", ".join(list(roots)[:_MOST_LINES]) + (f" and {len(roots) - _MOST_LINES} more" * (len(roots) > _MOST_LINES))


def _use(use: ProgramUse) -> Iterator[Line]:
    yield (Span("  in       "), Span(printable(use.name), "head"), Span(f": {_ops(use)}"))
    if use.compilations:
        latest, first = use.compilations[0], use.compilations[-1]
        several = f" as {use.programs} different programs" if use.programs > 1 else ""
        at_last = "at last " if use.compiled > 1 else ""
        yield (
            Span(f"  compiled {_times(use.compiled)}{several}"),
            *_from(first.line),
            Span(f"  {at_last}{words.duration(latest.duration)}"),
            Span(f"  {trace_command(latest.call)}", "dim", whole=True),
        )
    for runs in use.runs[:_MOST_RUNS]:
        each = " each" if runs.calls > 1 else ""
        yield (
            Span(f"  run      {_times(runs.calls)}"),
            *_from(runs.line),
            Span(f"  {words.duration(runs.total_duration // runs.calls)}{each}"),
            Span(f"  {trace_command(runs.latest_call)}", "dim", whole=True),
        )
    if len(use.runs) > _MOST_RUNS:
        yield text_line(f"           and from {words.count(len(use.runs) - _MOST_RUNS, 'more line')}", "dim")
    if not use.runs:
        yield text_line("  never run in what was recorded", "dim")
    for line in use.inward[:_MOST_LINES]:
        yield _neighbour("calls    ", line)
    lines = [each.line for each in use.compilations] + [runs.line for runs in use.runs]
    told = {line.location for line in lines if line is not None}
    for line in [line for line in use.outward if line.location not in told][:_MOST_LINES]:
        yield _neighbour("called   ", line, "from ")
    if use.problem:
        yield text_line(f"  Of this program not all is known: {use.problem}.", "dim")


def _neighbour(word: str, line: ProgramLine, before: str = "") -> Line:
    name = (Span(printable(line.function), "python"), Span("  ")) if line.function else ()
    return (Span(f"  {word}{before}"), *name, *place_line(line.location), Span(f"  {words.count(line.ops, 'op')}"))


def _ops(use: ProgramUse) -> str:
    if not use.ops:
        return "no op of its own, it calls what has"
    shown = [f"{printable(kind)} x {count:,}" if count > 1 else printable(kind) for kind, count in use.ops[:_MOST_OPS]]
    more = f" and {len(use.ops) - _MOST_OPS} more" if len(use.ops) > _MOST_OPS else ""
    word = "op" if sum(count for _, count in use.ops) == 1 else "ops"
    return f"{word} {', '.join(shown)}{more}"


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count:,} times"


def _from(line: PythonLine | None) -> Line:
    if line is None:
        return ()
    return (Span(" from "), Span(printable(line.function), "python"), Span("  "), *place_line(line.location))


def run_lines(runs: Sequence[ProgramRun]) -> Iterator[Line]:
    """The programs that a line ran, each with the lines inside it that have the most ops."""
    yield ()
    yield text_line("programs run from here, longest first:", "head")
    for run in runs:
        compiled = f", compiled {_times(run.compiled)}" if run.compiled else ""
        yield (
            Span(f"{run.calls:>8,}  "),
            Span(printable(run.name) or "(unknown)", "head"),
            Span(f"  {words.duration(run.total_duration)} in all{compiled}"),
            Span(f"  {trace_command(run.latest_call)}", "dim", whole=True),
        )
        if run.problem:
            yield text_line(f"          Which program it is is not known: {run.problem}.", "dim")
        for line in run.lines[:_MOST_LINES]:
            name = f" in {printable(line.function)}" if line.function else ""
            yield (Span("          "), *place_line(line.location), Span(f"{name}  {words.count(line.ops, 'op')}"))
        if len(run.lines) > _MOST_LINES:
            yield text_line(f"          and {words.count(len(run.lines) - _MOST_LINES, 'more line')}", "dim")


def nearby_text(place: str, near: Nearby) -> str:
    """Sentences: why a line has no recorded calls, and the nearest lines that have some."""
    told = f"No recorded call passes {place}: {printable(near.why)}."
    if near.lines:
        shown = []
        for line in near.lines:
            known = [words.count(line.calls, "call")] if line.calls else []
            if line.ops:
                known.append(f"{words.count(line.ops, 'op')} of {printable(line.programs[0])}")
            labels = "".join(f" [{label}]" for label in location_labels(line.location))
            name = printable(Path(line.location.path).name)
            shown.append(f"{name}:{line.location.line}{labels} ({', '.join(known)})")
        told += f" Nearest: {', '.join(shown)}."
    return told


def mark_lines(marks: Sequence[ProgramMark], places: Mapping[int, Location]) -> Iterator[Line]:
    """The lines of a file that are the source of ops in programs."""
    yield ()
    yield text_line("lines in compiled programs:", "head")
    for mark in marks:
        names = ", ".join(map(printable, mark.programs[:_MOST_LINES]))
        more = f" and {len(mark.programs) - _MOST_LINES} more" if len(mark.programs) > _MOST_LINES else ""
        yield (*place_line(places[mark.line]), Span(f"  {words.count(mark.ops, 'op')} of {names}{more}"))
