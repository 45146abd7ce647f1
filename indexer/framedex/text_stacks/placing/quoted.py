"""The source line that Python prints below a frame, as it was when the program failed."""

from __future__ import annotations

from collections.abc import Sequence

from framedex.text_stacks.model import Format, TextFrame

_INDENT = "    "


def quoted_source(frame: TextFrame, lines: Sequence[str]) -> str:
    """Return the source line quoted below a traceback frame, without indentation; empty if there is none.

    `lines` are those of the text.
    """
    if frame.format is not Format.PYTHON or frame.last_line + 1 >= len(lines):
        return ""
    line, below = lines[frame.last_line], lines[frame.last_line + 1]
    before = max(frame.start - 2, 0)  # the prefix of every line, of a log or an exception group
    if below[:before] != line[:before] or not below.startswith(_INDENT, before):
        return ""
    source = below[before:].strip()
    return source if source.isascii() and source.strip("^~ ") else ""
