"""Look up recorded functions in the release maps that framedex ships.

The maps are used for functions that no source folder, imported map or debug information has. They are read in place:
the index stores only the locations, and the names of their maps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import TypeVar

from framedex.index.write.records import FunctionRecord
from framedex.index.write.sources import SourceTables
from framedex.model import SourceMapInfo
from framedex.sources.matching import Candidate
from framedex.sources.release_maps import ReleaseMap, ReleaseMaps, open_release_maps
from framedex.sources.release_maps.reader import CombinedMaps, MapQuery, find_release_maps
from framedex.sources.releases import BinaryOrigin, is_named_by_xla
from framedex.sources.source_map import SourceMapError

_Answer = TypeVar("_Answer")

_JAXLIB_COMPONENTS = ("xla", "jaxlib")  # the components of the libraries of jaxlib and of its plug-ins
_OTHER_COMPONENTS = ("xla",)
_COMPILED_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".cu")


def mark_stale_for_release_maps(tables: SourceTables, path: Path | None = None) -> None:
    """Mark the functions without another location for a lookup if the maps have changed since the last lookup.

    Call it in a transaction. If the maps cannot be read, the stored locations stay.
    """
    path = path or find_release_maps()
    try:
        status = path.stat()
        state = f"{status.st_size} {status.st_mtime_ns}"
        known = tables.read_release_maps_state()
        if state != known:
            if known is not None:  # otherwise the index has no locations from release maps
                open_release_maps(path)
            tables.mark_stale_for_release_maps(state)
    except (OSError, SourceMapError):
        return


class ReleasedFunctions:
    """The release maps as sources of recorded functions. They are opened for the first function that may be in them.

    `problems` are the errors of the maps, as sentences. Indexing continues without them.
    """

    def __init__(self, tables: SourceTables, path: Path | None = None) -> None:
        self.problems: list[str] = []
        self._tables, self._path = tables, path or find_release_maps()
        self._maps = cache(self._open)
        self._sources = cache(self._open_sources)

    def find_sources(self, function: FunctionRecord) -> BinarySources | None:
        """Return the possible sources of a native function; None if it is neither jaxlib's nor named like XLA's."""
        if not function.symbol or not (function.origin.is_known or is_named_by_xla(function.symbol)):
            return None
        return self._sources(function.origin)

    def run_query(self, query: Callable[[], _Answer]) -> _Answer | None:
        """Return the result of a query of the maps; None if they are damaged, which is stored in `problems`."""
        try:
            return query()
        except SourceMapError as error:
            if (problem := f"{error.message} {error.remedy}") not in self.problems:
                self.problems.append(problem)
            return None

    def _open(self) -> ReleaseMaps | None:
        return self.run_query(partial(open_release_maps, self._path))

    def _open_sources(self, origin: BinaryOrigin) -> BinarySources | None:
        opened = self._maps()
        if opened is None:
            return None
        revisions = self._tables.revisions()
        maps = []
        for component in _JAXLIB_COMPONENTS if origin.is_known else _OTHER_COMPONENTS:
            found = self.run_query(partial(opened.nearest, component, origin.release or opened.releases[-1]))
            if found is not None:
                build = component, origin.release
                is_unknown = (*build, "") in revisions  # the commit of 0.4.13+cuda12 is unknown
                is_same = (*build, found.info.commit) in revisions or (is_unknown and not found.is_nearest)
                maps.append((replace(found.info, is_nearest=not (origin.is_known and is_same)), found))
        return BinarySources(maps, origin, self.run_query) if maps else None


class BinarySources(CombinedMaps):
    """The sources of a binary in release maps, or the nearest ones, with the same queries as source trees."""

    def __init__(
        self, maps: Sequence[tuple[SourceMapInfo, ReleaseMap]], origin: BinaryOrigin, run_query: MapQuery
    ) -> None:
        super().__init__(maps, run_query, is_release_known=origin.is_known)
        self._origin = origin

    def definitions_for(self, function: FunctionRecord, key: tuple[str, ...]) -> list[Candidate]:
        """Return the possible C++ definitions of a function with this key.

        In a third-party binary, only the name of a function relates it to XLA. If its translation unit differs from the
        unit in XLA, it is another function with that name.
        """
        found = self.definitions(function.short_name, "cpp", key)
        if self._origin.is_known or not function.unit.endswith(_COMPILED_SUFFIXES):
            return found
        return [
            each for each in found if not each[0].endswith(_COMPILED_SUFFIXES) or _file_name(each[0]) == function.unit
        ]


def _file_name(path: str) -> str:
    return PurePosixPath(path).name
