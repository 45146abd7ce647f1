"""`framedex where`: the recorded calls through a file or a line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.commands.inputs.files import parse_place
from framedex.commands.inputs.known import settings_here
from framedex.commands.inputs.scope import Chosen, asked_index, capture_option, heading
from framedex.commands.inputs.whereabouts import whereabouts
from framedex.commands.output.console import json_option, note, nothing_found, print_json, print_lines
from framedex.commands.output.documents import programs_document, where_document
from framedex.commands.output.render_answers import where_lines
from framedex.commands.output.render_programs import mark_lines, nearby_text, run_lines, use_lines
from framedex.errors import FramedexError
from framedex.model import FunctionRow, How, Location, StackHit, Stale
from framedex.path_resolution.files import is_here_as_typed, is_of_a_process
from framedex.plaintext import printable, restore, shell_word

if TYPE_CHECKING:
    from framedex.commands.output.terminal import Line as TextLine
    from framedex.index import Index
    from framedex.index.ask.line.line import Line
    from framedex.model import ProgramMark, ProgramRun, ProgramUse
    from framedex.path_resolution.precedence import Whereabouts

Caller = tuple[FunctionRow, Location | None]


@click.command()
@click.argument("place", metavar="FILE[:LINE]")
@click.option(
    "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="Show at most N functions and stacks."
)
@capture_option
@json_option
@click.pass_obj
def where(index_path: Path | None, place: str, limit: int, chosen: Chosen | None, as_json: bool) -> None:
    """Show the recorded calls below a file or a line.

    A line inside jit makes no call of its own. For such a line the output has its ops, and the calls that compiled
    and ran the program. For a line that runs programs the output also has the lines of those programs.

    FILE is a path, also of another machine, or the end of a recorded path (`pxla.py`, `jax/_src/api.py`). In a range
    (`train.py:10-20`) the first line counts.
    """
    wanted = parse_place(place)
    if wanted.is_line_zero:
        first = shell_word(f"{wanted.path}:1")
        raise FramedexError(f"{wanted.path} has no line 0.", f"Lines count from 1: `framedex where {first}`.")
    asked = place if wanted.line is None else f"{wanted.path}:{wanted.line}"
    with asked_index(index_path, chosen) as index:
        path = _recorded_path(index, whereabouts(settings_here()[0], "-", index), wanted.path)
        file, line = index.file(path), None if wanted.line is None else index.line(path, wanted.line)
        counts = file.recorded_lines() if line is None else {}
        summary = None if line is None else line.summary()
        callers = {} if line is None else _callers(line)
        hits = file.stacks(limit) if line is None else line.stacks(limit)
        stale = Stale.UNKNOWN if _is_changed(hits or file.stacks(limit=1)) else None
        marks = file.program_marks() if line is None else []
        shown = {*counts, *(mark.line for mark in marks)} if line is None else line.lines
        places = {each: index.published(Location(path, each, How.EXACT, stale=stale)) for each in shown}
        linked = [] if line is None else line.linked_calls()
        uses = [] if line is None else line.program_uses()
        inside = [use for use in uses if not use.is_outside]
        runs = [] if line is None or summary is None else line.programs_run()
        known = bool(hits or inside or marks or linked)
        near = line.nearby() if line is not None and not known else None
        answer = file.answer_of() if line is None else line.answer_of()
        at = None if line is None else index.published(Location(path, line.line, How.EXACT, stale=stale))
    if as_json:
        document = where_document(answer, path, wanted.line, counts, summary, callers, hits, linked)
        print_json(document | programs_document(uses, runs, marks, near))
    else:
        if known:
            print_lines([heading(answer)])
        passed = where_lines(places, counts, summary, callers, hits, linked, limit)
        print_lines(_lines(at, inside, runs, marks, places, passed))
        if stale is not None:
            note(f"{printable(path)} has changed since the recording: its lines may have moved.")
    if not known:
        nothing_found(nearby_text(asked, near) if near is not None else f"No recorded call passes {asked}.")


def _lines(
    at: Location | None,
    inside: Sequence[ProgramUse],
    runs: Sequence[ProgramRun],
    marks: Sequence[ProgramMark],
    places: Mapping[int, Location],
    passed: Iterable[TextLine],
) -> Iterator[TextLine]:
    """The programs that contain a line, the calls through it or its file, and the programs that it ran."""
    if at is not None and inside:
        yield from use_lines(at, inside)
    yield from passed
    if runs:
        yield from run_lines(runs)
    if marks:
        yield from mark_lines(marks, places)


def _is_changed(hits: Sequence[StackHit]) -> bool:
    """Whether the file has changed since the recording and git cannot map its lines."""
    places = [hit.frame.location for hit in hits]
    return any(place is not None and place.stale is Stale.UNKNOWN for place in places)


def _callers(line: Line) -> dict[Caller, int]:
    """The nearest outer functions with source, with their call lines, and the number of calls."""
    found: dict[Caller, int] = {}
    for step in line.outward_readable():
        caller = step.target.function, step.target.location
        found[caller] = found.get(caller, 0) + step.calls
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _recorded_path(index: Index, here: Whereabouts, path: Path) -> str:
    """The recorded path for the user's path, which may be escaped as printed; otherwise an existing file.

    Raises FramedexError if the file does not exist, or if several recorded files match.
    """
    names = dict.fromkeys((str(path), restore(str(path))))
    for name in names:
        for file in (here.itself(name), _gone(name)):
            if file is not None and index.file(file).is_recorded():
                return file
        found = index.names.recorded_files(name.lstrip("./"))
        found = found or [file for file in here.files(name) if index.file(file).is_recorded()]
        if len(found) > 1:
            listed = "\n".join(map(printable, found[:20]))
            raise FramedexError(f"Several recorded files end with {path}:\n{listed}", "Give a longer part of the path.")
        if found:
            return found[0]
    for name in names:
        if meant := here.files(name):
            return meant[0]
    name, _, line = str(path).rpartition(":")
    if name and (is_here_as_typed(name) or index.names.recorded_files(restore(name).lstrip("./"))):
        raise FramedexError(f"'{line}' is not a line number.", f"Write the place as FILE:LINE, for example {name}:1.")
    raise FramedexError(
        f"There is no file {path}, here or in the recordings.",
        "Give a path from a trace, or its end: pxla.py, jax/_src/api.py.",
    )


def _gone(name: str) -> str | None:
    """The real path of a file that may not exist any more; None for a path in another process's /proc."""
    try:
        return None if is_of_a_process(name) else os.path.realpath(name)
    except ValueError:  # a null byte
        return None
