"""Read release maps in place: an index finds the files of a query, and only those files are parsed.

Nothing in the file is trusted: any deviation from docs/reference/source-maps.md raises SourceMapError when it is found.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from operator import getitem
from pathlib import Path
from typing import Protocol, TypeVar

from framedex.base.folders import user_folder
from framedex.base.regularfile import open_regular
from framedex.model import Definition, ExtractedFile, SourceMapInfo
from framedex.model.locations import map_prefix
from framedex.sources.bodies import FunctionBodies
from framedex.sources.calls import Span, WrittenCall, WrittenCalls
from framedex.sources.matching import Candidate
from framedex.sources.release_maps.format import (
    FORMAT_VERSION,
    LANGUAGES,
    MAX_FILE_BYTES,
    MapComponent,
    MapContent,
    NameIndex,
    NotReleaseMapError,
    read_content,
)
from framedex.sources.release_maps.versions import FileVersions
from framedex.sources.releases import list_known_releases
from framedex.sources.source_map import MalformedError, SourceMapError, is_path_in_repository

SHIPPED = Path(__file__).with_name("releases.fdmaps")

_MAX_CACHED_FILES = 512  # parsed files to cache
_REMEDY = "Install framedex again. Until then, frames have no links from release maps."
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def downloaded_maps_path() -> Path | None:
    """The file of release maps that `framedex sources fetch --maps` writes; None without a cache folder."""
    cache = user_folder("XDG_CACHE_HOME")
    return cache / "framedex" / "releasemaps" / SHIPPED.name if cache is not None else None


def find_release_maps() -> Path:
    """The downloaded release maps if they have every shipped release of jaxlib and more, otherwise the shipped ones."""
    downloaded = downloaded_maps_path()
    if downloaded is None or not downloaded.is_file():
        return SHIPPED
    try:
        found, shipped = (
            {*remove_development_versions(open_release_maps(path).releases)} for path in (downloaded, SHIPPED)
        )
    except SourceMapError:  # an earlier framedex downloaded them in another version of the format
        return SHIPPED
    return downloaded if found > shipped else SHIPPED


def remove_development_versions(releases: Iterable[str]) -> list[str]:
    """The releases without builds of JAX's main branch (`0.11.2.dev20260821+3a32b561e`)."""
    return [each for each in releases if ".dev" not in each]


def open_release_maps(path: Path | None = None) -> ReleaseMaps:
    """The release maps of a file, by default of `find_release_maps`.

    Raises SourceMapError if they are unreadable or damaged, as does each method of the returned object.
    """
    path = path or find_release_maps()
    with _converting_errors(path):
        with open_regular(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise MalformedError("it is too large")
        return ReleaseMaps(_OpenFile(path, read_content(data)))


class ReleaseMaps:
    """The maps of all releases. `releases` are the versions of jaxlib, oldest first."""

    def __init__(self, opened: _OpenFile) -> None:
        self._opened = opened
        self.releases = opened.content.releases
        self._known = sorted({*list_known_releases(), *self.releases}, key=_parse_version_numbers)

    def may_define(self, short_name: str) -> bool:
        """Whether a map may define this short name. If false, no file needs to be parsed."""
        return self._opened.names.may_define(short_name)

    def nearest(self, component: str, version: str) -> ReleaseMap | None:
        """The map of a component (`xla`, `jaxlib`) in a release of jaxlib, else in the nearest release.

        The nearest release has the fewest other releases in between. If two are equally near, the newer one counts.
        None for an unknown component. `0.4.13+cuda12.cudnn89` is built from the same sources as `0.4.13`.
        """
        found = self._opened.content.components.get(component)
        if found is None:
            return None
        place = self._release_position(version)
        _, release, info = min(
            (abs(self._release_position(self.releases[number]) - place), -number, info)
            for number, info in enumerate(found.infos)
            if info is not None
        )
        if self.releases[-release] in (version, version.partition("+")[0]):
            return ReleaseMap(self._opened, info, -release, is_nearest=False)
        return ReleaseMap(
            self._opened,
            info,
            -release,
            is_nearest=True,
            opposite_release=self._find_opposite_release(found, version, -release),
        )

    def _find_opposite_release(self, component: MapComponent, version: str, nearest: int) -> int | None:
        """The number of the release on the other side of an unknown version; None if it is the newest or the oldest."""
        numbers = [number for number, info in enumerate(component.infos) if info is not None]
        is_later = [_build_version_order(self.releases[number]) > _build_version_order(version) for number in numbers]
        others = [
            n for n, later in zip(numbers, is_later, strict=True) if later is not is_later[numbers.index(nearest)]
        ]
        return min(others, key=lambda number: abs(number - nearest), default=None)

    def _release_position(self, version: str) -> int:
        """The position of a version among the known releases of jaxlib, at which an unknown one would be inserted."""
        return bisect_left(self._known, _parse_version_numbers(version), key=_parse_version_numbers)


class ReleaseMap:
    """The definitions and calls of a component's sources in a release, without the text.

    `info` has its commit, `release` the version of jaxlib. `is_nearest`: it is not the requested release. Paths are
    relative to the repository. A language is `cpp`, `protobuf` or `tablegen`.

    `opposite_release` is the number of the release on the other side of the requested one; None if there is none.
    """

    def __init__(
        self,
        opened: _OpenFile,
        info: SourceMapInfo,
        release: int,
        *,
        is_nearest: bool,
        opposite_release: int | None = None,
    ) -> None:
        self.info = info
        self._opposite_release = opposite_release
        self.release = opened.content.releases[release]
        self.is_nearest = is_nearest
        self._opened, self._release = opened, release
        self._component = opened.content.components[info.component]

    def definitions(
        self, short_name: str, key: tuple[str, ...] = (), language: str = "cpp"
    ) -> list[tuple[str, Definition]]:
        """The definitions that `match_symbol` could choose for a symbol, without their calls, in order of path.

        `short_name` and `key` (`key_of`) are the symbol's own. Without a key, all definitions of the short name are
        returned.
        """
        with self._opened.converting_errors():
            return [
                (self._path(number), definition)
                for number in self._find_files(short_name, key, language)
                for definition in self._opened.versions(number).definitions(self._release, short_name)
            ]

    def is_unchanged(self, path: str, definition: Definition) -> bool:
        """Whether the releases on both sides of the requested one have this definition, on the same lines."""
        with self._opened.converting_errors():
            number = self._file_number(path)
            if number is None or self._opposite_release is None:
                return False
            lines = definition.line, definition.end_line
            return self._opened.versions(number).has_same_definition(self._release, self._opposite_release, lines)

    def calls_in_bodies(self, short_name: str, is_member: bool, limit: int, longest: int) -> list[Counter[str]]:
        """The names called by each C++ function, method and macro of a short name, with their counts.

        The counts are empty for a body of more than `longest` lines. Empty if more than `limit` definitions match.
        `is_member` excludes functions outside classes.
        """
        with self._opened.converting_errors():
            files = self._file_numbers(self._opened.names.files_with_bodies(short_name, self._release), "cpp")
            if len(files) > limit:
                return []
            versions = map(self._opened.versions, files)
            found = [each for version in versions for each in version.bodies(self._release, short_name, is_member)]
            if len(found) > limit:
                return []
            return [calls if length <= longest else Counter() for length, calls in found]

    def calls_in_file(self, path: str) -> Mapping[Span, Sequence[WrittenCall]]:
        """The calls of a file by function and lambda, read on demand; empty if the file is missing."""
        with self._opened.converting_errors():
            number = self._file_number(path)
            if number is None:
                return {}
            versions = self._opened.versions(number)
            return WrittenCalls(versions.functions_with_calls(self._release), partial(self._read_calls, versions))

    def _read_calls(self, versions: FileVersions, definition: tuple[int, int]) -> Sequence[WrittenCall]:
        with self._opened.converting_errors():
            return list(versions.calls(*definition))

    def file(self, path: str, line_ranges: Collection[tuple[int, int]] | None = None) -> ExtractedFile:
        """A file with its definitions and their calls; with `line_ranges`, only the definitions inside them.

        Time, size, hash and columns are 0. Raises SourceMapError if the file is missing.
        """
        with self._opened.converting_errors():
            number = self._file_number(path)
            if number is None:
                raise MalformedError(f"{path} is missing")
            language = LANGUAGES[self._opened.content.languages[number]]
            rows = self._opened.versions(number).rows(self._release, line_ranges)
            return ExtractedFile(path, language, 0, 0, 0, 0, tuple(rows), ())

    def paths(self) -> list[str]:
        """All files of the release."""
        with self._opened.converting_errors():
            numbers = range(self._component.first, self._component.end)
            return [self._path(number) for number in numbers if self._opened.versions(number).exists_in(self._release)]

    def paths_named(self, name: str) -> list[str]:
        """The files of the release with this name, in any folder."""
        paths, versions = self._opened.content.paths, self._opened.versions
        with self._opened.converting_errors():
            named = [n for n in range(self._component.first, self._component.end) if _build_file_name(paths[n]) == name]
            return [self._path(number) for number in named if versions(number).exists_in(self._release)]

    def _find_files(self, short_name: str, key: tuple[str, ...], language: str) -> list[int]:
        return self._file_numbers(self._opened.names.files(short_name, key, self._release), language)

    def _file_numbers(self, numbers: list[int], language: str) -> list[int]:
        """The numbers of files of this component and language."""
        languages = self._opened.content.languages
        wanted = range(self._component.first, self._component.end)
        return [number for number in numbers if number in wanted and LANGUAGES[languages[number]] == language]

    def _file_number(self, path: str) -> int | None:
        paths, end = self._opened.content.paths, self._component.end
        number = bisect_left(paths, path, self._component.first, end)
        is_there = number < end and paths[number] == path and self._opened.versions(number).exists_in(self._release)
        return number if is_there else None

    def _path(self, number: int) -> str:
        path = self._opened.content.paths[number]
        if not is_path_in_repository(path):
            raise MalformedError("a path leads out of the repository")
        return path


class _OpenFile:
    """An opened file of release maps."""

    def __init__(self, path: Path, content: MapContent) -> None:
        self.content = content
        self.names = NameIndex(content.names)
        self.versions = lru_cache(_MAX_CACHED_FILES)(lambda number: FileVersions(content.file(number)))
        self._path = path

    def converting_errors(self) -> AbstractContextManager[None]:
        """Convert errors in the file's content to SourceMapError."""
        return _converting_errors(self._path)


@contextmanager
def _converting_errors(path: Path) -> Iterator[None]:
    """Convert errors in the file to SourceMapError."""
    try:
        yield
    except OSError as error:
        problem = error.strerror or error
        raise SourceMapError(f"The release maps {path} cannot be read: {problem}.", _REMEDY) from error
    except NotReleaseMapError as error:
        version = str(error)
        problem = (
            f"are of version {version}, this framedex reads version {FORMAT_VERSION}"
            if version
            else "have an unknown format"
        )
        raise SourceMapError(f"The release maps {path} {problem}.", _REMEDY) from error
    except (MalformedError, IndexError, ValueError, RecursionError, zlib.error) as error:
        raise SourceMapError(f"The release maps {path} are damaged: {error}.", _REMEDY) from error


def _build_file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _build_version_order(version: str) -> tuple[tuple[int, ...], bool]:
    """The sort key of a version: a development version precedes its release."""
    return _parse_version_numbers(version), ".dev" not in version


def _parse_version_numbers(version: str) -> tuple[int, ...]:
    match = _NUMBERS.match(version)
    return tuple(int(part[:9]) for part in match[0].split(".")) if match else ()


_Answer = TypeVar("_Answer")


class MapQuery(Protocol):
    """Runs a query on maps; returns None if they are damaged."""

    def __call__(self, query: Callable[[], _Answer]) -> _Answer | None:
        """The result of the query; None if the maps are damaged."""


class CombinedMaps:
    """Several maps, each with its local information. A prefix of each path identifies the path's map."""

    def __init__(
        self, maps: Sequence[tuple[SourceMapInfo, ReleaseMap]], run_query: MapQuery, *, is_release_known: bool
    ) -> None:
        """With `is_release_known`, the nearest maps are those of a known release of jaxlib, not of another binary."""
        self._maps, self._query_maps, self._is_release_known = maps, run_query, is_release_known
        self._by_prefix = {info.prefix: (info, source_map) for info, source_map in maps}
        for info, source_map in maps:
            if info.is_nearest:
                unchanged = replace(info, is_unchanged=True)
                self._by_prefix[unchanged.prefix] = unchanged, source_map

    def definitions(self, short_name: str, language: str, key: tuple[str, ...] = ()) -> list[Candidate]:
        """The definitions with this short name in a language; with a symbol's key, only those that may match it."""
        return [
            (self._map_prefix(info, source_map, path, definition) + path, definition)
            for info, source_map in self._maps
            for path, definition in self._query_maps(partial(source_map.definitions, short_name, key, language)) or ()
        ]

    def _map_prefix(self, info: SourceMapInfo, source_map: ReleaseMap, path: str, definition: Definition) -> str:
        """The prefix of a definition's path, which shows whether its line is the same in both neighbouring releases."""
        if not info.is_nearest or not self._is_release_known:
            return info.prefix
        is_unchanged = self._query_maps(partial(source_map.is_unchanged, path, definition))
        return replace(info, is_unchanged=bool(is_unchanged)).prefix

    def files_named(self, name: str) -> Sequence[str]:
        """The files with this name, in any folder."""
        return [
            info.prefix + path
            for info, source_map in self._maps
            for path in self._query_maps(partial(source_map.paths_named, name)) or ()
        ]

    def bodies(self) -> FunctionBodies:
        """The calls in these sources."""
        return FunctionBodies(lambda _: (), self._calls_of_file, self._calls_in_bodies)

    def maps_containing(self, paths: Iterable[str]) -> list[tuple[SourceMapInfo, str]]:
        """The maps that contain these files, each with its release."""
        prefixes = set(map(map_prefix, paths))
        found = [self._by_prefix[prefix] for prefix in sorted(prefixes & self._by_prefix.keys())]
        return [(info, source_map.release) for info, source_map in found]

    def _calls_of_file(self, path: str) -> Mapping[Span, Sequence[WrittenCall]]:
        """The calls of a file by function."""
        prefix = map_prefix(path)
        _, source_map = self._by_prefix[prefix]
        found = self._query_maps(partial(source_map.calls_in_file, path.removeprefix(prefix))) or {}
        return WrittenCalls(
            {span: span for span in found}, lambda span: self._query_maps(partial(getitem, found, span)) or ()
        )

    def _calls_in_bodies(self, short_name: str, is_member: bool, limit: int, longest: int) -> list[Counter[str]]:
        """The names called by each C++ function of a short name; see `FunctionBodies`."""
        found = [
            calls
            for _, source_map in self._maps
            for calls in self._query_maps(partial(source_map.calls_in_bodies, short_name, is_member, limit, longest))
            or ()
        ]
        return found if len(found) <= limit else []
