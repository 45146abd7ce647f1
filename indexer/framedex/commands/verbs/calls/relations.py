"""`framedex callers` and `framedex callees`: recorded call relations across Python and C++."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.commands.inputs.missing_answers import not_recorded_error, note_own_function_inside_jit
from framedex.commands.inputs.selection import CaptureSelection, capture_option, open_counted_index, render_heading_line
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import build_callees_document, build_callers_document
from framedex.commands.output.render_answers import render_relation_lines, render_static_caller_lines
from framedex.model import CallEdge, FunctionRow

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.index.ask.name.functions import Functions
    from framedex.model import AnswerScope, MatchingFunctions, StaticCallers

_MAX_FUNCTIONS = 20
_MAX_LISTED = 12

_all_option = click.option(
    "--all", "show_all", is_flag=True, help="Show direct neighbours, including interpreter and glue frames."
)

_static_option = click.option(
    "--static",
    "with_static",
    is_flag=True,
    help="Add callers in the sources that were never recorded.",
)

Group = tuple[FunctionRow, Sequence[CallEdge]]


@click.command()
@click.argument("name")
@_all_option
@_static_option
@capture_option
@json_option
@click.pass_obj
def callers(
    index_path: Path | None,
    name: str,
    show_all: bool,
    with_static: bool,
    selection: CaptureSelection | None,
    as_json: bool,
) -> None:
    """Show the recorded callers of a function.

    NAME is a name, its last parts (`Trainer.step`), a unique part, or a pattern ('*put*'). Functions of your own
    files come first. Interpreter and glue frames are skipped.
    """
    with open_counted_index(index_path, selection) as index:
        answer, groups = _find_groups(
            index, name, lambda queries: queries.direct_callers if show_all else queries.callers
        )
        static = {function.id: _static_callers(index, function) for function, _ in groups} if with_static else {}
    if as_json:
        print_json(build_callers_document(answer, groups, static))
        return
    print_lines([render_heading_line(answer)])
    for function, edges in groups:
        print_lines(render_relation_lines(function, edges, "callers", are_callees=False))
        if with_static:
            print_lines(render_static_caller_lines(static[function.id]))


@click.command()
@click.argument("name")
@_all_option
@capture_option
@json_option
@click.pass_obj
def callees(
    index_path: Path | None, name: str, show_all: bool, selection: CaptureSelection | None, as_json: bool
) -> None:
    """Show the recorded callees of a function.

    NAME is a name, its last parts (`Trainer.step`), a unique part, or a pattern ('*put*'). Functions of your own
    files come first. Interpreter and glue frames are skipped.
    """
    with open_counted_index(index_path, selection) as index:
        answer, groups = _find_groups(
            index, name, lambda queries: queries.direct_callees if show_all else queries.callees
        )
    if as_json:
        print_json(build_callees_document(answer, groups))
        return
    print_lines([render_heading_line(answer)])
    for function, edges in groups:
        print_lines(render_relation_lines(function, edges, "callees", are_callees=True))


def _static_callers(index: Index, function: FunctionRow) -> StaticCallers | None:
    """The callers of a function that only the sources have; None if its source is not in the index."""
    begin = function.location
    if begin is None or not index.sources.is_known_source(begin.path):
        return None
    return index.line(begin.path, begin.line).static_callers(index.functions.all_callers(function.id))


def _find_groups(
    index: Index, name: str, edges: Callable[[Functions], Callable[[int], list[CallEdge]]]
) -> tuple[AnswerScope, list[Group]]:
    """The functions that the name matches with their edges, the user's own first, and the captures of the answer.

    A part of a name matches only if it is unique among functions of its kind. Raises FramedexError without a match.
    """
    matches = index.functions.match(name)
    if not matches.functions:
        raise not_recorded_error(
            index,
            name,
            f"No function like '{name}' is on a recorded stack.",
            "`framedex trace ID` shows the functions of a stack.",
        )
    if not matches.is_name and matches.likely > 1:
        raise _ambiguous_error(name, matches)
    if not matches.is_name:
        rank = "" if matches.count == 1 else f", and is the most likely of {matches.count:,}"
        note(f"No function is named {name}. The name of this one contains it{rank}.")
    elif matches.count > _MAX_FUNCTIONS:
        note(f"The {_MAX_FUNCTIONS} most called of {words.count(matches.count, 'function')} named {name}.")
    note_own_function_inside_jit(index, name, matches.functions)
    named = matches.functions[: _MAX_FUNCTIONS if matches.is_name else 1]
    queries, shown = index.functions.restrict_to_latest_run(named)
    return queries.answer_of(shown), [(function, edges(queries)(function.id)) for function in shown]


def _ambiguous_error(name: str, matches: MatchingFunctions) -> FramedexError:
    """The error for a part of a name that matches several functions, with the most likely ones."""
    shown = matches.functions[: min(matches.likely, _MAX_LISTED)]
    listed = [f"{make_printable(function.name)}" for function in shown]
    if matches.count > len(shown):
        listed.append(f"and {words.count(matches.count - len(shown), 'more function')}")
    return FramedexError(
        f"No function is named {name}; {matches.count:,} contain it in their names:\n" + "\n".join(listed),
        f"Name one of them, or match all with a pattern: '*{name}*'.",
    )
