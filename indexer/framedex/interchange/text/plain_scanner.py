"""Finds the lines of a text on which something may begin, as native/line_scanner does, where there is no native part.

Every such line is left undecided: who reads it is asked whatever its words are, which takes longer and finds the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Those of `line_scanner.cc`: a control sequence, of whatever is there of it, hides no needle.
_SEQUENCE = re.compile(rb"\x1b(?:\[[ -?]*[@-~]?)?")


class PlainScanner:
    """A scanner for lines with one of some needles in them."""

    def __init__(self, needles: Sequence[bytes], word_needles: Sequence[bytes]) -> None:
        self._needle = re.compile(b"|".join(map(re.escape, (*needles, *word_needles))))

    def scan(self, text: bytes) -> list[tuple[int, int, int, None]]:
        """The lines with a needle: where each begins, where its text stops, and where its line break ends."""
        found = []
        begin = 0
        while begin < len(text):
            end = text.find(b"\n", begin) + 1 or len(text)
            line = text[begin:end]
            if self.holds(line):
                content = line[:-1].removesuffix(b"\r") if line.endswith(b"\n") else line
                found.append((begin, begin + len(content), end, None))
            begin = end
        return found

    def holds(self, line: bytes) -> bool:
        """Whether a line has a needle in it."""
        return self._needle.search(_SEQUENCE.sub(b"", line) if b"\x1b" in line else line) is not None
