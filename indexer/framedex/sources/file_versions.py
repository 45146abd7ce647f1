"""Versions of a source file: recorded, current, committed and installed. A changed file gets a map of its lines.

Files with equal mtime and size are unchanged. Otherwise git's blob hash of the content decides. The index stores the
old text of the program's own files under that hash, and git stores committed and staged text. A diff of the old and
new text maps the lines.

The RECORD of an installed distribution lists the digests of its files (packaging.python.org, "Recording installed
projects"). Its CSV rows have path, digest (`sha256=` and URL-safe base64 without padding) and size in bytes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

from framedex.base.lazy import TextCache
from framedex.base.regularfile import MAX_FILE_BYTES, open_regular, read_regular, read_regular_text
from framedex.model import FileState
from framedex.path_resolution.files import find_file
from framedex.sources.git import Git
from framedex.sources.line_maps import LineMap, map_lines, split_lines

_MAX_TEXT_LENGTH = 64 << 20  # characters of the old texts of cached changes


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change of a file: `lines` maps old to new lines, None if the old text is unknown; `text` is the old text."""

    lines: LineMap | None
    text: str = ""

    def old_line_text(self, line: int) -> str:
        """A line of the old text, stripped; empty if the text has no such line."""
        lines = _split_lines(self.text)
        found = lines[line - 1] if 0 < line <= len(lines) else ""
        return found.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@lru_cache(8)
def _split_lines(text: str) -> list[str]:
    return split_lines(text)


class FileChanges:
    """The changes of files, cached until a file changes again.

    `stored_text` returns the content of a blob in the index, None if it is missing.
    """

    def __init__(self, stored_text: Callable[[str], bytes | None]) -> None:
        self._stored_text = stored_text
        self._changes: TextCache[tuple[str, FileState], tuple[tuple[int, int], FileChange | None]] = TextCache(
            _MAX_TEXT_LENGTH
        )

    def change_since(self, path: str, former: FileState) -> FileChange | None:
        """The change of a file since state `former`; None if it is unchanged or missing."""
        found = find_file(path)
        if found is None:
            return None
        now = found.modified, found.size
        if former.blob and now == (former.modified, former.size):
            return None
        known = self._changes.get((path, former))
        if known is None or known[0] != now:
            change = self._compute_change(path, former)
            length = len(path) + (len(change.text) if change else 0)
            known = self._changes.store((path, former), (now, change), length)
        return known[1]

    def _compute_change(self, path: str, former: FileState) -> FileChange | None:
        new = read_stable(path)
        if new is None or not former.blob:
            return FileChange(None)
        if compute_blob_name(new.content) == former.blob:
            return None
        old = self._stored_text(former.blob)
        if old is None:
            old = Git(Path(path).parent).output("cat-file", "blob", former.blob)
        if old is None:
            return FileChange(None)
        text = _decode(old)
        return FileChange(map_lines(text, _decode(new.content)), text)


@dataclass(frozen=True, slots=True)
class StableContent:
    """The content of a file that did not change during the read; `modified` is in ns since the Unix epoch."""

    modified: int
    content: bytes

    def state(self) -> FileState:
        """The state of the file: modification time, size and git blob name."""
        return FileState(self.modified, len(self.content), compute_blob_name(self.content))


def read_file_state(path: str) -> FileState | None:
    """The current state of a file; None if `read_stable` returns None."""
    read = read_stable(path)
    return None if read is None else read.state()


def compute_blob_name(content: bytes) -> str:
    """The name of a blob with this content (`git hash-object`)."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def read_stable(path: str) -> StableContent | None:
    """Read a file; None if it is unreadable, larger than `LARGEST_FILE`, or modified during the read."""
    try:
        with open_regular(Path(path)) as file:
            before = _read_times(file)
            content = file.read(MAX_FILE_BYTES + 1)
            is_whole = len(content) <= MAX_FILE_BYTES and before == _read_times(file)
    except (OSError, ValueError):
        return None
    return StableContent(before[0], content) if is_whole else None


def _decode(content: bytes) -> str:
    """Decode a text for comparison. Invalid UTF-8 bytes stay distinct, so any encoding works."""
    return content.decode("utf-8-sig", "surrogateescape")


def _read_times(file: IO[bytes]) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_mtime_ns, status.st_size


_GIT_TIMEOUT_S = 3.0  # seconds; in a large repository, git may search for the commits of a file for a long time
_MAX_COMMITS = 24  # the maximum number of commits searched for one file
_MAX_VERSION_BYTES = 16 << 20  # bytes


class FileHistory:
    """The versions of one file in its git working tree."""

    def __init__(self, path: str) -> None:
        self._git = Git(Path(path).parent, _GIT_TIMEOUT_S)
        self._name = Path(path).name

    def read_revision(self, revision: str) -> bytes | None:
        """The content of the file at a commit or tag; None if git does not have it or it is larger than 16 MiB."""
        content = self._git.output("cat-file", "blob", f"{revision}:./{self._name}")
        return content if content is not None and len(content) <= _MAX_VERSION_BYTES else None

    def iterate_earlier(self) -> Iterator[bytes]:
        """The committed contents of the file, latest first, without duplicates."""
        commits = self._git.text("rev-list", f"--max-count={_MAX_COMMITS}", "HEAD", "--", f"./{self._name}") or ""
        seen: set[bytes] = set()
        for commit in commits.split():
            content = self.read_revision(commit)
            if content is not None and content not in seen:
                seen.add(content)
                yield content


def are_installed_together(binary: Path, source: Path) -> bool:
    """Whether one distribution installed both files, and `source` still has its installed content.

    Installers set each file's mtime to the time of installation, so a source can be newer than the binary built from
    it.
    """
    sites = (folder for folder in binary.parents if source.is_relative_to(folder))
    records = next(filter(None, (list(site.glob("*.dist-info/RECORD")) for site in sites)), [])
    return any(_lists_both(record, binary, source) for record in records)


def _lists_both(record: Path, binary: Path, source: Path) -> bool:
    import csv

    site = record.parents[1]
    name = source.relative_to(site).as_posix()
    try:
        content = read_regular_text(record)
        if name not in content:
            return False
        digests = {row[0]: row[1] for row in csv.reader(content.splitlines()) if len(row) > 1}
        return binary.relative_to(site).as_posix() in digests and digests.get(name) == _compute_digest(source)
    except (OSError, csv.Error):
        return False


def _compute_digest(path: Path) -> str:
    import base64

    digest = hashlib.sha256(read_regular(path)).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
