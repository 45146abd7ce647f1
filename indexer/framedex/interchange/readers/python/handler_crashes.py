"""framedex's own line of a fatal signal in an FFI handler, with the lines of the call (native/ffi/crash_report.cc)."""

from __future__ import annotations

from dataclasses import replace

from framedex.interchange.model import Format, Piece, TextFrame
from framedex.interchange.text.spans import matched
from framedex.model import Language
from framedex.patterns import compiled_on_use

_REPORT = compiled_on_use(
    r"(?P<title>SIG\w{1,8} in the FFI handler of '(?P<target>[^']{1,1024})' \(\w{1,16} stage\))"
    r", called at (?P<several>one of: )?(?=\S)"
)
_PLACE = compiled_on_use(r"(?P<path>[^\s:,;][^:\n]{0,4095}):(?P<line>\d{1,8})(?: in (?P<function>[^\s,;]{1,1024}))?")
_SEPARATORS = (", from ", ", ", "; ")
_MOST_PLACES = 64


class HandlerCrashes:
    """Reads such lines; one object reads one text."""

    is_seldom = True
    remembers = ()
    triggers = (" in the FFI handler of '",)

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """The stack of the call, innermost first; of several calls that it can be, each is an alternative."""
        report = _REPORT.search(line)
        if report is None:
            return None
        frames: list[TextFrame] = []
        position = report.end()
        while len(frames) < _MOST_PLACES and (found := _PLACE.match(line, position)) is not None:
            frame = replace(matched(Format.PYTHON_TRACE, number, found), language=Language.PYTHON)
            frames.append(replace(frame, is_alternative=report["several"] is not None and bool(frames)))
            position = _behind_separator(line, found.end())
        if frames:
            calls = f"`framedex ffi {report['target']}` shows its recorded calls"
            frames[0] = replace(frames[0], labels=(calls,))
        title = report["title"]
        return Piece(Format.PYTHON_TRACE, tuple(frames), begins=title, ends=title) if frames else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """A report has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """A report has one line."""
        return False


def _behind_separator(line: str, position: int) -> int:
    """Where the next place begins; the end of the line where none does."""
    return next((position + len(each) for each in _SEPARATORS if line.startswith(each, position)), len(line))
