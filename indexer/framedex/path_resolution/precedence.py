"""The order in which the meanings of a path are tried: path-map rules, the path itself, common path ends.

docs/explanation/sources.md describes it for users. `PathResolver` resolves paths in texts, `find_local_file`
those of recordings.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from framedex.base.lazy import TextCache
from framedex.model.locations import is_local, path_in_repository  # not `framedex.model`: a slow import
from framedex.path_resolution.files import BUILD_FOLDER, PathMap, PathRule, file_exists
from framedex.path_resolution.moved_files import FolderMoves, TreeFiles, find_files_below

if TYPE_CHECKING:
    from framedex.model import SourceRoot

_MAX_FILES = 16


class KnownNames(Protocol):
    """Look-ups of an index's files by name."""

    def files_named(self, name: str) -> Sequence[str]:
        """Return the files of this name, in any folder: real paths, and source map paths."""

    def files_of_frozen_module(self, module: str) -> Sequence[str]:
        """Return the files of a module that recorded interpreters have built in: `<frozen importlib._bootstrap>`."""

    def files_of_cell(self, recorded: str) -> Sequence[str]:
        """Return the files with the text of the notebook cell that code objects name `/tmp/ipykernel_71/38.py`."""


class KnownSources(Protocol):
    """The source trees of an index."""

    def roots(self) -> Sequence[SourceRoot]:
        """Return the source folders."""

    def read_project_moves(self) -> FolderMoves:
        """Return the moves of the project since the index was created."""


class KnownFiles(Protocol):
    """The files and source trees of an index."""

    @property
    def names(self) -> KnownNames:
        """The look-ups of files by name."""

    @property
    def sources(self) -> KnownSources:
        """The source trees."""


class PathResolver:
    """Resolves paths in texts to local files.

    `rules` and `sources` are the path-map and the source folders of the settings. `folders` are bases of relative
    paths. Without an `index`, its files and source folders are unknown.
    """

    def __init__(
        self,
        rules: Iterable[PathRule] = (),
        sources: Iterable[Path] = (),
        folders: Sequence[Path] = (),
        index: KnownFiles | None = None,
    ) -> None:
        self._sources = sources
        self._folders = folders
        self._index = index
        rules = tuple(rules)
        self.rules = PathMap(rules, self.source_folders if any(rule.is_outside for rule in rules) else ())
        self._found: TextCache[tuple[str, bool], tuple[str, ...]] = TextCache()

    def files(self, name: str, *, is_shortened: bool = False) -> tuple[str, ...]:
        """Return the possible files of a path: several if it is ambiguous.

        Files of source maps are returned only if no local file matches. `is_shortened`: the path may be only the end of
        a path, so a file at it is one candidate among others.
        """

        def found() -> tuple[str, ...]:
            written = dict.fromkeys((name, name.strip()))  # spaces around a path are rarely part of it
            return tuple(next(filter(None, (self._find_files(each, is_shortened) for each in written)), ()))[
                :_MAX_FILES
            ]

        return self._found.get_or_make((name, is_shortened), len(name), found)

    def find_directly(self, name: str) -> str | None:
        """Return the file of a path by a rule or at the path itself, without a search; None if neither exists."""
        return self.rules.apply(name) or self._find_literal(name)

    def files_with_equal_tails(self, name: str) -> Sequence[str]:
        """Return the indexed local files that share an equally long end of a path, longer than the name."""
        return TreeFiles(filter(file_exists, self._files_named(name))).files_with_equal_tails(name)[:_MAX_FILES]

    @cached_property
    def source_folders(self) -> Sequence[str]:
        """The source folders of the settings and of the index, as real paths."""
        roots = [root.path for root in self._index.sources.roots()] if self._index is not None else []
        return list(dict.fromkeys(map(os.path.realpath, (*map(str, self._sources), *roots))))

    @cached_property
    def _former_paths(self) -> FolderMoves:
        return self._index.sources.read_project_moves() if self._index is not None else FolderMoves()

    def _find_files(self, name: str, is_shortened: bool) -> Sequence[str]:
        if "\0" in name:
            return ()
        if cells := self._index.names.files_of_cell(name) if self._index is not None else ():
            return list(filter(file_exists, cells))
        if name.startswith("<"):
            found = self._index.names.files_of_frozen_module(name) if self._index is not None else ()
            return found if len(found) == 1 and file_exists(found[0]) else ()
        if by_rule := self.rules.apply(name):
            return (by_rule,)
        literal = self._find_literal(name)
        if literal and not is_shortened:
            return (literal,)
        if not literal and file_exists(moved := self._former_paths.current_path(name)):
            return (moved,)
        named = self._files_named(name)
        here = [path for path in named if file_exists(path)]
        name = path_in_repository(name)  # a source map path: the file may be local by now
        known = _match_names(name, {path: path for path in here})
        if literal or len(known) > 1:
            # `name` is only the end of a path, so other files whose paths end with it are candidates too.
            below = self._find_below(name) if "/" in name else ()
            return list(dict.fromkeys((*([literal] if literal else ()), *known, *below)))
        if known:
            return known
        if found := self._find_below(name):
            return _add_equal_files(name, found, here)
        # The part before the colon is the source map, not a folder.
        return _match_names(name, {path.replace(":", ":/", 1): path for path in named if not is_local(path)})

    def _find_literal(self, name: str) -> str | None:
        """Return the file at a path, relative to one of the folders, or to a home folder (IPython abbreviates it)."""
        if name.startswith("~") and "\0" not in name:
            name = os.path.expanduser(name)  # noqa: PTH111 - paths of texts are not always valid Paths
        for folder in ("/",) if name.startswith("/") else self._folders:
            path = os.path.join(folder, name)  # noqa: PTH118 - as above
            if file_exists(path):
                return os.path.realpath(path)
        return None

    def _files_named(self, path: str) -> Sequence[str]:
        return self._index.names.files_named(path.rpartition("/")[2]) if self._index is not None else ()

    def _find_below(self, name: str) -> Sequence[str]:
        return find_files_below(name, self.source_folders)


@dataclass(frozen=True, slots=True)
class LocalFile:
    """The local file (real path) of a recorded path; `is_by_rule`: found by a rule of the settings."""

    path: str
    is_by_rule: bool


def find_local_file(recorded: str, rules: PathMap, files: TreeFiles) -> LocalFile | None:
    """Return the local file of a path recorded elsewhere; None if the path itself exists, or nothing matches.

    Without a rule, it is the file in the source trees with the longest common tail, if it is unique.
    """
    if path := rules.apply(recorded):
        return LocalFile(path, is_by_rule=True)
    if file_exists(recorded):
        return None
    path = files.find_unique_file(recorded.removeprefix(f"{BUILD_FOLDER}/"))
    return LocalFile(path, is_by_rule=False) if path else None


def _match_names(name: str, files: Mapping[str, str]) -> Sequence[str]:
    """Return the files that a name in a text may mean. `files` maps the paths used for matching to the files."""
    known = TreeFiles(files)
    same = known.find_unique_file(name)
    # A bare file name (py-spy prints those) or the end of a path may fit several files. A printed path that no file's
    # path ends with proves nothing.
    found = (same,) if same is not None else known.files_ending_in(name)
    return tuple(files[path] for path in found)


def _add_equal_files(name: str, found: Sequence[str], paths: Sequence[str]) -> Sequence[str]:
    """Return the files found for a path, and files of other trees that share an equally long end."""
    alike = TreeFiles({*found, *paths}).files_with_equal_tails(name)
    return list(dict.fromkeys((*found, *alike))) if set(found).intersection(alike) else found
