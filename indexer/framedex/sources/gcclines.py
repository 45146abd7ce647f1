"""The lines that gcc says a call of several lines happens on, which are not those that clang says.

clang has the beginning of what is called. gcc has the opening parenthesis; the end of what an object is made with; and
for a call that is itself an argument, or whose result the next one is called through, often that of the other call.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from framedex.model import CallSite

_ARROW = re.compile(rb"\s*->\s*\w+\s*")
_CONSTRUCTED = ("variable", "new")


class GccLines:
    """Reads the lines of the calls of one function, which are asked for in the order in which they are written."""

    def __init__(self, source: bytes, starts: Sequence[int]) -> None:
        """`starts` are where the lines of the text begin."""
        self._source, self._starts = source, starts
        self._around: list[tuple[int, tuple[int, ...]]] = []  # where the calls around end, and their lines

    def lines(self, site: CallSite, at: int, end: int) -> tuple[int, ...]:
        """The lines that the call from `at` to `end` can have, the likeliest first."""
        while self._around and self._around[-1][0] <= at:
            self._around.pop()
        of_outer = self._around[-1][1] if self._around else ()
        if site.kind in ("operator", "argument"):
            own: tuple[int, ...] = (site.line,)
            if not self._source[self._starts[site.line] : at].strip():  # gcc can have the line of the left side
                own = (site.line, site.line - 1)
        elif site.kind in _CONSTRUCTED:
            own = (self._line(end - 1) if self._source[end - 1 : end] in (b")", b"}") else site.line,)
        else:
            opening = self._source.find(b"(", at, end)
            own = (self._line(opening if opening >= 0 else at),)
            if site.callee[:1].isupper():  # as types are, which are made here and may have the line of their end
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
        """The line of a place in the text."""
        return bisect_right(self._starts, at, 1) - 1
