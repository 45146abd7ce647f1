"""What stands below rows, whatever they are of: from where a line was called, and how many rows are not shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.render_calls import python_line
from framedex.commands.output.terminal import Line, Span, text_line

if TYPE_CHECKING:
    from framedex.model import PythonLine


def called_from(outward: Sequence[PythonLine], indent: int) -> Iterator[Line]:
    """The lines that led to that of the row, nearest first; empty unless `--all-lines` asks for them."""
    for line in outward:
        yield (Span(f"{'':{indent}}called from ", "dim"), *python_line(line, 0))


def rest_line(hidden: int, noun: str, which: str = "", indent: int = 0) -> Iterator[Line]:
    """How many are not shown, and what shows them; nothing where there are none. `which` follows the noun."""
    if hidden > 0:
        yield text_line(f"{'':{indent}}and {words.count(hidden, f'more {noun}')}{which}: --limit 0 shows all.", "dim")
