"""Texts of files that are not open, read in parts: a file of any size costs bounded memory and time."""

from __future__ import annotations

import re
from functools import lru_cache
from io import BufferedReader
from pathlib import Path

from framedex.path_resolution.files import FoundFile, found_file
from framedex.regularfile import LARGEST_FILE, open_regular
from framedex.systemlimits import SystemLimitError

MOST_READ = 16 << 20
"""Code points read of a document, or bytes of a file, from its end: logs have the error there."""

LARGEST_TEXT = 256 << 20
"""Maximum bytes of a file whose lines are counted; a larger file counts as unreadable."""

LONGEST_LINE = 2_000
"""Code points read of a line; generated sources have lines of megabytes."""

_MOST_LINES = 4_000_000  # maximum number of lines counted before the end of a text
_UNREADABLE = (OSError, SystemLimitError)  # not cached: the next query retries
_PART = 1 << 20  # bytes
_BYTES_OF_LINE = 4 * LONGEST_LINE  # bytes in UTF-8


def read_text(path: str) -> str:
    """Return the text of a file. A large file is truncated to its end, with one newline per skipped line.

    So lines keep their numbers. Empty if the file is unreadable or exceeds `LARGEST_TEXT` bytes or `_MOST_LINES` lines.
    """
    file = found_file(path)
    if file is None or file.size > LARGEST_TEXT:
        return ""
    try:
        with open_regular(Path(path)) as content:
            above = _count_lines(content, max(file.size - MOST_READ, 0))
            text = content.read(MOST_READ).decode("utf-8", "replace")
    except _UNREADABLE:
        return ""
    if file.size <= MOST_READ:
        return text
    end_of_line = re.search(r"[\r\n]|\Z", text)
    assert end_of_line is not None
    return "\n" * above + text[end_of_line.start() :] if above <= _MOST_LINES else ""


def read_line(path: str, line: int) -> str:
    """Return the text on a 1-based line of a file, without its end; empty if it begins after `LARGEST_FILE` bytes."""
    file = found_file(path) if line >= 1 else None
    try:
        return "" if file is None else _line_of_file(file, line)
    except _UNREADABLE:
        return ""


def _count_lines(content: BufferedReader, size: int) -> int:
    """Read the next `size` bytes and return the number of line ends: LF, CRLF and CR, as in LSP."""
    ends = 0
    while size > 0 and (part := content.read(min(size, _PART))):
        size -= len(part)
        is_split = part.endswith(b"\r") and content.peek(1)[:1] == b"\n"  # the next part has the end of this line
        ends += part.count(b"\n") + part.count(b"\r") - part.count(b"\r\n") - is_split
    return ends


@lru_cache(maxsize=8192)
def _line_of_file(file: FoundFile, line: int) -> str:
    """Return a line of a file, cached per file state: answers use the same few lines, deep inside their files.

    Raises OSError and SystemLimitError, which are not cached.
    """
    with open_regular(Path(file.path)) as content:
        start = _start_of_line(content, line)
        if start is None:
            return ""
        content.seek(start)
        text = content.readline(_BYTES_OF_LINE)
    return text.decode("utf-8", "replace").rstrip("\r\n")[:LONGEST_LINE]


def _start_of_line(content: BufferedReader, line: int) -> int | None:
    """Return the offset of a line in the first `LARGEST_FILE` bytes; None if it begins later or does not exist."""
    ends, position = line - 1, 0
    while position < LARGEST_FILE and (part := content.read(_PART)):
        count = part.count(b"\n")
        if count >= ends:
            at = -1
            for _ in range(ends):
                at = part.index(b"\n", at + 1)
            return position + at + 1
        ends, position = ends - count, position + len(part)
    return None
