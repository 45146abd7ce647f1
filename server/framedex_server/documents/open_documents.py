"""Documents by path: the editor's buffer takes precedence over the file on disk, under the editor's URI.

The index knows files by their real path; an editor may have opened one through a symbolic link. Answers must use the
editor's own URI, or it shows the same file in a second buffer.
"""

from __future__ import annotations

import os
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from pygls.uris import to_fs_path

from framedex.base.regularfile import read_regular
from framedex.path_resolution.files import FoundFile, find_file
from framedex_server.documents.file_texts import MAX_LINE_CHARACTERS, read_line, read_text

if TYPE_CHECKING:
    from framedex.sources.line_maps import LineMap

TRACE_LANGUAGE = "framedex-trace"
TRACE_SUFFIX = ".fdtrace"


class OpenDocuments:
    """The documents open in a client, and the files behind documents that are not open.

    `text_of` and `language_of` return the live text and the language id of an open document's URI. `roots` returns the
    workspace folders as the client named them. Thread-safe.
    """

    def __init__(
        self,
        text_of: Callable[[str], str | None],
        language_of: Callable[[str], str | None],
        roots: Callable[[], Sequence[Path]],
    ) -> None:
        self._text_of = text_of
        self._language_of = language_of
        self._roots = roots
        self._uris: dict[str, str] = {}
        self.edits = UnsavedEdits(self._live_text)

    def on_open(self, uri: str) -> None:
        """Record that the client opened `uri`."""
        path = to_path(uri)
        if path is not None:
            self._uris[path] = uri

    def on_close(self, uri: str) -> None:
        """Record that the client closed `uri`."""
        for path in [path for path, known in self._uris.items() if known == uri]:
            del self._uris[path]
            self.edits.forget(path)

    def is_open(self, uri: str) -> bool:
        """Return whether the client has the document open."""
        return self._text_of(uri) is not None

    def uri_of(self, path: str) -> str:
        """Return the URI under which the client knows, or would open, the file with the real path `path`."""
        return self._uris.get(path) or _build_file_uri(self._to_client_path(path))

    def language(self, uri: str) -> str | None:
        """Return the language id that the client gave an open document."""
        return self._language_of(uri)

    def is_trace(self, uri: str) -> bool:
        """Return whether the document is a trace document, by its language id or its suffix."""
        return self._language_of(uri) == TRACE_LANGUAGE or uri.endswith(TRACE_SUFFIX)

    def text(self, uri: str) -> str:
        """Return the text of a document with LF newlines; empty if it is unreadable.

        If the document is not open, `read_text` reads its file; do not call it on the protocol loop then.
        """
        text = self._text_of(uri)
        if text is None:
            path = to_path(uri)
            text = read_text(path) if path is not None else ""
        return _normalize_newlines(text)

    def line(self, path: str, line: int) -> str:
        """Return the current text on a 1-based line of the file with the real path `path`, without newline."""
        text = self._live_text(path)
        if text is None:
            return read_line(path, line)
        lines = _split_lines(text)
        line = self.edits.shown_line(path, line)
        return lines[line - 1][:MAX_LINE_CHARACTERS] if 0 < line <= len(lines) else ""

    def _live_text(self, path: str) -> str | None:
        uri = self._uris.get(path)
        return self._text_of(uri) if uri is not None else None

    def _to_client_path(self, path: str) -> str:
        """Return the path below a workspace folder that was opened through a symbolic link; other paths unchanged."""
        for root in self._roots():
            real = os.path.realpath(root)
            if real != str(root) and path.startswith(real + os.sep):
                return str(root) + path[len(real) :]
        return path


def to_path(uri: str) -> str | None:
    """Return the real path of a `file:` URI, as stored in the index; None for any other URI."""
    try:
        path = to_fs_path(uri)
        return os.path.realpath(path) if path else None
    except ValueError:  # malformed URI, or a path with a NUL
        return None


def _build_file_uri(path: str) -> str:
    # Bytes that are not UTF-8 are lone surrogates (PEP 383); pygls.uris.from_fs_path raises on them.
    try:
        return "file://" + quote(path, errors="surrogateescape")
    except UnicodeEncodeError:
        return "file://" + quote(path, errors="replace")


def _normalize_newlines(text: str) -> str:
    # LSP, Python and C++ agree on line ends; str.splitlines has more (form feeds, U+2028) and would miscount.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


@lru_cache(maxsize=4)  # an answer has many lines of one text
def _split_lines(text: str) -> list[str]:
    return _normalize_newlines(text).split("\n")


_MAX_COMPARED = 4 << 20
"""Maximum bytes of a file, and code points of a document, to compare while the client waits."""


@dataclass(frozen=True, slots=True)
class _TextComparison:
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
        self._compared: dict[str, _TextComparison] = {}

    def saved_line(self, path: str, line: int) -> int | None:
        """Return the file's line for a shown line; None if it was typed or changed after the last save."""
        lines = self._line_map(path)
        if lines is None:
            return line
        return lines.old_line(line)

    def nearest_saved_line(self, path: str, line: int) -> int:
        """Return the file's line for a shown line; for a line typed since the last save, the nearest saved one."""
        lines = self._line_map(path)
        return line if lines is None else lines.map_to_old(line).line

    def shown_line(self, path: str, line: int) -> int:
        """Return the shown line for a line of the file; for a deleted line, its former position."""
        lines = self._line_map(path)
        return line if lines is None else lines.map_to_new(line).line

    def is_shown(self, path: str, line: int) -> bool:
        """Return whether a line of the file is still unchanged in the document."""
        lines = self._line_map(path)
        return lines is None or lines.new_line(line) is not None

    def forget(self, path: str) -> None:
        """Drop the comparison of a closed document."""
        self._compared.pop(path, None)

    def _line_map(self, path: str) -> LineMap | None:
        text = self._text_of(path)
        if text is None:
            return None
        file = find_file(path)
        if file is None:
            return None
        known = self._compared.get(path)
        if known is None or known.text is not text or known.file != file:
            known = self._compared[path] = _TextComparison(text, file, _compare_lines(file, text))
        return known.lines


def _compare_lines(file: FoundFile, text: str) -> LineMap | None:
    if file.size > _MAX_COMPARED or len(text) > _MAX_COMPARED:
        return None
    try:
        content = read_regular(Path(file.path))
    except OSError:
        return None
    saved = _decode_like(content, text)
    if saved == text:
        return None
    from framedex.sources.line_maps import map_lines

    return map_lines(saved, text)


def _decode_like(content: bytes, text: str) -> str:
    """Return the saved text, decoded so that it matches `text` best, because the client does not name its encoding."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        encodings = dict.fromkeys((_find_coding_cookie(content), "cp1252", "latin-1", "utf-8"))
    shown = set(text.splitlines())
    texts = (content.decode(encoding, "replace") for encoding in encodings)
    return max(texts, key=lambda saved: sum(line in shown for line in saved.splitlines()))


def _find_coding_cookie(content: bytes) -> str:
    """Return the encoding that a Python file declares (PEP 263); UTF-8 if Python cannot decode the file with it."""
    try:
        encoding = tokenize.detect_encoding(BytesIO(content).readline)[0]
        content.decode(encoding, "replace")
    except (SyntaxError, LookupError, UnicodeError):  # the codecs `rot13` and `idna` cannot decode files
        return "utf-8"
    return encoding
