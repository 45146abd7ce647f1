"""Parser of pytest failures: locations with the function (`--tb=short`), or below its source (`--tb=long`).

Source: _pytest/_code/code.py (ReprFileLocation, ReprEntry, ReprFuncArgs). `--tb=native` prints Python's own form,
`--tb=line` only locations.
"""

from __future__ import annotations

from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Piece, TextFrame
from framedex.text_stacks.readers.places import PlacesInLines
from framedex.text_stacks.text.margins import Margin
from framedex.text_stacks.text.spans import matched

_HEADING = compiled_on_use(r"(?<!_)_+ (?P<title>[^_\s].*\S|_\w.*) _+$")
_BEGINS = r"(?:^|(?<=[\s\]:>|)]))"
_PATH = _BEGINS + r"(?P<path>(?:[A-Za-z]:)?[^\s:\[\]()|\"'<>]+|<[^<>:]+>):(?P<line>\d{1,9}):"
_SHORT = compiled_on_use(_PATH + r" in (?P<function><\w+>|[\w.]+)$")
_LONG = compiled_on_use(_PATH + r"(?: (?:[A-Za-z_][\w.]*\.)?[A-Z]\w*)?$")
_DEFINITION = compiled_on_use(r"(?:>  )? +(?:async )?def (?P<function>\w+)\b")
_RULE = compiled_on_use(r"(?:=+ .* =+|-+ Captured .* -+)$")


class PytestText:
    """Parser of failure sections; one object per text."""

    is_seldom = True
    remembers = ("_margin", "_function")
    triggers = ("____ ", ": in ")

    def __init__(self) -> None:
        self._margin = Margin()
        self._places = PlacesInLines()
        self._function = ""  # the function whose source precedes the next location

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the heading of a test, or a location with its function."""
        text = line.rstrip()
        if text.endswith(" _") or text.endswith("__"):
            return self._heading(line, text, inside)
        frames: tuple[TextFrame, ...] = ()
        if ": in " in text and (match := _SHORT.search(text)) is not None:
            frames = (matched(Format.PYTEST, number, match, Language.PYTHON),)
        elif inside and (start := self._margin.behind(text)) is not None:
            match = _LONG.match(text, start)
            if match is None:
                return self._others(number, line)
            frames = (replace(matched(Format.PYTEST, number, match, Language.PYTHON), function=self._function),)
        if not frames:
            return None
        self._function = ""
        if not inside:
            self._margin = Margin(line[: frames[0].start])
        return Piece(Format.PYTEST, frames, innermost_first=False)

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a location has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line is a source line, an argument, or part of the exception."""
        start = self._margin.behind(line)
        if start is None or _RULE.match(line.rstrip(), start) is not None:
            return False
        definition = _DEFINITION.match(line, start) if not self._function else None
        if definition is not None:
            self._function = definition["function"]
        return True

    def _others(self, number: int, line: str) -> Piece | None:
        """Return the locations in the exception's text, which may have any form."""
        found = self._places.piece(number, line, inside=True)
        return Piece(Format.PYTEST, found.frames, innermost_first=False) if found is not None else None

    def _heading(self, line: str, text: str, inside: bool) -> Piece | None:
        """Return the name of a test between rules; None for the separator of two frames."""
        start = self._margin.behind(line) if inside else None
        if start is not None and text.startswith("_ _ ", start):
            self._function = ""
            return None
        heading = _HEADING.search(text)
        if heading is None or (start is not None and heading.start() != start):
            return None
        self._margin = Margin(line[: heading.start()])
        self._function = ""
        return Piece(Format.PYTEST, begins=heading["title"], innermost_first=False)
