"""Unsaved edits: maps lines of the client's buffer to lines of the file on disk, which the index knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.path_resolution.files import FoundFile, found_file
from framedex.regularfile import read_regular

if TYPE_CHECKING:
    from framedex.sources.moving import LineMap

_LARGEST = 4 << 20
"""Maximum bytes of a file, and code points of a document, to compare while the client waits."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """A comparison: the text, the state of the file, and the line map; None if unknown or unchanged."""

    text: str
    file: FoundFile
    lines: LineMap | None


class UnsavedEdits:
    """Maps lines of open documents to lines of files, and back; lines are 1-based.

    `text_of` returns the live text of the open document for a file, given by its real path. Thread-safe.
    """

    def __init__(self, text_of: Callable[[str], str | None]) -> None:
        self._text_of = text_of
        self._compared: dict[str, _Compared] = {}

    def saved_line(self, path: str, line: int) -> int | None:
        """Return the file's line for a shown line; None if it was typed or changed after the last save."""
        lines = self._lines(path)
        if lines is None:
            return line
        return lines.old_line(line)

    def nearest_saved_line(self, path: str, line: int) -> int:
        """Return the file's line for a shown line; for a line typed since the last save, the nearest saved one."""
        lines = self._lines(path)
        return line if lines is None else lines.backward(line).line

    def shown_line(self, path: str, line: int) -> int:
        """Return the shown line for a line of the file; for a deleted line, its former position."""
        lines = self._lines(path)
        return line if lines is None else lines.forward(line).line

    def is_shown(self, path: str, line: int) -> bool:
        """Return whether a line of the file is still unchanged in the document."""
        lines = self._lines(path)
        return lines is None or lines.new_line(line) is not None

    def forget(self, path: str) -> None:
        """Drop the comparison of a closed document."""
        self._compared.pop(path, None)

    def _lines(self, path: str) -> LineMap | None:
        text = self._text_of(path)
        if text is None:
            return None
        file = found_file(path)
        if file is None:
            return None
        known = self._compared.get(path)
        if known is None or known.text is not text or known.file != file:
            known = self._compared[path] = _Compared(text, file, _edits(file, text))
        return known.lines


def _edits(file: FoundFile, text: str) -> LineMap | None:
    if file.size > _LARGEST or len(text) > _LARGEST:
        return None
    try:
        content = read_regular(Path(file.path))
    except OSError:
        return None
    saved = _as_shown(content, text)
    if saved == text:
        return None
    from framedex.sources.moving import map_lines

    return map_lines(saved, text)


def _as_shown(content: bytes, text: str) -> str:
    """Return the saved text, decoded so that it matches `text` best, because the client does not name its encoding."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        encodings = dict.fromkeys((_coding_cookie(content), "cp1252", "latin-1", "utf-8"))
    shown = set(text.splitlines())
    texts = (content.decode(encoding, "replace") for encoding in encodings)
    return max(texts, key=lambda saved: sum(line in shown for line in saved.splitlines()))


def _coding_cookie(content: bytes) -> str:
    """Return the encoding that a Python file declares (PEP 263); UTF-8 if Python cannot decode the file with it."""
    import tokenize  # a slow import; most files are UTF-8

    try:
        encoding = tokenize.detect_encoding(BytesIO(content).readline)[0]
        content.decode(encoding, "replace")
    except (SyntaxError, LookupError, UnicodeError):  # the codecs `rot13` and `idna` cannot decode files
        return "utf-8"
    return encoding
