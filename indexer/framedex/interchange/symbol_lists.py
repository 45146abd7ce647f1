"""Stacks that are a heading and a symbol or a Python function a line.

Sources: TSL's stacktrace.h, which PyTorch/XLA prints (`*** Begin stack trace ***`); tt-metal's assert.hpp
(`backtrace:`, then ` --- f()`); PyTorch/XLA's debug_utils (`Python Frame Triggered Execution:`); pybind11's
error_string (`At:`, then `  /a.py(31): f`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from enum import Enum, auto

from framedex.interchange.model import Format, PartKind, Piece, TextFrame
from framedex.interchange.native import native_frame, without_blanks
from framedex.interchange.symbolized import is_symbol
from framedex.model import Language

_BEGIN, _END = "*** Begin stack trace ***", "*** End stack trace ***"
_DASHES = re.compile(r"\s*--- (?=\S)")
_CALL = re.compile(r"\s*(?P<path>[^\s()][^()]{0,4096})\((?P<line>\d{1,9})\): (?P<function>[\w.<>]+)$")
_CALLER = re.compile(r"(?:pt-xla-profiler:)?\s+(?P<function>[\w.<>]+) \((?P<path>[^()]{1,4096}):(?P<line>\d{1,9})\)$")
_SURE = re.compile(r"::|\w\(|^_\w*$")
_PYTHON = (".py", ".pyx", ".pyi", ">")


class _List(Enum):
    SYMBOLS = auto()
    DASHES = auto()
    CALLS = auto()
    CALLERS = auto()


_HEADINGS = {
    "backtrace:": _List.DASHES,
    "At:": _List.CALLS,
    "Python Frame Triggered Execution:": _List.CALLERS,
    "TensorsGraphInfo:": _List.CALLERS,
}
_WORDS = tuple(each for each in _HEADINGS if " " not in each)
_PHRASES = tuple(each for each in _HEADINGS if " " in each)


class SymbolLists:
    """Reads them all; one object reads one text."""

    triggers = (_BEGIN, *_HEADINGS)

    def __init__(self) -> None:
        self._list = _List.SYMBOLS

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """A heading, or what stands below it."""
        text = line.rstrip()
        if _BEGIN in text:
            self._list = _List.SYMBOLS
            return Piece(Format.TSL, begins=text[text.find(_BEGIN) :].strip())
        heading = text.rpartition(" ")[2] if text.endswith(_WORDS) else next(filter(text.endswith, _PHRASES), "")
        if heading in _HEADINGS:
            self._list = _HEADINGS[heading]
            return Piece(_FORMATS[self._list], begins=text.strip())
        if not inside:
            return None
        if self._list is _List.SYMBOLS and _END in text:
            return Piece(Format.TSL, ends=_BEGIN)
        frame = self._frame(number, text)
        return Piece(frame.format, (frame,)) if frame is not None else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """A frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whatever is printed between a beginning and its end, and ends no list."""
        return False

    def _frame(self, number: int, text: str) -> TextFrame | None:
        form = _FORMATS[self._list]
        if self._list in (_List.CALLS, _List.CALLERS):
            match = (_CALL if self._list is _List.CALLS else _CALLER).match(text)
            if match is None or not match["path"].endswith(_PYTHON):
                return None
            spans = {PartKind(kind): match.span(kind) for kind in match.groupdict()}
            frame = native_frame(form, number, text, (_first(match), len(text)), spans)
            return replace(frame, language=Language.PYTHON)
        dashes = _DASHES.match(text)
        if self._list is _List.DASHES and dashes is None:
            return None
        start, end = without_blanks(text, dashes.end() if dashes is not None else 0, len(text))
        if '"' in text or not is_symbol(text[start:end]):
            return None
        if not start and not _SURE.search(text):  # a line of somebody else: those of the list are indented
            return None
        return native_frame(form, number, text, (start, end), {PartKind.FUNCTION: (start, end)})


def _first(match: re.Match[str]) -> int:
    return min(match.start("path"), match.start("function"))


_FORMATS = {
    _List.SYMBOLS: Format.TSL,
    _List.DASHES: Format.BACKTRACE,
    _List.CALLS: Format.CALLBACK,
    _List.CALLERS: Format.TORCH,
}
