"""Stored copies of recorded builds, for frames whose binary may have been replaced since."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.binaries import Contents, KeptBinaries
    from framedex.index import Index
    from framedex.text_stacks.model import TextFrame


class KeptBuilds:
    """Finds the copies recorded by an index. Each content is compared once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._found: dict[tuple[str, str, str], tuple[str, ...]] = {}

    @cached_property
    def _kept(self) -> KeptBinaries:
        from framedex.binaries import KeptBinaries  # few texts have offsets

        return KeptBinaries()

    @cached_property
    def _contents(self) -> Contents:
        from framedex.binaries import Contents

        return Contents()

    def of(self, frame: TextFrame, path: str | None) -> tuple[str, ...]:
        """Return the copies of builds with a frame's build-id, or recorded at its module's path, latest first.

        `path` is the current path of the binary. A build that is still there has no copy in the result.
        """
        key = frame.module, frame.build_id, path or ""
        if key not in self._found:
            self._found[key] = tuple(self._copies(*key)) if frame.module or frame.build_id else ()
        return self._found[key]

    def _copies(self, module: str, build_id: str, path: str) -> list[str]:
        paths = list(filter(None, dict.fromkeys((module, path))))
        digests = list(dict.fromkeys(self._index.names.contents_of_builds(paths, build_id)))
        copies = [(digest, copy) for digest in digests if (copy := self._kept.find(digest)) is not None]
        present = self._contents.of(Path(path)) if copies and path else ""
        return [str(copy) for digest, copy in copies if digest != present and self._contents.of(copy) == digest]


def modified_at(path: str) -> float:
    """Return the modification time of a file, in seconds of Unix time; 0 if unavailable."""
    try:
        return Path(path).stat().st_mtime
    except (OSError, ValueError):
        return 0.0
