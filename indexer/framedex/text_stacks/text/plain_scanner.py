"""A Python replacement for `native/line_scanner`, if the native part is missing: it finds lines that may begin a stack.

It never decides a line by its words, so the readers are called for every line found. That is slower, with equal
results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# As in `line_scanner.cc`: a needle is found even if a control sequence, complete or not, interrupts it.
_SEQUENCE = re.compile(rb"\x1b(?:\[[ -?]*[@-~]?)?")


class PlainScanner:
    """A scanner for lines that contain any of several needles."""

    def __init__(self, needles: Sequence[bytes], word_needles: Sequence[bytes]) -> None:
        self._needle = re.compile(b"|".join(map(re.escape, (*needles, *word_needles))))

    def scan(self, text: bytes) -> list[tuple[int, int, int, None]]:
        """Return the lines with a needle: begin of the line, end of its text, and end of its line break, in bytes."""
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
        """Whether a line contains a needle."""
        return self._needle.search(_SEQUENCE.sub(b"", line) if b"\x1b" in line else line) is not None
