"""Stacks of minidumps, as Breakpad, Chromium, Firefox and Sentry print them.

Source: Breakpad's processor/stackwalk_common.cc, which rust-minidump follows.
"""

from __future__ import annotations

from framedex.interchange.model import Format, Piece, TextFrame
from framedex.interchange.text.margins import Margin
from framedex.interchange.text.spans import matched
from framedex.model import Language
from framedex.patterns import compiled_on_use

_THREAD = compiled_on_use(r"(?:^|(?<=[\s\]:>|)]))Thread \d+(?: \S.*)? \(crashed\).*$")
_FRAME = compiled_on_use(
    r" ?(?P<number>\d{1,4})  (?P<module>[\w.+-]{1,255})"
    r"(?:!(?P<function>[^\s\[+][^\[]*?)(?: \[(?P<path>[^\[\]]+) : (?P<line>\d{1,9}))?)?(?: \+ 0x[0-9a-f]{1,16}\]?)?$"
)
_BELONGS = compiled_on_use(r" {4}|Thread \d+\b")


class MinidumpStacks:
    """Reads them; one object reads one text."""

    is_seldom = True
    remembers = ("_margin",)
    triggers = (" (crashed)",)

    def __init__(self) -> None:
        self._margin = Margin()

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """The heading of the thread that crashed, or a frame of it or a later one."""
        text = line.rstrip()
        heading = _THREAD.search(text) if " (crashed)" in text else None
        if heading is not None:
            self._margin = Margin(line[: heading.start()])
            return Piece(Format.MINIDUMP, begins=heading[0])
        start = self._margin.behind(text) if inside else None
        match = _FRAME.match(text, start) if start is not None else None
        if match is None:
            return None
        return Piece(Format.MINIDUMP, (matched(Format.MINIDUMP, number, match, Language.NATIVE),))

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """A frame has one line; below it are registers."""
        return None

    def belongs(self, line: str) -> bool:
        """Registers, how a frame was found, and the headings of the other threads."""
        start = self._margin.behind(line)
        return start is not None and _BELONGS.match(line, start) is not None
