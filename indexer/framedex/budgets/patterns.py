"""Patterns that select lines and functions: `train.py:12`, `train.py:*`, `train.py:step`, `step`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model import PythonLine

_SOURCES = (".py", ".pyw", ".ipynb")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Lines of a file, a function, or everything; empty and None match all.

    `file` is an absolute path or its last components, with shell patterns for names. `function` is a shell pattern for
    a plain or qualified function name.
    """

    text: str = "*"
    file: str = ""
    line: int | None = None
    function: str = ""

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Parse `FILE:LINE`, `FILE:*`, `FILE`, `FILE:FUNCTION`, `FUNCTION`, or `*`; `./` means this folder.

        Raises ValueError with a sentence for any other text.
        """
        file, colon, what = text.strip().rpartition(":")
        if not colon and (what.endswith(_SOURCES) or "/" in what):
            file, what = what, "*"
        if colon and not file:
            raise ValueError(
                f"'{text}' names no file before its colon: write 'train.py:12', 'train.py:*' or 'train.py:step'"
            )
        if what.isascii() and what.isdigit():
            if not file:
                raise ValueError(f"'{text}' is a line of no file: write 'train.py:{what}'")
            if not int(what):
                raise ValueError(f"'{text}' is no line: lines count from 1")
            return cls(text, _normal(file), line=int(what))
        return cls(text, _normal(file), function="" if what in ("*", "") else what)

    @property
    def is_everything(self) -> bool:
        """Whether the pattern matches every line and function."""
        return not self.file and not self.function

    def fits_function(self, name: str) -> bool:
        """Whether the pattern matches a function by its plain or qualified name."""
        return bool(self.function) and (
            fnmatchcase(name, self.function) or fnmatchcase(name.rpartition(".")[2], self.function)
        )

    def fits_line(self, line: PythonLine | None) -> bool:
        """Whether a line is in the file and has the number of the pattern, if any; None is in no file."""
        return self.fits_file(line) and (self.line is None or (line is not None and line.location.line == self.line))

    def fits_file(self, line: PythonLine | None) -> bool:
        """Whether a line is in the file of the pattern."""
        return not self.file or (line is not None and PurePosixPath(line.location.path).match(self.file))


def _normal(file: str) -> str:
    """A normalised path; a path that starts with `./`, `../` or `~` becomes absolute.

    Raises ValueError with a sentence if nothing remains.
    """
    if file.startswith(("./", "../", "~")):
        return os.path.abspath(os.path.expanduser(file))  # noqa: PTH100, PTH111 - a pattern, not a path
    normal = os.path.normpath(file) if file else ""
    if normal == ".":
        raise ValueError(f"'{file}' is a folder and no file: write 'train.py:*', or '*' for all of them")
    return normal
