"""Answers about compiled programs: a line inside `jit` makes no calls at run time, but has ops in the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.plaintext import make_printable
from framedex.base.words import count, format_duration
from framedex.path_resolution.files import file_exists
from framedex.texts.costs import format_shares
from framedex_server.answers.session import RequestPosition, Session
from framedex_server.markup import Markup

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Location, NearestLines, ProgramLine, ProgramRun, ProgramUse, PythonLine

MAX_SHOWN = 4
"""Maximum number of programs, ops and lines listed; the rest is counted."""


def find_lines_inside(
    session: Session, position: RequestPosition, index: Index, word: str = ""
) -> Sequence[ProgramLine | PythonLine]:
    """Return the traced callees of a line inside a program, else the lines that run the program.

    With `word`, return only the first line of the function of this name that the line traced or ran in programs.
    """
    line = index.line(position.path, position.line, session.selection.capture_in(index))
    inward: list[ProgramLine] = []
    run_from: list[PythonLine] = []
    for use in line.program_uses():
        inward += use.inward
        run_from += [] if use.is_outside else [runs.line for runs in use.runs if runs.line is not None]
    if not word:
        return _keep_local(inward or run_from)
    runs = [each for run in line.programs_run() for each in run.lines]
    named = [each for each in (*inward, *runs) if each.function.rpartition(".")[2] == word]
    return _keep_local(sorted(named, key=lambda each: (each.location.path, each.location.line)))[:1]


def find_lines_outside(session: Session, position: RequestPosition, index: Index) -> Sequence[ProgramLine | PythonLine]:
    """Return the lines whose tracing called the function of a line inside a program, and the lines that run it."""
    found: list[ProgramLine | PythonLine] = []
    for use in index.line(position.path, position.line, session.selection.capture_in(index)).program_uses():
        if not use.is_outside:
            found += use.outward
            found += [runs.line for runs in use.runs if runs.line is not None]
    return _keep_local(found)


def format_program_uses(markup: Markup, uses: Sequence[ProgramUse]) -> Iterator[str]:
    """Yield the hover's lines about a line inside programs."""
    inside = [use for use in uses if not use.is_outside]
    for use in inside[:MAX_SHOWN]:
        yield f"{markup.strong('framedex: inside')} {markup.code(use.root or use.name)}: {_format_ops(markup, use)}"
        several = f" as {count(use.programs, 'different program')}" if use.programs > 1 else ""
        latest = use.compilations[0] if use.compilations else None
        took = (
            f", {'latest ' if use.compiled > 1 else ''}{format_duration(latest.duration)}" if latest is not None else ""
        )
        origin = _format_origin(markup, latest.line) if latest is not None else ""
        yield f"compiled into {markup.code(use.name)} {_format_times(use.compiled)}{several}{origin}{took}"
        for fusion in use.fusions[:MAX_SHOWN]:
            lines = format_shares(fusion.shares, partial(_format_location, markup))
            yield f"fused {_format_times(fusion.count)} as {markup.code(fusion.instruction)}: {lines}"
        for runs in use.runs[:MAX_SHOWN]:
            each = f"{format_duration(runs.total_duration // max(runs.calls, 1))}{' each' if runs.calls > 1 else ''}"
            yield f"→ run {_format_times(runs.calls)}{_format_origin(markup, runs.line)}, {each}"
        if len(use.runs) > MAX_SHOWN:
            yield f"and from {count(len(use.runs) - MAX_SHOWN, 'more line')}"
        if not use.runs:
            yield "→ never run in these recordings"
        if use.problem:
            yield f"incomplete program: {markup.code(use.problem)}"
    if len(inside) > MAX_SHOWN:
        yield f"and inside {count(len(inside) - MAX_SHOWN, 'more program')}"


def format_program_runs(markup: Markup, runs: Sequence[ProgramRun]) -> Iterator[str]:
    """Yield the hover's lines about the programs that a line ran."""
    for run in runs[:MAX_SHOWN]:
        compiled = f", compiled {_format_times(run.compiled)}" if run.compiled else ""
        inside = ", ".join(_format_location(markup, each.location) for each in run.lines[:MAX_SHOWN])
        more = f" and {len(run.lines) - MAX_SHOWN} more" if len(run.lines) > MAX_SHOWN else ""
        lines = f", with lines {inside}{more}" if inside else f": {markup.code(run.problem)}" if run.problem else ""
        name = markup.code(run.name or "an unknown program")
        yield f"runs {name} {_format_times(run.calls)}, {format_duration(run.total_duration)}{compiled}{lines}"
    if len(runs) > MAX_SHOWN:
        yield f"and runs {count(len(runs) - MAX_SHOWN, 'more program')}"


def format_nearby(nearest: NearestLines) -> str:
    """Return the reason why a line has no calls, and the nearest lines that have some."""
    text = f"No recorded call went through this line: {make_printable(nearest.why)}."
    shown = [
        f"{each.location.line} ({count(each.calls, 'call') if each.calls else count(each.ops, 'op')})"
        for each in nearest.lines
    ]
    return f"{text} Nearest: line {' and line '.join(shown)}." if shown else text


def _format_ops(markup: Markup, use: ProgramUse) -> str:
    if not use.ops:
        return "all its ops are in its callees"
    shown = [f"{markup.code(kind)}{f' x {ops:,}' if ops > 1 else ''}" for kind, ops in use.ops[:MAX_SHOWN]]
    more = f" and {len(use.ops) - MAX_SHOWN} more" if len(use.ops) > MAX_SHOWN else ""
    return f"{'op' if sum(ops for _, ops in use.ops) == 1 else 'ops'} {', '.join(shown)}{more}"


def _format_origin(markup: Markup, line: PythonLine | None) -> str:
    return "" if line is None else f" from {_format_location(markup, line.location)} in {markup.code(line.function)}"


def _format_location(markup: Markup, location: Location) -> str:
    return markup.code(f"{Path(location.path).name}:{location.line}")


def _format_times(number: int) -> str:
    return "once" if number == 1 else "twice" if number == 2 else f"{number:,} times"


def _keep_local(lines: Sequence[ProgramLine | PythonLine]) -> list[ProgramLine | PythonLine]:
    """Return the lines whose files are on this machine, each once."""
    found = {
        (each.location.path, each.location.line): each for each in reversed(lines) if file_exists(each.location.path)
    }
    return list(reversed(found.values()))
