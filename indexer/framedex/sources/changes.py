"""Detect changed files and map their old lines to new ones.

Files with equal mtime and size are unchanged. Otherwise git's blob hash of the content decides. The index stores the
old text of the program's own files under that hash, and git stores committed and staged text. A diff of the old and
new text maps the lines.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

from framedex.git import Git
from framedex.model import FileState
from framedex.path_resolution.files import found_file
from framedex.recall import Recall
from framedex.regularfile import LARGEST_FILE, open_regular
from framedex.sources.moving import LineMap, map_lines, text_lines

_MOST_TEXT = 64 << 20  # characters of the old texts of cached changes


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a file: `lines` maps old to new lines, None if the old text is unknown; `text` is the old text."""

    lines: LineMap | None
    text: str = ""

    def line_then(self, line: int) -> str:
        """A line of the old text, stripped; empty if there is none."""
        lines = _lines_of(self.text)
        found = lines[line - 1] if 0 < line <= len(lines) else ""
        return found.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@lru_cache(8)
def _lines_of(text: str) -> list[str]:
    return text_lines(text)


class Changes:
    """The changes of files, cached until a file changes again.

    `stored_text` returns the content of a blob in the index, None if it is missing.
    """

    def __init__(self, stored_text: Callable[[str], bytes | None]) -> None:
        self._stored_text = stored_text
        self._known: Recall[tuple[str, FileState], tuple[tuple[int, int], Change | None]] = Recall(_MOST_TEXT)

    def since(self, path: str, then: FileState) -> Change | None:
        """The change of a file since state `then`; None if it is unchanged or missing."""
        found = found_file(path)
        if found is None:
            return None
        now = found.modified, found.size
        if then.blob and now == (then.modified, then.size):
            return None
        known = self._known.get((path, then))
        if known is None or known[0] != now:
            change = self._change(path, then)
            length = len(path) + (len(change.text) if change else 0)
            known = self._known.keep((path, then), (now, change), length)
        return known[1]

    def _change(self, path: str, then: FileState) -> Change | None:
        new = read_stable(path)
        if new is None or not then.blob:
            return Change(None)
        if blob_name(new.content) == then.blob:
            return None
        old = self._stored_text(then.blob)
        if old is None:
            old = Git(Path(path).parent).content("cat-file", "blob", then.blob)
        if old is None:
            return Change(None)
        text = _decoded(old)
        return Change(map_lines(text, _decoded(new.content)), text)


@dataclass(frozen=True, slots=True)
class StableContent:
    """The content of a file that did not change during the read; `modified` is in ns since 1970."""

    modified: int
    content: bytes

    def state(self) -> FileState:
        return FileState(self.modified, len(self.content), blob_name(self.content))


def file_state(path: str) -> FileState | None:
    """The current state of a file; None if `read_stable` returns None."""
    read = read_stable(path)
    return None if read is None else read.state()


def blob_name(content: bytes) -> str:
    """The name of a blob with this content (`git hash-object`)."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def read_stable(path: str) -> StableContent | None:
    """Read a file; None if it is unreadable, larger than `LARGEST_FILE`, or modified during the read."""
    try:
        with open_regular(Path(path)) as file:
            before = _times(file)
            content = file.read(LARGEST_FILE + 1)
            is_whole = len(content) <= LARGEST_FILE and before == _times(file)
    except (OSError, ValueError):
        return None
    return StableContent(before[0], content) if is_whole else None


def _decoded(content: bytes) -> str:
    """Decode a text for comparison. Invalid UTF-8 bytes stay distinct, so any encoding works."""
    return content.decode("utf-8-sig", "surrogateescape")


def _times(file: IO[bytes]) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_mtime_ns, status.st_size
