"""The lines that gcc's debug information has for a call over several lines, which differ from clang's.

clang records the start of the callee's name. gcc records the opening parenthesis, or for a constructed object the end
of its arguments. If the call is an argument, or another call is chained to its result, gcc often records the line of
the other call.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from framedex.model import CallSite

_ARROW = re.compile(rb"\s*->\s*\w+\s*")
_CONSTRUCTED = ("variable", "new")


class GccLines:
    """The gcc lines of the calls of one function. Call `lines` in the order in which the calls are written."""

    def __init__(self, source: bytes, starts: Sequence[int]) -> None:
        """`starts` has the offsets of the lines of the text."""
        self._source, self._starts = source, starts
        self._around: list[tuple[int, tuple[int, ...]]] = []  # the ends and lines of the enclosing calls

    def lines(self, site: CallSite, at: int, end: int) -> tuple[int, ...]:
        """The possible lines of the call from offset `at` to `end`, most likely first."""
        while self._around and self._around[-1][0] <= at:
            self._around.pop()
        of_outer = self._around[-1][1] if self._around else ()
        if site.kind in ("operator", "argument"):
            own: tuple[int, ...] = (site.line,)
            if not self._source[self._starts[site.line] : at].strip():  # gcc may record the line of the left operand
                own = (site.line, site.line - 1)
        elif site.kind in _CONSTRUCTED:
            own = (self._line(end - 1) if self._source[end - 1 : end] in (b")", b"}") else site.line,)
        else:
            opening = self._source.find(b"(", at, end)
            own = (self._line(opening if opening >= 0 else at),)
            if site.callee[:1].isupper():  # a type by its capital: construction may be on the line of its end
                own = tuple(dict.fromkeys((*own, self._line(end - 1))))
        through = _ARROW.match(self._source, end)
        next_one = (self._line(through.end()),) if through else ()
        is_argument = self._source[end : end + 1] in (b",", b")")
        lines = (*next_one, *of_outer, *own) if is_argument or next_one else (*own, *of_outer)
        found = tuple(dict.fromkeys(lines))
        if site.kind not in ("operator", "argument"):
            self._around.append((end, found))
        return found

    def _line(self, at: int) -> int:
        """The line of an offset in the text."""
        return bisect_right(self._starts, at, 1) - 1
