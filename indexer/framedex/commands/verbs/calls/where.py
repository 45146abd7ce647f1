"""`framedex where`: the recorded calls through a file or a line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable, quote_shell_word, restore
from framedex.commands.inputs.files import parse_file_position, path_resolver
from framedex.commands.inputs.project_index import read_settings_here
from framedex.commands.inputs.selection import CaptureSelection, capture_option, open_counted_index, render_heading_line
from framedex.commands.output.console import exit_nothing_found, json_option, note, print_json, print_lines
from framedex.commands.output.documents import build_programs_document, build_where_document
from framedex.commands.output.proposals import build_trace_command
from framedex.commands.output.render_answers import render_where_lines
from framedex.commands.output.render_memory import render_share_lines
from framedex.commands.output.terminal import Span, render_location_line, render_text_line
from framedex.model import FunctionRow, Location, LocationEvidence, StackHit, Staleness
from framedex.path_resolution.files import is_process_path, typed_file_exists
from framedex.texts.places import format_location_labels

if TYPE_CHECKING:
    from framedex.commands.output.terminal import Line
    from framedex.index import Index
    from framedex.index.ask.line.line import Line as IndexedLine
    from framedex.model import NearestLines, ProgramLine, ProgramMark, ProgramRun, ProgramUse, PythonLine
    from framedex.path_resolution.precedence import PathResolver

Caller = tuple[FunctionRow, Location | None]


@click.command()
@click.argument("place", metavar="FILE[:LINE]")
@click.option(
    "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="Show at most N functions and stacks."
)
@capture_option
@json_option
@click.pass_obj
def where(index_path: Path | None, place: str, limit: int, selection: CaptureSelection | None, as_json: bool) -> None:
    """Show the recorded calls below a file or a line.

    A line inside jit makes no call of its own. For such a line the output has its ops, and the calls that compiled
    and ran the program. For a line that runs programs the output also has the lines of those programs.

    FILE is a path on this or another machine, or the end of a recorded path (`pxla.py`, `jax/_src/api.py`). A range
    (`train.py:10-20`) stands for its first line.
    """
    position = parse_file_position(place)
    if position.is_line_zero:
        first = quote_shell_word(f"{position.path}:1")
        raise FramedexError(f"{position.path} has no line 0.", f"Lines count from 1: `framedex where {first}`.")
    position_text = place if position.line is None else f"{position.path}:{position.line}"
    with open_counted_index(index_path, selection, partial(_latest_recording, position.path)) as index:
        path = _recorded_path(index, path_resolver(read_settings_here()[0], "-", index), position.path)
        file, line = index.file(path), None if position.line is None else index.line(path, position.line)
        counts = file.recorded_lines() if line is None else {}
        summary = None if line is None else line.summary()
        callers = {} if line is None else _count_callers(line)
        hits = file.stacks(limit) if line is None else line.stacks(limit)
        stale = Staleness.UNKNOWN if _has_stale_lines(hits or file.stacks(limit=1)) else None
        marks = file.program_marks() if line is None else []
        shown = {*counts, *(mark.line for mark in marks)} if line is None else line.lines
        places = {
            each: index.add_public_url(Location(path, each, LocationEvidence.EXACT, stale=stale)) for each in shown
        }
        linked = [] if line is None else line.linked_calls()
        uses = [] if line is None else line.program_uses()
        inside = [use for use in uses if not use.is_outside]
        runs = [] if line is None or summary is None else line.programs_run()
        known = bool(hits or inside or marks or linked)
        near = line.nearby() if line is not None and not known else None
        answer = file.answer_of() if line is None else line.answer_of()
        location = (
            None
            if line is None
            else index.add_public_url(Location(path, line.line, LocationEvidence.EXACT, stale=stale))
        )
    if as_json:
        document = build_where_document(answer, path, position.line, counts, summary, callers, hits, linked)
        print_json(document | build_programs_document(uses, runs, marks, near))
    else:
        if known:
            print_lines([render_heading_line(answer)])
        call_lines = render_where_lines(places, counts, summary, callers, hits, linked, limit)
        print_lines(_answer_lines(location, inside, runs, marks, places, call_lines))
        if stale is not None:
            note(f"{make_printable(path)} has changed since the recording: its lines may have moved.")
    if not known:
        exit_nothing_found(
            format_nearest_lines(position_text, near)
            if near is not None
            else f"No recorded call passes {position_text}."
        )


def _answer_lines(
    location: Location | None,
    inside: Sequence[ProgramUse],
    runs: Sequence[ProgramRun],
    marks: Sequence[ProgramMark],
    locations: Mapping[int, Location],
    call_lines: Iterable[Line],
) -> Iterator[Line]:
    """The programs that contain a line, the calls through it or its file, and the programs that it ran."""
    if location is not None and inside:
        yield from use_lines(location, inside)
    yield from call_lines
    if runs:
        yield from run_lines(runs)
    if marks:
        yield from mark_lines(marks, locations)


def _has_stale_lines(hits: Sequence[StackHit]) -> bool:
    """Whether the file has changed since the recording and git cannot map its lines."""
    places = [hit.frame.location for hit in hits]
    return any(place is not None and place.stale is Staleness.UNKNOWN for place in places)


def _count_callers(line: IndexedLine) -> dict[Caller, int]:
    """The nearest outer functions with source, with their call lines, and the number of calls."""
    found: dict[Caller, int] = {}
    for step in line.readable_steps_outward():
        caller = step.target.function, step.target.location
        found[caller] = found.get(caller, 0) + step.calls
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _latest_recording(path: Path, index: Index) -> float:
    """The start time of the latest recording with the user's file; 0 if there is none."""
    try:
        file = index.file(_recorded_path(index, path_resolver(read_settings_here()[0], "-", index), path))
    except FramedexError:
        return 0.0
    return max((capture.started for capture in file.answer_of().captures), default=0.0) if file.is_recorded() else 0.0


def _recorded_path(index: Index, path_resolver: PathResolver, path: Path) -> str:
    """The recorded path for the user's path, which may be escaped as printed; otherwise an existing file.

    Raises FramedexError if the file does not exist, or if several recorded files match.
    """
    names = dict.fromkeys((str(path), restore(str(path))))
    for name in names:
        for file in (path_resolver.find_directly(name), _resolve_path(name)):
            if file is not None and index.file(file).is_recorded():
                return file
        found = index.names.recorded_files(name.lstrip("./"))
        found = found or [file for file in path_resolver.files(name) if index.file(file).is_recorded()]
        if len(found) > 1:
            listed = "\n".join(map(make_printable, found[:20]))
            raise FramedexError(
                f"Several recorded files end with {path}:\n{listed}", "Specify a longer part of the path."
            )
        if found:
            return found[0]
    for name in names:
        if meant := path_resolver.files(name):
            return meant[0]
    name, _, line = str(path).rpartition(":")
    if name and (typed_file_exists(name) or index.names.recorded_files(restore(name).lstrip("./"))):
        raise FramedexError(f"'{line}' is not a line number.", f"Write the place as FILE:LINE, for example {name}:1.")
    raise FramedexError(
        f"There is no file {path}, here or in the recordings.",
        "Give a path from a trace, or its end: pxla.py, jax/_src/api.py.",
    )


def _resolve_path(name: str) -> str | None:
    """The real path of a file that may not exist any more; None for a path in another process's /proc."""
    try:
        return None if is_process_path(name) else os.path.realpath(name)
    except ValueError:  # a null byte
        return None


_MAX_OPS = 6  # kinds of ops
_MAX_LINES = 6
_MAX_RUNS = 5
_MAX_FUSIONS = 3
_FUSION_INDENT = 11


def use_lines(location: Location, uses: Sequence[ProgramUse]) -> Iterator[Line]:
    """The programs that contain a line: its ops, their compilations, and the lines that ran them."""
    yield (*render_location_line(location), Span(f"  is inside {_format_programs(uses)}"))
    for use in uses:
        yield from _render_program_use_lines(use)


def _format_programs(uses: Sequence[ProgramUse]) -> str:
    roots = dict.fromkeys(make_printable(use.root or use.name) for use in uses)
    return ", ".join(list(roots)[:_MAX_LINES]) + (f" and {len(roots) - _MAX_LINES} more" * (len(roots) > _MAX_LINES))


def _render_program_use_lines(use: ProgramUse) -> Iterator[Line]:
    yield (Span("  in       "), Span(make_printable(use.name), "head"), Span(f": {_format_ops(use)}"))
    if use.compilations:
        latest, first = use.compilations[0], use.compilations[-1]
        several = f" as {use.programs} different programs" if use.programs > 1 else ""
        latest_mark = "latest " if use.compiled > 1 else ""
        yield (
            Span(f"  compiled {_format_times(use.compiled)}{several}"),
            *_render_caller_spans(first.line),
            Span(f"  {latest_mark}{words.format_duration(latest.duration)}"),
            Span(f"  {build_trace_command(latest.call)}", "dim", is_unbreakable=True),
        )
    for fusion in use.fusions[:_MAX_FUSIONS]:
        yield render_text_line(
            f"  fused    {_format_times(fusion.count)}, as {make_printable(fusion.op or fusion.instruction)}"
        )
        yield from render_share_lines(fusion.instruction, fusion.shares, _FUSION_INDENT)
    if len(use.fusions) > _MAX_FUSIONS:
        hidden = words.count(len(use.fusions) - _MAX_FUSIONS, "more kind")
        yield render_text_line(f"{'':{_FUSION_INDENT}}and {hidden} of fusions", "dim")
    for runs in use.runs[:_MAX_RUNS]:
        each = " each" if runs.calls > 1 else ""
        yield (
            Span(f"  run      {_format_times(runs.calls)}"),
            *_render_caller_spans(runs.line),
            Span(f"  {words.format_duration(runs.total_duration // runs.calls)}{each}"),
            Span(f"  {build_trace_command(runs.latest_call)}", "dim", is_unbreakable=True),
        )
    if len(use.runs) > _MAX_RUNS:
        yield render_text_line(f"           and from {words.count(len(use.runs) - _MAX_RUNS, 'more line')}", "dim")
    if not use.runs:
        yield render_text_line("  never run in these captures", "dim")
    for line in use.inward[:_MAX_LINES]:
        yield _render_neighbour_line("calls    ", line)
    lines = [each.line for each in use.compilations] + [runs.line for runs in use.runs]
    shown_locations = {line.location for line in lines if line is not None}
    for line in [line for line in use.outward if line.location not in shown_locations][:_MAX_LINES]:
        yield _render_neighbour_line("called   ", line, "from ")
    if use.problem:
        yield render_text_line(f"  Incomplete data on this program: {use.problem}.", "dim")


def _render_neighbour_line(word: str, line: ProgramLine, before: str = "") -> Line:
    name = (Span(make_printable(line.function), "python"), Span("  ")) if line.function else ()
    return (
        Span(f"  {word}{before}"),
        *name,
        *render_location_line(line.location),
        Span(f"  {words.count(line.ops, 'op')}"),
    )


def _format_ops(use: ProgramUse) -> str:
    if not use.ops:
        return "no ops of its own; it calls functions with ops"
    shown = [
        f"{make_printable(kind)} x {count:,}" if count > 1 else make_printable(kind)
        for kind, count in use.ops[:_MAX_OPS]
    ]
    more = f" and {len(use.ops) - _MAX_OPS} more" if len(use.ops) > _MAX_OPS else ""
    word = "op" if sum(count for _, count in use.ops) == 1 else "ops"
    return f"{word} {', '.join(shown)}{more}"


def _format_times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count:,} times"


def _render_caller_spans(line: PythonLine | None) -> Line:
    if line is None:
        return ()
    return (
        Span(" from "),
        Span(make_printable(line.function), "python"),
        Span("  "),
        *render_location_line(line.location),
    )


def run_lines(runs: Sequence[ProgramRun]) -> Iterator[Line]:
    """The programs that a line ran, each with the lines inside it that have the most ops."""
    yield ()
    yield render_text_line("programs run from here, longest first:", "head")
    for run in runs:
        compiled = f", compiled {_format_times(run.compiled)}" if run.compiled else ""
        yield (
            Span(f"{run.calls:>8,}  "),
            Span(make_printable(run.name) or "(unknown)", "head"),
            Span(f"  {words.format_duration(run.total_duration)} in all{compiled}"),
            Span(f"  {build_trace_command(run.latest_call)}", "dim", is_unbreakable=True),
        )
        if run.problem:
            yield render_text_line(f"          Unknown program: {run.problem}.", "dim")
        for line in run.lines[:_MAX_LINES]:
            name = f" in {make_printable(line.function)}" if line.function else ""
            yield (
                Span("          "),
                *render_location_line(line.location),
                Span(f"{name}  {words.count(line.ops, 'op')}"),
            )
        if len(run.lines) > _MAX_LINES:
            yield render_text_line(f"          and {words.count(len(run.lines) - _MAX_LINES, 'more line')}", "dim")


def format_nearest_lines(place: str, nearest: NearestLines) -> str:
    """Why a line has no recorded calls, and the nearest lines with calls, as sentences."""
    shown_locations = f"No recorded call passes {place}: {make_printable(nearest.why)}."
    if nearest.lines:
        shown = []
        for line in nearest.lines:
            known = [words.count(line.calls, "call")] if line.calls else []
            if line.ops:
                known.append(f"{words.count(line.ops, 'op')} of {make_printable(line.programs[0])}")
            labels = "".join(f" [{label}]" for label in format_location_labels(line.location))
            name = make_printable(Path(line.location.path).name)
            shown.append(f"{name}:{line.location.line}{labels} ({', '.join(known)})")
        shown_locations += f" Nearest: {', '.join(shown)}."
    return shown_locations


def mark_lines(marks: Sequence[ProgramMark], locations: Mapping[int, Location]) -> Iterator[Line]:
    """The lines of a file that are the source of ops in programs."""
    yield ()
    yield render_text_line("lines in compiled programs:", "head")
    for mark in marks:
        names = ", ".join(map(make_printable, mark.programs[:_MAX_LINES]))
        more = f" and {len(mark.programs) - _MAX_LINES} more" if len(mark.programs) > _MAX_LINES else ""
        yield (*render_location_line(locations[mark.line]), Span(f"  {words.count(mark.ops, 'op')} of {names}{more}"))
