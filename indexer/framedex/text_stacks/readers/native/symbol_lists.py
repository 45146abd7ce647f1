"""Parser of stacks with a heading and one symbol or Python function per line.

Sources:
- TSL's stacktrace.h, which PyTorch/XLA prints (`*** Begin stack trace ***`)
- tt-metal's assert.hpp (`backtrace:`, then ` --- f()`)
- PyTorch/XLA's debug_utils (`Python Frame Triggered Execution:`)
- pybind11's error_string (`At:`, then `  /a.py(31): f`)
"""

from __future__ import annotations

import re
from dataclasses import replace
from enum import Enum, auto

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, PartKind, Piece, TextFrame
from framedex.text_stacks.readers.native.backtraces import frame_of_glibc
from framedex.text_stacks.readers.native.frames import native_frame, without_blanks
from framedex.text_stacks.readers.native.symbolized import is_symbol

_BEGIN, _END = "*** Begin stack trace ***", "*** End stack trace ***"
_DASHES = compiled_on_use(r"\s*--- (?=\S)")
_CALL = compiled_on_use(r"\((?P<line>\d{1,9})\): (?P<function>[\w.<>]+)$")
_FLAT = compiled_on_use(r"(?<!\S)(?P<path>[^\s()]+\.py|<\w+>)\((?P<line>\d{1,9})\): (?P<function>[\w.<>]+)")
_CALLER = compiled_on_use(r"(?:pt-xla-profiler:)?\s+(?P<function>[\w.<>]+) \((?P<path>.{1,4096}):(?P<line>\d{1,9})\)$")
_SURE = compiled_on_use(r"::|\w\(|^_\w*$")
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
_HEADING = compiled_on_use(rf"(?:^|\s)({'|'.join(_HEADINGS)})$")


class SymbolLists:
    """Parser of all these lists; one object per text."""

    is_seldom = False
    remembers = ("_list", "_before")
    triggers = (_BEGIN, *_HEADINGS)

    def __init__(self) -> None:
        self._list = _List.SYMBOLS
        self._before = ""  # the prefix of every line, of an unknown log

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return a heading, or an entry below it."""
        text = line.rstrip()
        if _BEGIN in text:
            self._list, self._before = _List.SYMBOLS, text[: text.find(_BEGIN)]
            return Piece(Format.TSL, begins=text[text.find(_BEGIN) :].strip())
        heading = _HEADING.search(text) if text.endswith(":") else None
        if heading is not None:
            self._list, self._before = _HEADINGS[heading[1]], text[: heading.start(1)]
            return Piece(_FORMATS[self._list], begins=text.strip())
        if "At:" in text and (flat := self._flat(number, text)) is not None:
            return flat
        if not inside:
            return None
        if self._list is _List.SYMBOLS and _END in text:
            return Piece(Format.TSL, ends=_BEGIN)
        frame = self._frame(number, text, len(self._before) if text.startswith(self._before) else 0)
        return Piece(frame.format, (frame,)) if frame is not None else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Return False: any other line ends the list."""
        return False

    def _flat(self, number: int, text: str) -> Piece | None:
        """Return all calls of a message whose lines a log has joined."""
        matches = _FLAT.finditer(text, text.find("At:"))
        frames = [_python_frame(Format.CALLBACK, number, text, 0, match) for match in matches]
        known = tuple(frame for frame in frames if frame is not None)
        return Piece(Format.CALLBACK, known, begins="At:", ends="At:") if known else None

    def _frame(self, number: int, text: str, begin: int) -> TextFrame | None:
        form = _FORMATS[self._list]
        if self._list in (_List.CALLS, _List.CALLERS):
            match = _CALL.search(text, begin) if self._list is _List.CALLS else _CALLER.match(text, begin)
            return _python_frame(form, number, text, begin, match) if match is not None else None
        dashes = _DASHES.match(text, begin)
        if self._list is _List.DASHES and dashes is None:
            return None
        if (frame := frame_of_glibc(number, text)) is not None:
            return frame
        start, end = without_blanks(text, dashes.end() if dashes is not None else begin, len(text))
        if '"' in text or not is_symbol(text[start:end]):
            return None
        if start == begin and not _SURE.search(text):  # an unrelated line: entries of the list are indented
            return None
        return native_frame(form, number, text, (start, end), {PartKind.FUNCTION: (start, end)})


def _python_frame(form: Format, number: int, text: str, begin: int, match: re.Match[str]) -> TextFrame | None:
    spans = {PartKind(kind): match.span(kind) for kind in match.groupdict()}
    path = spans.setdefault(PartKind.PATH, without_blanks(text, begin, match.start()))  # all text before the call
    if not text[slice(*path)].endswith(_PYTHON):
        return None
    start = min(path[0], match.start("function"))
    return replace(native_frame(form, number, text, (start, match.end()), spans), language=Language.PYTHON)


_FORMATS = {
    _List.SYMBOLS: Format.TSL,
    _List.DASHES: Format.BACKTRACE,
    _List.CALLS: Format.CALLBACK,
    _List.CALLERS: Format.TORCH,
}
