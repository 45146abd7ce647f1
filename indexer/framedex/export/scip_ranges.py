"""Columns of function names on a line, for formats that have columns."""

from __future__ import annotations

import re
from pathlib import Path

from framedex.regularfile import read_regular

_LAST_NAME = re.compile(r"([A-Za-z_]\w*)(?:<.*>)?$", re.DOTALL)


class Ranges:
    """The current lines of a file; empty if it is unreadable."""

    def __init__(self, path: Path) -> None:
        try:
            self._lines = read_regular(path).splitlines()
        except OSError:
            self._lines = []

    def of(self, line: int, name: str) -> tuple[int, int]:
        """Return the columns of a function's name (bytes from 0, end exclusive), else those of the line's text."""
        text = self._lines[line - 1] if 0 < line <= len(self._lines) else b""
        last = _LAST_NAME.search(name)
        found = re.search(rb"\b%b\b" % last[1].encode(), text) if last is not None else None
        if found is not None:
            return found.start(), found.end()
        return len(text) - len(text.lstrip()), len(text.rstrip())
