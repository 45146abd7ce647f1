"""Lines of public repositories, found in local checkouts at the same commit, or mapped to another commit.

A checkout matches a repository if git has the named commit, else by its files or its name. The line of a file with
that path is then marked like a line of a text: `FOLLOWED`, `DOUBTFUL`. Branches and tags mean those of the checkout.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.git import Git
from framedex.model import How, Location, Stale
from framedex.path_resolution.files import FoundFile, found_file, is_here
from framedex.recall import Recall
from framedex.regularfile import read_regular
from framedex.releases.addresses import PublicLine

if TYPE_CHECKING:
    from framedex.sources.moving import LineMap

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_BEST_FIRST = (How.EXACT, How.FOLLOWED, How.DOUBTFUL)


class Checkouts:
    """Searches folders that may be checkouts, or inside one. Answers of git are cached."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = tuple(dict.fromkeys(folders))
        self._tops: Recall[str, str] = Recall()
        self._names: Recall[str, frozenset[str]] = Recall()
        self._changes: Recall[tuple[FoundFile, str], _Change] = Recall()

    def find(self, wanted: PublicLine) -> Location | None:
        """Return the most certain line in a local file; None if no checkout has that file."""
        found = [place for file, top in self._files(wanted.path) if (place := self._in(file, top, wanted)) is not None]
        return min(found, key=lambda place: _BEST_FIRST.index(place.how), default=None)

    def _files(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield the files with that path below the top folders of repositories, each with its top folder."""
        seen = set()
        for folder in self._folders:
            for top in filter(None, (folder, self._package_parent(folder, path), self._top(folder))):
                file = f"{top}/{path}"
                if file not in seen and is_here(file):
                    yield file, top
                seen.add(file)

    def _package_parent(self, folder: str, path: str) -> str | None:
        """Return the parent of a source folder that is the first component of the path: `/src/xla/xla`."""
        above, _, name = folder.rpartition("/")
        return above if path.startswith(f"{name}/") else None

    def _in(self, file: str, top: str, wanted: PublicLine) -> Location | None:
        line = wanted.line or 1
        change = self._change(file, wanted.revision)
        is_there = change is not None
        if not (is_there and _COMMIT.fullmatch(wanted.revision)) and not wanted.names & self._names_of(top):
            return None
        return Location(file, line, How.DOUBTFUL) if change is None else change.followed(file, line)

    def _change(self, file: str, revision: str) -> _Change | None:
        """Return the changes of a file since a revision; None if git does not have the revision."""
        found = found_file(file)
        if found is None or not revision:
            return None
        known = self._changes.get((found, revision))
        if known is None and (known := _change(file, revision)) is not None:
            self._changes.keep((found, revision), known, len(file))
        return known

    def _top(self, folder: str) -> str:
        """Return the top folder of the working tree around a folder; empty if there is none."""

        def found() -> str:
            return (Git(Path(folder)).text("rev-parse", "--show-toplevel") or "").removesuffix("\n")

        return self._tops.made(folder, len(folder), found)

    def _names_of(self, top: str) -> frozenset[str]:
        """Return the names of the repository in a folder: from its files, and from its remote."""

        def found() -> frozenset[str]:
            from framedex.releases.roots import component_of
            from framedex.sourcemap import repository_of

            origin = repository_of(Path(top)) or ""
            return frozenset(filter(None, (component_of(Path(top)), origin.rpartition("/")[2].lower())))

        return self._names.made(top, len(top), found)


@dataclass(frozen=True, slots=True)
class _Change:
    """The changes of a file since a revision: `lines` maps old lines to current ones; None if unchanged."""

    lines: LineMap | None

    def followed(self, file: str, line: int) -> Location:
        """Return the current location of an old line."""
        if self.lines is None:
            return Location(file, line, How.EXACT)
        moved = self.lines.forward(line)
        if moved.line == line and not moved.is_gone:
            return Location(file, line, How.FOLLOWED)
        stale = Stale.GONE if moved.is_gone else Stale.MOVED
        return Location(file, moved.line, How.FOLLOWED, stale=stale, moved_from=line)


def _change(file: str, revision: str) -> _Change | None:
    from framedex.sources.history import History
    from framedex.sources.moving import map_lines

    then = History(file).at(revision)
    if then is None:
        return None
    try:
        now = read_regular(Path(file))
    except OSError:
        return None
    return _Change(None if now == then else map_lines(then.decode("utf-8", "replace"), now.decode("utf-8", "replace")))
