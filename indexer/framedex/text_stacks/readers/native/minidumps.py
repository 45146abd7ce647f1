"""Parser of minidump stacks, as printed by Breakpad, Chromium, Firefox and Sentry.

Source: Breakpad's processor/stackwalk_common.cc, which rust-minidump follows.
"""

from __future__ import annotations

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Piece, TextFrame
from framedex.text_stacks.text.margins import Margin
from framedex.text_stacks.text.spans import matched

_THREAD = compiled_on_use(r"(?:^|(?<=[\s\]:>|)]))Thread \d+(?: \S.*)? \(crashed\).*$")
_FRAME = compiled_on_use(
    r" ?(?P<number>\d{1,4})  (?P<module>[\w.+-]{1,255})"
    r"(?:!(?P<function>[^\s\[+][^\[]*?)(?: \[(?P<path>[^\[\]]+) : (?P<line>\d{1,9}))?)?(?: \+ 0x[0-9a-f]{1,16}\]?)?$"
)
_BELONGS = compiled_on_use(r" {4}|Thread \d+\b")


class MinidumpStacks:
    """Parser of minidump stacks; one object per text."""

    is_seldom = True
    remembers = ("_margin",)
    triggers = (" (crashed)",)

    def __init__(self) -> None:
        self._margin = Margin()

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the heading of the crashed thread, or a frame of it or of a later thread."""
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
        """Return None: a frame has one line, with registers below."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line has registers, the origin of a frame, or the heading of another thread."""
        start = self._margin.behind(line)
        return start is not None and _BELONGS.match(line, start) is not None
