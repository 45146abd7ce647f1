"""Unsaved edits: the index knows the lines of files, a client asks about those on its screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.regularfile import read_regular
from framedex.whereabouts.files import FoundFile, found_file

if TYPE_CHECKING:
    from framedex.sources.moving import LineMap

_LARGEST = 4 << 20
"""Bytes of a file, and code points of a document, that are compared while the client waits."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """The text and the state of the file that were compared, and what has moved; None for nothing that is known."""

    text: str
    file: FoundFile
    lines: LineMap | None


class UnsavedEdits:
    """Which line of a file each line of the open document is, and back; lines are 1-based.

    `text_of` gives the live text of the document that a client has open of a file, by its real path. Safe to ask from
    any thread.
    """

    def __init__(self, text_of: Callable[[str], str | None]) -> None:
        self._text_of = text_of
        self._compared: dict[str, _Compared] = {}

    def saved_line(self, path: str, line: int) -> int | None:
        """The line of the file that a shown line is; None if it was typed, or changed, since the file was saved."""
        lines = self._lines(path)
        if lines is None:
            return line
        return lines.old_line(line)

    def nearest_saved_line(self, path: str, line: int) -> int:
        """The line of the file that a shown line is; of one that was typed since, the nearest that is in the file."""
        lines = self._lines(path)
        return line if lines is None else lines.backward(line).line

    def shown_line(self, path: str, line: int) -> int:
        """The line at which a line of the file is shown; of one that was deleted, where it would be."""
        lines = self._lines(path)
        return line if lines is None else lines.forward(line).line

    def is_shown(self, path: str, line: int) -> bool:
        """Whether a line of the file is still in the document as it was."""
        lines = self._lines(path)
        return lines is None or lines.new_line(line) is not None

    def forget(self, path: str) -> None:
        """Note that the client has closed the document."""
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
    """The saved text in the encoding in which a client shows `text` of it, as nobody says which that is."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        encodings = dict.fromkeys((_coding_cookie(content), "cp1252", "latin-1", "utf-8"))
    shown = set(text.splitlines())
    texts = (content.decode(encoding, "replace") for encoding in encodings)
    return max(texts, key=lambda saved: sum(line in shown for line in saved.splitlines()))


def _coding_cookie(content: bytes) -> str:
    """The encoding that a Python file names (PEP 263); UTF-8 if Python cannot decode the file with it."""
    import tokenize  # most files are UTF-8

    try:
        encoding = tokenize.detect_encoding(BytesIO(content).readline)[0]
        content.decode(encoding, "replace")
    except (SyntaxError, LookupError, UnicodeError):  # `rot13` and `idna` are codecs, but decode no file
        return "utf-8"
    return encoding
