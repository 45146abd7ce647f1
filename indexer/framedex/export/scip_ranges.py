"""Where on a line a function is named, for formats that have columns."""

from __future__ import annotations

import re
from pathlib import Path

from framedex.regularfile import read_regular

_LAST_NAME = re.compile(r"([A-Za-z_]\w*)(?:<.*>)?$", re.DOTALL)


class Ranges:
    """The lines of a file, as it is here now; of one that cannot be read they are empty."""

    def __init__(self, path: Path) -> None:
        try:
            self._lines = read_regular(path).splitlines()
        except OSError:
            self._lines = []

    def of(self, line: int, name: str) -> tuple[int, int]:
        """The columns, in bytes from 0, at which the name of a function begins and ends; else of all that is there."""
        text = self._lines[line - 1] if 0 < line <= len(self._lines) else b""
        last = _LAST_NAME.search(name)
        found = re.search(rb"\b%b\b" % last[1].encode(), text) if last is not None else None
        if found is not None:
            return found.start(), found.end()
        return len(text) - len(text.lstrip()), len(text.rstrip())
