"""Two versions of a file: every line has a location in the other one, and equal lines map back."""

from __future__ import annotations

from framedex.sources.line_maps import map_lines
from tests.fuzz.inputs import text_of

MAX_SIZE = 1 << 13


def _stripped(text: str) -> list[str]:
    return [line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]


def run(data: bytes) -> None:
    """The old text, a zero byte, and the new text."""
    old, _, new = text_of(data).partition("\0")
    lines = map_lines(old, new)
    before, after = (_stripped(text) for text in (old, new))
    for number in range(len(before)):
        moved = lines.map_to_new(number + 1)
        assert 1 <= moved.line <= len(after)
        if not moved.is_gone:
            assert after[moved.line - 1] == before[number]
            back = lines.map_to_old(moved.line)
            assert (back.line, back.is_gone) == (number + 1, False)
