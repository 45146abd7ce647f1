"""`framedex callers` and `framedex callees`: who called whom, across the border between Python and C++."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import callees_document, callers_document
from framedex.commands.output.render_answers import relation_lines, static_caller_lines
from framedex.commands.reading.scope import Chosen, asked_index, capture_option, heading
from framedex.errors import FramedexError
from framedex.model import Edge, FunctionRow

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.index.ask.name.functions import Functions
    from framedex.model import AnswerOf, StaticCallers

_MOST_FUNCTIONS = 20

_all_option = click.option("--all", "show_all", is_flag=True, help="Show direct neighbours, interpreter and glue too.")

_static_option = click.option(
    "--static",
    "with_static",
    is_flag=True,
    help="Add those that were never recorded, but call NAME in the sources.",
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
    """Show which functions called NAME in recorded stacks.

    NAME is a whole name, the last part of one, or any part; interpreter and glue frames in between are passed over.
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
    """Show which functions NAME called in recorded stacks.

    NAME is a whole name, the last part of one, or any part; interpreter and glue frames in between are passed over.
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
    """The callers that the sources tell of a function, but for those that were recorded; None where none tells."""
    begin = function.location
    if begin is None or not index.sources.knows(begin.path):
        return None
    return index.line(begin.path, begin.line).static_callers(index.functions.all_callers(function.id))


def _groups(
    index: Index, name: str, edges: Callable[[Functions], Callable[[int], list[Edge]]]
) -> tuple[AnswerOf, list[Group]]:
    """Each function that the name fits with its edges, most calls first, and of which captures they are.

    Raises FramedexError where it fits none.
    """
    asked, functions = index.functions.in_latest_run(index.functions.named(name))
    if not functions:
        raise FramedexError(
            f"No function like '{name}' is on a recorded stack.", "`framedex trace ID` shows the functions of a stack."
        )
    if len(functions) > _MOST_FUNCTIONS:
        note(f"The {_MOST_FUNCTIONS} most called of {len(functions):,} functions like '{name}'.")
    shown = functions[:_MOST_FUNCTIONS]
    return asked.answer_of(shown), [(function, edges(asked)(function.id)) for function in shown]
