"""Parser of traceback boxes drawn by rich, and by Typer with it.

Source: rich/traceback.py. A frame is `path:line in function`, or `in function:line` for code without a file. A narrow
box wraps it, within the path or after it. Exception groups are nested boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Piece, TextFrame
from framedex.text_stacks.text.margins import Margin
from framedex.text_stacks.text.spans import matched

_HEADING = compiled_on_use(r"[╭┌+][─-]{2,} (?P<title>Traceback \(most recent call last\)) [─-]{2,}[╮┐+]")
_ROW = compiled_on_use(r"[│|] (?=\S)")
_FRAME = compiled_on_use(r"(?P<path>(?:[/~]|[A-Za-z]:[\\/]).*):(?P<line>\d{1,9}) in (?P<function>\S.*)$")
_NO_FILE = compiled_on_use(r"in (?P<function>\S.*):(?P<line>\d{1,9})$")
_CUT_BEFORE_NAME = compiled_on_use(r":\d{1,9} in$")
_BEGUN = compiled_on_use(r"[/~]|[A-Za-z]:[\\/]")
_EXCEPTION = compiled_on_use(r"[A-Za-z_][\w.]*(?::|$)")
_BORDERS = " \t│|"
_MOST_WRAPPED = 16


class RichBoxes:
    """Parser of traceback boxes; one object per text."""

    is_seldom = True
    remembers = ("_margin", "_rows", "_first")
    triggers = ("Traceback (most recent call last) ─", "Traceback (most recent call last) -")

    def __init__(self) -> None:
        self._margin = Margin()
        self._rows: tuple[str, ...] = ()  # the rows of an incomplete frame
        self._first = 0  # the line of the first row

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the top of a box, a frame, or the exception below the box."""
        if "(most recent call last) " in line:
            heading = _HEADING.search(line)
            if heading is not None:
                self._margin = Margin(line[: heading.start()])
                self._rows = ()
                return Piece(Format.RICH, begins=heading["title"], innermost_first=False)
        start = self._margin.behind(line) if inside else None
        if start is None:
            return None
        row = _ROW.match(line, start)
        text = line[row.end() if row is not None else start :].rstrip().rstrip(_BORDERS)
        if row is not None:
            frame = self._frame(number, text, row.end())
            return Piece(Format.RICH, (frame,), innermost_first=False) if frame is not None else None
        self._rows = ()
        return Piece(Format.RICH, ends=text) if _EXCEPTION.match(text) else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame is parsed at its last row."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line is another row of the box."""
        start = self._margin.behind(line)
        return start is not None and line[start : start + 1] in tuple("│|╭╰┌└+")

    def _frame(self, number: int, text: str, shift: int) -> TextFrame | None:
        rows = self._rows
        first = self._first if rows else number
        self._rows, self._first = (), 0
        frame = _frame_of(number, text, shift, rows)
        if frame is not None:
            return replace(frame, first_line=first, start=shift)
        is_begun = bool(rows) or _BEGUN.match(text) is not None
        if is_begun and len(rows) < _MOST_WRAPPED:
            self._rows, self._first = (*rows, text), first
        return None


def _frame_of(number: int, text: str, shift: int, before: Sequence[str]) -> TextFrame | None:
    """Return the frame that ends on a row; `before` are its earlier rows."""
    whole = "".join(before)
    # Words are wrapped at blanks, paths anywhere.
    is_word = bool(before) and (text.startswith("in ") or _CUT_BEFORE_NAME.search(before[-1]) is not None)
    whole += f" {text}" if is_word else text
    match = _FRAME.match(whole) or (_NO_FILE.match(whole) if not before else None)
    if match is None:
        return None
    frame = matched(Format.RICH, number, match, Language.PYTHON, shift=shift)
    if not before:
        return frame
    # Only the pieces on the last row become parts.
    moved = len(whole) - len(text)
    parts = tuple(
        replace(part, start=part.start - moved, end=part.end - moved)
        for part in frame.parts
        if part.start - moved >= shift
    )
    return replace(frame, parts=parts, end=shift + len(text))
