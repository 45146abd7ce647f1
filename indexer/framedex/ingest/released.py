"""What the release maps that framedex ships know of recorded functions.

They are asked where no source folder, imported map or debug information knows a function, and read in place: the index
gets the places that were found, and which maps those are in.
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
from framedex.releasemaps import ReleaseMap, ReleaseMaps, open_release_maps
from framedex.releasemaps.combined import Asked, CombinedMaps
from framedex.releasemaps.reader import SHIPPED
from framedex.releases import BinaryOrigin, is_named_by_xla
from framedex.sourcemap import SourceMapError
from framedex.sources.matching import Candidate

_Answer = TypeVar("_Answer")

_OF_JAXLIB = ("xla", "jaxlib")  # the components that the libraries of jaxlib and of its plug-ins consist of
_OF_OTHERS = ("xla",)
_COMPILED = (".c", ".cc", ".cpp", ".cxx", ".cu")


def owe_to_release_maps(tables: SourceTables, path: Path | None = None) -> None:
    """Owe a look-up to the functions that nothing else places, where the maps are not those of the last look-up.

    Call it in a transaction. Where they cannot be read, what was found in them before stays.
    """
    path = path or SHIPPED
    try:
        status = path.stat()
        state = f"{status.st_size} {status.st_mtime_ns}"
        known = tables.state_of_release_maps()
        if state != known:
            if known is not None:  # else there is nothing to lose
                open_release_maps(path)
            tables.owe_to_release_maps(state)
    except (OSError, SourceMapError):
        return


class Released:
    """The release maps, and what recorded functions may be in them. They are opened for the first that may.

    `problems` are what is wrong with the maps, as sentences: indexing goes on without.
    """

    def __init__(self, tables: SourceTables, path: Path | None = None) -> None:
        self.problems: list[str] = []
        self._tables, self._path = tables, path or SHIPPED
        self._maps = cache(self._open)
        self._sources = cache(self._of)

    def sources_of(self, function: FunctionRecord) -> BinarySources | None:
        """The sources that a native function may be in; None where it is neither jaxlib's nor named as XLA's are."""
        if not function.symbol or not (function.origin.is_known or is_named_by_xla(function.symbol)):
            return None
        return self._sources(function.origin)

    def asked(self, ask: Callable[[], _Answer]) -> _Answer | None:
        """What the maps answer; None where they are damaged, which is noted."""
        try:
            return ask()
        except SourceMapError as error:
            if (problem := f"{error.message} {error.remedy}") not in self.problems:
                self.problems.append(problem)
            return None

    def _open(self) -> ReleaseMaps | None:
        return self.asked(partial(open_release_maps, self._path))

    def _of(self, origin: BinaryOrigin) -> BinarySources | None:
        opened = self._maps()
        if opened is None:
            return None
        revisions = self._tables.revisions()
        maps = []
        for component in _OF_JAXLIB if origin.is_known else _OF_OTHERS:
            found = self.asked(partial(opened.nearest, component, origin.release or opened.releases[-1]))
            if found is not None:
                build = component, origin.release
                is_unknown = (*build, "") in revisions  # which a version such as 0.4.13+cuda12 leaves it
                is_same = (*build, found.info.commit) in revisions or (is_unknown and not found.is_nearest)
                maps.append((replace(found.info, is_nearest=not (origin.is_known and is_same)), found))
        return BinarySources(maps, origin, self.asked) if maps else None


class BinarySources(CombinedMaps):
    """The sources that a binary was built from, or the nearest to them, in release maps. Asked as source trees are."""

    def __init__(self, maps: Sequence[tuple[SourceMapInfo, ReleaseMap]], origin: BinaryOrigin, asked: Asked) -> None:
        super().__init__(maps, asked)
        self._origin = origin

    def definitions_for(self, function: FunctionRecord, key: tuple[str, ...]) -> list[Candidate]:
        """The C++ definitions that a function with this key may have.

        Of a binary of others only a function's name says that it is XLA's: what was compiled in another translation
        unit than XLA has it in is something else of that name.
        """
        found = self.definitions(function.short_name, "cpp", key)
        if self._origin.is_known or not function.unit.endswith(_COMPILED):
            return found
        return [each for each in found if not each[0].endswith(_COMPILED) or _file_name(each[0]) == function.unit]


def _file_name(path: str) -> str:
    return PurePosixPath(path).name
