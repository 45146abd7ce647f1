"""Lines of public repositories in the checkouts that are here: at that commit, or found again at another one.

A folder is of a repository where git has the commit that is named, else by what it has or is called. Only there is the
line of a file of that path the one that is meant, and it is marked as a text's line is: `FOLLOWED`, `DOUBTFUL`. A
branch or a tag is what the checkout has by that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.git import Git
from framedex.model import How, Location, Stale
from framedex.recall import Recall
from framedex.regularfile import read_regular
from framedex.releases.addresses import PublicLine
from framedex.whereabouts.files import FoundFile, found_file, is_here

if TYPE_CHECKING:
    from framedex.sources.moving import LineMap

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_BEST_FIRST = (How.EXACT, How.FOLLOWED, How.DOUBTFUL)


class Checkouts:
    """Looks into folders that may be checkouts, or in them. Keeps what git has said."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = tuple(dict.fromkeys(folders))
        self._tops: Recall[str, str] = Recall()
        self._names: Recall[str, frozenset[str]] = Recall()
        self._changes: Recall[tuple[FoundFile, str], _Change] = Recall()

    def find(self, wanted: PublicLine) -> Location | None:
        """The line in a file here, of several the one that is known best; None where no checkout has that file."""
        found = [place for file, top in self._files(wanted.path) if (place := self._in(file, top, wanted)) is not None]
        return min(found, key=lambda place: _BEST_FIRST.index(place.how), default=None)

    def _files(self, path: str) -> Iterator[tuple[str, str]]:
        """The files of that path from the tops of repositories, each with its top."""
        seen = set()
        for folder in self._folders:
            for top in filter(None, (folder, self._package_parent(folder, path), self._top(folder))):
                file = f"{top}/{path}"
                if file not in seen and is_here(file):
                    yield file, top
                seen.add(file)

    def _package_parent(self, folder: str, path: str) -> str | None:
        """The folder above a source folder that is the first one of the path: `/src/xla/xla`."""
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
        """What has changed in a file since a revision; None where git has not that."""
        found = found_file(file)
        if found is None or not revision:
            return None
        known = self._changes.get((found, revision))
        if known is None and (known := _change(file, revision)) is not None:
            self._changes.keep((found, revision), known, len(file))
        return known

    def _top(self, folder: str) -> str:
        """The top of the working tree that a folder is in; empty where it is in none."""

        def found() -> str:
            return (Git(Path(folder)).text("rev-parse", "--show-toplevel") or "").removesuffix("\n")

        return self._tops.made(folder, len(folder), found)

    def _names_of(self, top: str) -> frozenset[str]:
        """What the repository in a folder is called: by what it has, and by where it came from."""

        def found() -> frozenset[str]:
            from framedex.releases.roots import component_of
            from framedex.sourcemap import repository_of

            origin = repository_of(Path(top)) or ""
            return frozenset(filter(None, (component_of(Path(top)), origin.rpartition("/")[2].lower())))

        return self._names.made(top, len(top), found)


@dataclass(frozen=True, slots=True)
class _Change:
    """What has changed in a file since a revision: `lines` leads from the lines of then to those of now, None: none."""

    lines: LineMap | None

    def followed(self, file: str, line: int) -> Location:
        """Where a line of then is now."""
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
