"""What stands before every line of a stack in a log: a time and a level, a rank, the name of a container.

A format whose lines only mean something below its heading, or only in pairs, is read behind the margin of the heading.
"""

from __future__ import annotations

import re

_LONGEST = 256
_NO_MARGIN = ""
_RUNS = (re.compile(r"[0-9]+"), re.compile(r" +"))


class Margin:
    """The margin of the stack that is open; one object follows one text."""

    def __init__(self) -> None:
        self._text = _NO_MARGIN

    def begin(self, line: str, start: int) -> None:
        """Take what is before column `start` for the margin of the lines that follow."""
        self._text = line[:start] if start <= _LONGEST else _NO_MARGIN

    def behind(self, line: str) -> int | None:
        """The column where the line's own text begins; None for a line with another margin.

        Numbers count as equal: times and lines of a log go on. A line of nothing but the margin may have lost blanks.
        """
        margin = self._text
        if line.startswith(margin):
            return len(margin)
        return _behind_other_numbers(margin, line)


def _behind_other_numbers(margin: str, line: str) -> int | None:
    own = len(margin.rstrip())  # blanks at the end are counted: what follows may be indented
    at = column = 0
    while at < own:
        if column == len(line):
            return None
        run = next((run for run in _RUNS if run.match(margin, at) and run.match(line, column)), None)
        if run is not None:
            at, column = _end(run, margin, at), _end(run, line, column)
        elif margin[at] == line[column]:
            at, column = at + 1, column + 1
        else:
            return None
    blanks = margin[own:]
    if line.startswith(blanks, column):
        return column + len(blanks)
    return len(line) if not line[column:].strip() else None


def _end(run: re.Pattern[str], text: str, start: int) -> int:
    match = run.match(text, start)
    return match.end() if match is not None else start
