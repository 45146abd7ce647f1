"""Parser of valgrind stacks, after `==PID==`: coregrind/m_execontext.c and m_debuginfo/debuginfo.c."""

from __future__ import annotations

import re

from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, PartKind, Piece, TextFrame
from framedex.text_stacks.readers.native.frames import native_frame, opening, source_spans, without_blanks

_LINE = compiled_on_use(r"(?:==|--|\*\*)(?:[\d:.]+ )?\d{1,10}(?:==|--|\*\*)(?: |$)")
_FRAME = compiled_on_use(r" *(?:at|by) (?P<address>0x[0-9A-Fa-f]{1,16}): (?=\S)")


class ValgrindLines:
    """Parser of valgrind reports; one object per text."""

    is_seldom = False
    remembers = ()
    triggers = (" at 0x", " by 0x", *(f"{digit}== " for digit in range(10)))

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return a frame, or the title of the frames below."""
        start = line.find("==") if "==" in line else line.find("**")
        mark = _LINE.match(line, start) if start >= 0 else None
        if mark is None:
            return None
        match = _FRAME.match(line, mark.end())
        if match is not None:
            return Piece(Format.VALGRIND, (_frame(number, line.rstrip(), start, match),))
        title = line[mark.end() :].strip()
        return Piece(Format.VALGRIND, begins=title) if title and "Sanitizer" not in title else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line is another line of a valgrind tool."""
        return _LINE.match(line) is not None


def _frame(number: int, text: str, begin: int, match: re.Match[str]) -> TextFrame:
    start, end = match.end(), len(text)
    spans = {PartKind.ADDRESS: match.span("address")}
    column = opening(text, end - 1, start) if text.endswith(")") else -1
    if column > start and text[column - 1] == " ":
        source = source_spans(text, column + 1, end - 1)
        if source:
            spans |= {**source, PartKind.PATH: (column + 1, source[PartKind.PATH][1])}
            end = column
        elif text.startswith("(in ", column):
            spans[PartKind.MODULE] = column + len("(in "), end - 1
            end = column
    spans[PartKind.FUNCTION] = without_blanks(text, start, end)
    return native_frame(Format.VALGRIND, number, text, (begin, len(text)), spans)
