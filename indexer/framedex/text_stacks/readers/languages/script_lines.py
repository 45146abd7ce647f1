"""Parser of one-line frames of Ruby, Perl and Dart, with file and line.

Sources: Ruby's error.c and vm_backtrace.c (a backtick before 3.4, a quote since); Perl's Carp; Dart's stack_trace.
A line of Carp names the called function, not the function that contains the location.
"""

from __future__ import annotations

from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Piece, TextFrame
from framedex.text_stacks.text.spans import matched

_BEGINS = r"(?:^|(?<=[\s\]|>):]))"
_RUBY = compiled_on_use(
    _BEGINS + r"(?:from )?(?P<path>(?:[A-Za-z]:)?[^\s:\[\]|>()]+|<internal:[^\s<>]{1,99}>):(?P<line>\d{1,9})"
    r":in [`'](?P<function>[^`']+)'(?=$|:)"
)
_PERL = compiled_on_use(r" at (?P<path>[^\s:,;()\"']+\.(?:pl|pm|t)) line (?P<line>\d{1,9})(?=\.?$|, <)")
_DART = compiled_on_use(
    r"(?:^|(?<=[\s\]|>:]))#(?P<number>\d{1,6}) +(?P<function>[^\s(][^(]*(?<=\S)) "
    r"\((?P<path>(?:package:|dart:|file:|[./])[^\s:()]*)(?::(?P<line>\d{1,9}))?(?::(?P<column>\d{1,9}))?\)$"
)


class ScriptLines:
    """Parser of all three; one object per text."""

    is_seldom = True
    remembers = ()
    triggers = (":in `", ":in '", ".pl line ", ".pm line ", ".t line ", "(package:", "(dart:", ".dart:")

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the frame on a line."""
        if ":in " in line and (match := _RUBY.search(line.rstrip())) is not None:
            return Piece(Format.RUBY, (matched(Format.RUBY, number, match),))
        if " line " in line and (match := _PERL.search(line.rstrip())) is not None:
            return Piece(Format.PERL, (matched(Format.PERL, number, match),))
        if ("#" in line and "dart:" in line) or "(package:" in line:
            match = _DART.search(line.rstrip())
            return Piece(Format.DART, (matched(Format.DART, number, match),)) if match is not None else None
        return None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a frame has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Return False: no lines appear between the frames."""
        return False
