"""Lines below the rows of every cost table: callers, and the number of hidden rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.render_calls import python_line
from framedex.commands.output.terminal import Line, Span, text_line

if TYPE_CHECKING:
    from framedex.model import PythonLine


def called_from(outward: Sequence[PythonLine], indent: int) -> Iterator[Line]:
    """The lines that led to the line of a row, nearest first; empty without `--all-lines`."""
    for line in outward:
        yield (Span(f"{'':{indent}}called from ", "dim"), *python_line(line, 0))


def rest_line(hidden: int, noun: str, which: str = "", indent: int = 0) -> Iterator[Line]:
    """The number of hidden rows, and the option that shows them; nothing if none is hidden.

    `which` follows the noun.
    """
    if hidden > 0:
        yield text_line(f"{'':{indent}}and {words.count(hidden, f'more {noun}')}{which}: --limit 0 shows all.", "dim")
