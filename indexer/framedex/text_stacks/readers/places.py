"""Parser of plain `file:line` and `file:line:column`, as printed by compilers, linters and loggers."""

from __future__ import annotations

import re

from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Part, PartKind, Piece, Place, TextFrame

_SUFFIXES = "py|pyi|pyx|c|cc|cpp|cxx|cu|h|hh|hpp|cuh|inc|td|proto|mlir|rs|go|java|ts|js|sh|bzl|BUILD"
_TAIL = compiled_on_use(rf"\.(?:{_SUFFIXES}):(?P<line>\d{{1,8}})(?::(?P<column>\d{{1,8}}))?(?![\w])")
_NO_PATH = compiled_on_use(r"""[\s"'`()<>\[\]{},;=|:]""")
_LONGEST_PATH = 4096


class PlacesInLines:
    """Parser of locations in any text. The least specific reader, so it is called last."""

    is_seldom = False
    remembers = ()
    triggers = tuple(f".{suffix}:" for suffix in _SUFFIXES.split("|"))

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return every location on the line."""
        frames, before = [], 0
        for match in _TAIL.finditer(line):
            dot = match.start()
            least = max(before, dot - _LONGEST_PATH)
            delimiter = _NO_PATH.search(line[least:dot][::-1])
            start = dot - delimiter.start() if delimiter else least
            if start == dot or not int(match["line"]):  # only a suffix
                continue
            frames.append(_frame(number, line, start, match))
            before = match.end()
        return Piece(Format.PLAIN, tuple(frames)) if frames else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a location has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Return False: lines between locations may be unrelated."""
        return False


def _frame(number: int, line: str, start: int, match: re.Match[str]) -> TextFrame:
    end = match.start("line") - 1
    parts = [Part(PartKind.PATH, number, start, end), Part(PartKind.LINE, number, *match.span("line"))]
    if match["column"]:
        parts.append(Part(PartKind.COLUMN, number, *match.span("column")))
    place = Place(line[start:end], int(match["line"]), int(match["column"] or 0))
    return TextFrame(Format.PLAIN, number, start, number, match.end(), tuple(parts), place=place)
