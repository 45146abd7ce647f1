"""Documents by path: the editor's buffer takes precedence over the file on disk, under the editor's URI.

The index knows files by their real path; an editor may have opened one through a symbolic link. Answers must use the
editor's own URI, or it shows the same file in a second buffer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import quote

from pygls.uris import to_fs_path

from framedex_server.documents.unopened import LONGEST_LINE, read_line, read_text
from framedex_server.documents.unsaved import UnsavedEdits

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

    def opened(self, uri: str) -> None:
        """Record that the client opened `uri`."""
        path = path_of(uri)
        if path is not None:
            self._uris[path] = uri

    def closed(self, uri: str) -> None:
        """Record that the client closed `uri`."""
        for path in [path for path, known in self._uris.items() if known == uri]:
            del self._uris[path]
            self.edits.forget(path)

    def is_open(self, uri: str) -> bool:
        """Return whether the client has the document open."""
        return self._text_of(uri) is not None

    def uri_of(self, path: str) -> str:
        """Return the URI under which the client knows, or would open, the file with the real path `path`."""
        return self._uris.get(path) or _file_uri(self._as_the_client_sees(path))

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
            path = path_of(uri)
            text = read_text(path) if path is not None else ""
        return _with_plain_newlines(text)

    def line(self, path: str, line: int) -> str:
        """Return the current text on a 1-based line of the file with the real path `path`, without newline."""
        text = self._live_text(path)
        if text is None:
            return read_line(path, line)
        lines = _with_plain_newlines(text).split("\n")
        line = self.edits.shown_line(path, line)
        return lines[line - 1][:LONGEST_LINE] if 0 < line <= len(lines) else ""

    def _live_text(self, path: str) -> str | None:
        uri = self._uris.get(path)
        return self._text_of(uri) if uri is not None else None

    def _as_the_client_sees(self, path: str) -> str:
        """Return the path below a workspace folder that was opened through a symbolic link; other paths unchanged."""
        for root in self._roots():
            real = os.path.realpath(root)
            if real != str(root) and path.startswith(real + os.sep):
                return str(root) + path[len(real) :]
        return path


def path_of(uri: str) -> str | None:
    """Return the real path of a `file:` URI, as stored in the index; None for any other URI."""
    try:
        path = to_fs_path(uri)
        return os.path.realpath(path) if path else None
    except ValueError:  # malformed URI, or a path with a NUL
        return None


def _file_uri(path: str) -> str:
    # Bytes that are not UTF-8 are lone surrogates (PEP 383); pygls.uris.from_fs_path raises on them.
    try:
        return "file://" + quote(path, errors="surrogateescape")
    except UnicodeEncodeError:
        return "file://" + quote(path, errors="replace")


def _with_plain_newlines(text: str) -> str:
    # LSP, Python and C++ agree on line ends; str.splitlines has more (form feeds, U+2028) and would miscount.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
