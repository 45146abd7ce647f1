"""Parser of framedex's own report of a fatal signal in an FFI handler, with the lines of the call.

Source: native/ffi/crash_report.cc.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Piece, TextFrame
from framedex.text_stacks.text.spans import matched

_REPORT = compiled_on_use(
    r"(?P<title>SIG\w{1,8} in the FFI handler of '(?P<target>[^']{1,1024})' \((?P<stage>\w{1,16}) stage\))"
    r"(?:, called at (?P<several>one of: )?(?=\S)|\s*$)"
)
_PLACE = compiled_on_use(r"(?P<path>[^\s:,;][^:\n]{0,4095}):(?P<line>\d{1,8})(?: in (?P<function>[^\s,;]{1,1024}))?")
_CALLER = ", from "
_SEPARATORS = (_CALLER, ", ", "; ")
_MOST_PLACES = 64
_LONGEST_REPORT = 2047  # bytes; a longer report is truncated
_NAME = "framedex: "


class HandlerCrashes:
    """Parser of crash reports; one object per text."""

    is_seldom = True
    remembers = ()
    triggers = (" in the FFI handler of '",)

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the stack of the call, innermost first. If several calls are possible, each is an alternative."""
        report = _REPORT.search(line)
        if report is None:
            return None
        frames = list(_called_lines(number, line, report))
        if len(frames) > 1 and len(f"{_NAME}{line[report.start() :]}".encode()) >= _LONGEST_REPORT:
            frames.pop()
        if not frames:
            frames = [TextFrame(Format.PYTHON_TRACE, number, report.start(), number, report.end("title"))]
        frames[0] = replace(frames[0], ffi_target=report["target"], ffi_stage=report["stage"])
        return Piece(Format.PYTHON_TRACE, tuple(frames), begins=report["title"], ends=report["title"])

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a report has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Return False: a report has one line."""
        return False


def _called_lines(number: int, line: str, report: re.Match[str]) -> Iterator[TextFrame]:
    """Yield the lines of the calls, in report order."""
    position, separator = report.end(), ""
    for _ in range(_MOST_PLACES):
        found = _PLACE.match(line, position)
        if found is None:
            return
        frame = replace(matched(Format.PYTHON_TRACE, number, found), language=Language.PYTHON)
        is_other_call = report["several"] is not None and separator not in ("", _CALLER)
        yield replace(frame, is_alternative=is_other_call)
        separator = next((each for each in _SEPARATORS if line.startswith(each, found.end())), "")
        if not separator:
            return
        position = found.end() + len(separator)
