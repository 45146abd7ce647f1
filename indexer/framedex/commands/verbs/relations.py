"""`framedex callers` and `framedex callees`: recorded call relations across Python and C++."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex import words
from framedex.commands.inputs.scope import Chosen, asked_index, capture_option, heading
from framedex.commands.inputs.unrecorded import not_recorded, note_of_own_inside
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import callees_document, callers_document
from framedex.commands.output.render_answers import relation_lines, static_caller_lines
from framedex.errors import FramedexError
from framedex.model import Edge, FunctionRow
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.index.ask.name.functions import Functions
    from framedex.model import AnswerOf, MeantFunctions, StaticCallers

_MOST_FUNCTIONS = 20
_MOST_LISTED = 12

_all_option = click.option(
    "--all", "show_all", is_flag=True, help="Show direct neighbours, including interpreter and glue frames."
)

_static_option = click.option(
    "--static",
    "with_static",
    is_flag=True,
    help="Add callers in the sources that were never recorded.",
)

Group = tuple[FunctionRow, Sequence[Edge]]


@click.command()
@click.argument("name")
@_all_option
@_static_option
@capture_option
@json_option
@click.pass_obj
def callers(
    index_path: Path | None, name: str, show_all: bool, with_static: bool, chosen: Chosen | None, as_json: bool
) -> None:
    """Show the recorded callers of a function.

    NAME is a name, its last parts (`Trainer.step`), a unique part, or a pattern ('*put*'). Functions of your own
    files come first. Interpreter and glue frames are skipped.
    """
    with asked_index(index_path, chosen) as index:
        answer, groups = _groups(index, name, lambda asked: asked.direct_callers if show_all else asked.callers)
        static = {function.id: _static_callers(index, function) for function, _ in groups} if with_static else {}
    if as_json:
        print_json(callers_document(answer, groups, static))
        return
    print_lines([heading(answer)])
    for function, edges in groups:
        print_lines(relation_lines(function, edges, "callers", inward=False))
        if with_static:
            print_lines(static_caller_lines(static[function.id]))


@click.command()
@click.argument("name")
@_all_option
@capture_option
@json_option
@click.pass_obj
def callees(index_path: Path | None, name: str, show_all: bool, chosen: Chosen | None, as_json: bool) -> None:
    """Show the recorded callees of a function.

    NAME is a name, its last parts (`Trainer.step`), a unique part, or a pattern ('*put*'). Functions of your own
    files come first. Interpreter and glue frames are skipped.
    """
    with asked_index(index_path, chosen) as index:
        answer, groups = _groups(index, name, lambda asked: asked.direct_callees if show_all else asked.callees)
    if as_json:
        print_json(callees_document(answer, groups))
        return
    print_lines([heading(answer)])
    for function, edges in groups:
        print_lines(relation_lines(function, edges, "callees", inward=True))


def _static_callers(index: Index, function: FunctionRow) -> StaticCallers | None:
    """The callers of a function that only the sources have; None if its source is not in the index."""
    begin = function.location
    if begin is None or not index.sources.knows(begin.path):
        return None
    return index.line(begin.path, begin.line).static_callers(index.functions.all_callers(function.id))


def _groups(
    index: Index, name: str, edges: Callable[[Functions], Callable[[int], list[Edge]]]
) -> tuple[AnswerOf, list[Group]]:
    """The functions that the name matches with their edges, the user's own first, and the captures of the answer.

    A part of a name matches only if it is unique among functions of its kind. Raises FramedexError without a match.
    """
    meant = index.functions.meant(name)
    if not meant.functions:
        raise not_recorded(
            index,
            name,
            f"No function like '{name}' is on a recorded stack.",
            "`framedex trace ID` shows the functions of a stack.",
        )
    if not meant.is_name and meant.likely > 1:
        raise _several(name, meant)
    if not meant.is_name:
        likeliest = "" if meant.count == 1 else f", and is the likeliest of {meant.count:,}"
        note(f"No function is named {name}: this one has it in its name{likeliest}.")
    elif meant.count > _MOST_FUNCTIONS:
        note(f"The {_MOST_FUNCTIONS} most called of {words.count(meant.count, 'function')} named {name}.")
    note_of_own_inside(index, name, meant.functions)
    named = meant.functions[: _MOST_FUNCTIONS if meant.is_name else 1]
    asked, shown = index.functions.in_latest_run(named)
    return asked.answer_of(shown), [(function, edges(asked)(function.id)) for function in shown]


def _several(name: str, meant: MeantFunctions) -> FramedexError:
    """The error for a part of a name that matches several functions, with the most likely ones."""
    shown = meant.functions[: min(meant.likely, _MOST_LISTED)]
    listed = [f"{printable(function.name)}" for function in shown]
    if meant.count > len(shown):
        listed.append(f"and {words.count(meant.count - len(shown), 'more function')}")
    return FramedexError(
        f"No function is named {name}; {meant.count:,} have it in their names:\n" + "\n".join(listed),
        f"Give the name of one, or a pattern for all of them: '*{name}*'.",
    )
