"""The line of source that Python prints below a frame: what stood there when the program failed."""

from __future__ import annotations

from collections.abc import Sequence

from framedex.interchange.model import Format, TextFrame

_INDENT = "    "


def quoted_source(frame: TextFrame, lines: Sequence[str]) -> str:
    """The source of a traceback's frame as the text has it, without its indentation; empty where it has none.

    `lines` are those of the text.
    """
    if frame.format is not Format.PYTHON or frame.last_line + 1 >= len(lines):
        return ""
    line, below = lines[frame.last_line], lines[frame.last_line + 1]
    before = max(frame.start - 2, 0)  # what a log or an exception group puts before every line
    if below[:before] != line[:before] or not below.startswith(_INDENT, before):
        return ""
    source = below[before:].strip()
    return source if source.isascii() and source.strip("^~ ") else ""
