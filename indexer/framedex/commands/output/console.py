"""What every verb says and where: errors and notes to stderr, results to stdout, as text or as one JSON document."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from textwrap import indent
from typing import Any, NoReturn

import click

from framedex.commands.output.layout import fit_line
from framedex.commands.output.proposals import noting
from framedex.commands.output.terminal import Line, Terminal, paint, standard_output
from framedex.errors import FramedexError

_AT_ONCE = 4_096  # lines

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def print_error(error: FramedexError) -> None:
    """Print what is wrong and what to do about it."""
    for number, line in enumerate(error.message.split("\n")):
        _say(f"  {line}" if number else f"framedex: {line}")
    for line in error.remedy.split("\n") if error.remedy else ():
        _say(f"  {line}")


def note(text: str) -> None:
    """Print a remark that is no part of the result."""
    _say(text)


def nothing_found(text: str) -> NoReturn:
    """Say that there is nothing of what was asked for, and end with the status that says so, as grep does."""
    note(text)
    raise click.exceptions.Exit(1)


def _say(text: str) -> None:
    terminal = Terminal.of(sys.stderr.isatty(), os.environ)
    for row in fit_line(noting(text), terminal):
        with suppress(OSError):  # on a full disk, or a closed one: nobody can be told
            click.echo(paint(row, Terminal(colors=False, links=False)), err=True)


def print_lines(lines: Iterable[Line]) -> None:
    """Print result lines, fitted to the terminal, with colours and links where it has them."""
    terminal = Terminal.of_stdout()
    # A stdout of a poorer encoding gets escapes for what it cannot show, not a traceback.
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    rows = (f"{paint(row, terminal)}\n" for line in lines for row in fit_line(line, terminal))
    while piece := "".join(islice(rows, _AT_ONCE)):
        click.echo(piece.encode(encoding, "backslashreplace").decode(encoding), nl=False, color=True)


def print_json(document: Any) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(document, indent=2), standard_output())


def print_json_list(document: dict[str, Any], name: str, items: Iterable[Any]) -> None:
    """Print one JSON document that ends with a list, whose items are printed as they come."""
    text = json.dumps(document | {name: []}, indent=2)
    click.echo(text.removesuffix("]\n}"), standard_output(), nl=False)
    separator, end = "\n", "]\n}"
    for item in items:
        click.echo(separator + indent(json.dumps(item, indent=2), " " * 4), standard_output(), nl=False)
        separator, end = ",\n", "\n  ]\n}"
    click.echo(end, standard_output())
