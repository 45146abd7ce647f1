"""The order in which the meanings of a path are tried: the rules of the settings, the path itself, the ends of paths.

docs/explanation/sources.md says it for users. Two ask: who reads a text (`Whereabouts`), and who indexes recordings
(`find_here`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from framedex.model.places import is_local, path_in_repository  # without the rows: `framedex open` waits for this
from framedex.recall import Recall
from framedex.whereabouts.files import is_here
from framedex.whereabouts.moves import Moves
from framedex.whereabouts.rules import BUILD_FOLDER, PathMap, PathRule
from framedex.whereabouts.tails import TreeFiles, files_below

if TYPE_CHECKING:
    from framedex.model import SourceRoot

_MOST_FILES = 16


class KnownNames(Protocol):
    """What an index knows of names."""

    def files_named(self, name: str) -> Sequence[str]:
        """The files of this name, in any folder: real paths, and those of source maps."""

    def files_of_frozen(self, module: str) -> Sequence[str]:
        """The files from which recorded interpreters have a module built in: `<frozen importlib._bootstrap>`."""

    def files_of_cell(self, recorded: str) -> Sequence[str]:
        """The files with the text of the notebook's cell that code objects call this: `/tmp/ipykernel_71/38.py`."""


class KnownSources(Protocol):
    """What an index knows of source trees."""

    def roots(self) -> Sequence[SourceRoot]:
        """The source folders."""

    def former_places(self) -> Moves:
        """What lies where the project was before it was moved is where it is now."""


class KnownFiles(Protocol):
    """An index, as far as it knows files."""

    @property
    def names(self) -> KnownNames:
        """What it knows of names."""

    @property
    def sources(self) -> KnownSources:
        """What it knows of source trees."""


class Whereabouts:
    """Finds the files here that paths in texts mean.

    `rules` and `sources` are the path-map and the source folders of the settings, `folders` those in which relative
    paths may begin. Without an `index` only its files and source folders are not known.
    """

    def __init__(
        self,
        rules: Iterable[PathRule] = (),
        sources: Iterable[Path] = (),
        folders: Sequence[Path] = (),
        index: KnownFiles | None = None,
    ) -> None:
        self.rules = PathMap(rules)
        self._sources = sources
        self._folders = folders
        self._index = index
        self._found: Recall[tuple[str, bool], tuple[str, ...]] = Recall()

    def files(self, name: str, *, is_shortened: bool = False) -> tuple[str, ...]:
        """The files that a path may mean: several where it says too little, of source maps where none is here.

        `is_shortened`: it is but the end of a path, so that a file there is one of those that it fits.
        """

        def found() -> tuple[str, ...]:
            written = dict.fromkeys((name, name.strip()))  # blanks around a path are rarely of its name
            return tuple(next(filter(None, (self._look_for(each, is_shortened) for each in written)), ()))[:_MOST_FILES]

        return self._found.made((name, is_shortened), len(name), found)

    def itself(self, name: str) -> str | None:
        """The file that a path means by a rule, or that is at the path; None where it would have to be looked for."""
        return self.rules.there(name) or self._literally(name)

    def alike(self, name: str) -> Sequence[str]:
        """The files here that the index knows and that share the end of a path equally, and more than its name."""
        return TreeFiles(filter(is_here, self._of_that_name(name))).alike(name)[:_MOST_FILES]

    @cached_property
    def source_folders(self) -> Sequence[str]:
        """The source folders of the settings and of the index: real paths."""
        roots = [root.path for root in self._index.sources.roots()] if self._index is not None else []
        return list(dict.fromkeys(map(os.path.realpath, (*map(str, self._sources), *roots))))

    @cached_property
    def _former_places(self) -> Moves:
        return self._index.sources.former_places() if self._index is not None else Moves()

    def _look_for(self, name: str, is_shortened: bool) -> Sequence[str]:
        if "\0" in name:
            return ()
        if cells := self._index.names.files_of_cell(name) if self._index is not None else ():
            return list(filter(is_here, cells))
        if name.startswith("<"):
            found = self._index.names.files_of_frozen(name) if self._index is not None else ()
            return found if len(found) == 1 and is_here(found[0]) else ()
        if by_rule := self.rules.there(name):
            return (by_rule,)
        literal = self._literally(name)
        if literal and not is_shortened:
            return (literal,)
        if not literal and is_here(moved := self._former_places.now(name)):
            return (moved,)
        named = self._of_that_name(name)
        here = [path for path in named if is_here(path)]
        name = path_in_repository(name)  # a source map's own path: the file may be here meanwhile
        known = _fitting(name, {path: path for path in here})
        if literal or len(known) > 1:
            # The end of several paths: whatever else has it, in a folder or a tree, may be meant as well.
            below = self._below(name) if "/" in name else ()
            return list(dict.fromkeys((*([literal] if literal else ()), *known, *below)))
        if known:
            return known
        if found := self._below(name):
            return _with_equals(name, found, here)
        # What stands before the colon is the source map, and no folder of the file's.
        return _fitting(name, {path.replace(":", ":/", 1): path for path in named if not is_local(path)})

    def _literally(self, name: str) -> str | None:
        """The file at a path, which may begin in one of the folders, or in a home folder (IPython abbreviates it)."""
        if name.startswith("~") and "\0" not in name:
            name = os.path.expanduser(name)  # noqa: PTH111 - paths of texts may be no valid Path
        for folder in ("/",) if name.startswith("/") else self._folders:
            path = os.path.join(folder, name)  # noqa: PTH118 - as above
            if is_here(path):
                return os.path.realpath(path)
        return None

    def _of_that_name(self, path: str) -> Sequence[str]:
        return self._index.names.files_named(path.rpartition("/")[2]) if self._index is not None else ()

    def _below(self, name: str) -> Sequence[str]:
        return files_below(name, self.source_folders)


@dataclass(frozen=True, slots=True)
class Here:
    """The file (real path) that a recorded path means here; `by_rule` where a rule of the settings says so."""

    path: str
    by_rule: bool


def find_here(recorded: str, rules: PathMap, files: TreeFiles) -> Here | None:
    """The file here that is meant by a path which was recorded elsewhere; None where it is the path itself, or none.

    Without a rule for it, it is the file of the source trees with the longest common tail, if only one has it.
    """
    if path := rules.there(recorded):
        return Here(path, by_rule=True)
    if is_here(recorded):
        return None
    path = files.same_file(recorded.removeprefix(f"{BUILD_FOLDER}/"))
    return Here(path, by_rule=False) if path else None


def _fitting(name: str, files: Mapping[str, str]) -> Sequence[str]:
    """The files, by the paths that they go by, which a name in a text may mean."""
    known = TreeFiles(files)
    same = known.same_file(name)
    # A file name alone, as py-spy prints it, fits several, and so may the end of a path; where more of it was printed
    # than files have in common, that proves nothing.
    found = (same,) if same is not None else known.ending_in(name)
    return tuple(files[path] for path in found)


def _with_equals(name: str, found: Sequence[str], paths: Sequence[str]) -> Sequence[str]:
    """The files that were found for a path, and those of other trees whose ends it shares no less."""
    alike = TreeFiles({*found, *paths}).alike(name)
    return list(dict.fromkeys((*found, *alike))) if set(found).intersection(alike) else found
