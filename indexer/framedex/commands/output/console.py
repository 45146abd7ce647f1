"""The output of all verbs: errors and notes to stderr, results to stdout as text or one JSON document."""

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
    """Print an error and its remedy."""
    for number, line in enumerate(error.message.split("\n")):
        _say(f"  {line}" if number else f"framedex: {line}")
    for line in error.remedy.split("\n") if error.remedy else ():
        _say(f"  {line}")


def note(text: str) -> None:
    """Print a remark that is not part of the result."""
    _say(text)


def nothing_found(text: str) -> NoReturn:
    """Print a note about an empty result, and exit with status 1, as grep does."""
    note(text)
    raise click.exceptions.Exit(1)


def _say(text: str) -> None:
    terminal = Terminal.of(sys.stderr.isatty(), os.environ)
    for row in fit_line(noting(text), terminal):
        with suppress(OSError):  # the disk is full, or stderr is closed: there is no other channel
            click.echo(paint(row, Terminal(colors=False, links=False)), err=True)


def print_lines(lines: Iterable[Line]) -> None:
    """Print result lines, fitted to the terminal, with colours and links if supported."""
    terminal = Terminal.of_stdout()
    # Characters that the encoding of stdout lacks become escapes, not a traceback.
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    rows = (f"{paint(row, terminal)}\n" for line in lines for row in fit_line(line, terminal))
    while piece := "".join(islice(rows, _AT_ONCE)):
        click.echo(piece.encode(encoding, "backslashreplace").decode(encoding), nl=False, color=True)


def print_json(document: Any) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(document, indent=2), standard_output())


def print_json_list(document: dict[str, Any], name: str, items: Iterable[Any]) -> None:
    """Print one JSON document whose last value is a list; its items are printed as they arrive."""
    text = json.dumps(document | {name: []}, indent=2)
    click.echo(text.removesuffix("]\n}"), standard_output(), nl=False)
    separator, end = "\n", "]\n}"
    for item in items:
        click.echo(separator + indent(json.dumps(item, indent=2), " " * 4), standard_output(), nl=False)
        separator, end = ",\n", "\n  ]\n}"
    click.echo(end, standard_output())
