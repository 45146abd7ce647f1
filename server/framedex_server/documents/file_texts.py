"""Texts of files that are not open, read in parts: a file of any size costs bounded memory and time."""

from __future__ import annotations

import re
from functools import lru_cache
from io import BufferedReader
from pathlib import Path

from framedex.base.errors import SystemLimitError
from framedex.base.regularfile import MAX_FILE_BYTES, open_regular
from framedex.path_resolution.files import FoundFile, find_file

MAX_READ = 16 << 20
"""Code points read of a document, or bytes of a file, from its end: logs have the error there."""

MAX_TEXT_BYTES = 256 << 20
"""Maximum bytes of a file whose lines are counted; a larger file counts as unreadable."""

MAX_LINE_CHARACTERS = 2_000
"""Code points read of a line; generated sources have lines of megabytes."""

_MAX_LINES = 4_000_000  # maximum number of lines counted before the end of a text
_UNREADABLE = (OSError, SystemLimitError)  # not cached: the next query retries
_CHUNK_BYTES = 1 << 20  # bytes
_MAX_LINE_BYTES = 4 * MAX_LINE_CHARACTERS  # bytes in UTF-8


def read_text(path: str) -> str:
    """Return the text of a file, or the end of a large file after one newline per skipped line.

    The newlines preserve line numbers. Empty if the file is unreadable or exceeds `MAX_TEXT_BYTES` or `_MAX_LINES`.
    """
    file = find_file(path)
    if file is None or file.size > MAX_TEXT_BYTES:
        return ""
    try:
        with open_regular(Path(path)) as content:
            above = _count_lines(content, max(file.size - MAX_READ, 0))
            text = content.read(MAX_READ).decode("utf-8", "replace")
    except _UNREADABLE:
        return ""
    if file.size <= MAX_READ:
        return text
    end_of_line = re.search(r"[\r\n]|\Z", text)
    assert end_of_line is not None
    return "\n" * above + text[end_of_line.start() :] if above <= _MAX_LINES else ""


def read_line(path: str, line: int) -> str:
    """Return the text on a 1-based line of a file, without its end; empty if it begins after `LARGEST_FILE` bytes."""
    file = find_file(path) if line >= 1 else None
    try:
        return "" if file is None else _read_line_cached(file, line)
    except _UNREADABLE:
        return ""


def _count_lines(content: BufferedReader, size: int) -> int:
    """Read the next `size` bytes and return the number of line ends: LF, CRLF and CR, as in LSP."""
    ends = 0
    while size > 0 and (part := content.read(min(size, _CHUNK_BYTES))):
        size -= len(part)
        is_split = part.endswith(b"\r") and content.peek(1)[:1] == b"\n"  # the next part has the end of this line
        ends += part.count(b"\n") + part.count(b"\r") - part.count(b"\r\n") - is_split
    return ends


@lru_cache(maxsize=8192)
def _read_line_cached(file: FoundFile, line: int) -> str:
    """Return a line of a file, cached per file state: answers use the same few lines, deep inside their files.

    Raises OSError and SystemLimitError, which are not cached.
    """
    with open_regular(Path(file.path)) as content:
        start = _find_line_start(content, line)
        if start is None:
            return ""
        content.seek(start)
        text = content.readline(_MAX_LINE_BYTES)
    return text.decode("utf-8", "replace").rstrip("\r\n")[:MAX_LINE_CHARACTERS]


def _find_line_start(content: BufferedReader, line: int) -> int | None:
    """Return the offset of a line in the first `LARGEST_FILE` bytes; None if it begins later or does not exist."""
    ends, position = line - 1, 0
    while position < MAX_FILE_BYTES and (part := content.read(_CHUNK_BYTES)):
        count = part.count(b"\n")
        if count >= ends:
            end = -1
            for _ in range(ends):
                end = part.index(b"\n", end + 1)
            return position + end + 1
        ends, position = ends - count, position + len(part)
    return None
