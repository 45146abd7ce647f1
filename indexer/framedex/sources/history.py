"""Earlier versions of a file from git."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from framedex.git import Git

_PATIENCE = 3.0  # seconds; in a large repository, git may search long for the commits of a file
_MOST = 24  # commits of a file that are searched
_LARGEST = 16 << 20  # bytes


class History:
    """The versions of one file in its git working tree."""

    def __init__(self, path: str) -> None:
        self._git = Git(Path(path).parent, _PATIENCE)
        self._name = Path(path).name

    def at(self, revision: str) -> bytes | None:
        """The content of the file at a commit or tag; None if git does not have it or it is larger than 16 MiB."""
        content = self._git.content("cat-file", "blob", f"{revision}:./{self._name}")
        return content if content is not None and len(content) <= _LARGEST else None

    def earlier(self) -> Iterator[bytes]:
        """The committed contents of the file, latest first, without duplicates."""
        commits = self._git.text("rev-list", f"--max-count={_MOST}", "HEAD", "--", f"./{self._name}") or ""
        seen: set[bytes] = set()
        for commit in commits.split():
            content = self.at(commit)
            if content is not None and content not in seen:
                seen.add(content)
                yield content
