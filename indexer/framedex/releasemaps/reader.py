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
from functools import lru_cache, partial
from operator import getitem
from pathlib import Path
from typing import Protocol, TypeVar

from framedex.model import Definition, ExtractedFile, SourceMapInfo
from framedex.model.locations import map_prefix
from framedex.regularfile import open_regular
from framedex.releasemaps.format import (
    FORMAT_VERSION,
    LANGUAGES,
    MAX_FILE_BYTES,
    Content,
    ForeignError,
    NameIndex,
    read_content,
)
from framedex.releasemaps.versions import FileVersions
from framedex.releases import known_releases
from framedex.sourcemap import MalformedError, SourceMapError, is_inside
from framedex.sources.bodies import Bodies
from framedex.sources.calls import Span, WrittenCall, WrittenCalls
from framedex.sources.matching import Candidate

SHIPPED = Path(__file__).with_name("releases.fdmaps")

_MAX_CACHED_FILES = 512  # parsed files to cache
_REMEDY = "Install framedex again; frames are without the links that it gives until then."
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def open_release_maps(path: Path = SHIPPED) -> ReleaseMaps:
    """The release maps of a file, by default the shipped ones.

    Raises SourceMapError if they are unreadable or damaged, as does each method of the returned object.
    """
    with _converting_errors(path):
        with open_regular(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise MalformedError("it is too large")
        return ReleaseMaps(_Opened(path, read_content(data)))


class ReleaseMaps:
    """The maps of all releases. `releases` are the versions of jaxlib, oldest first."""

    def __init__(self, opened: _Opened) -> None:
        self._opened = opened
        self.releases = opened.content.releases

    def may_define(self, short_name: str) -> bool:
        """Whether a map may define this short name: other names are not worth parsing."""
        return self._opened.names.has(short_name)

    def nearest(self, component: str, version: str) -> ReleaseMap | None:
        """The map of a component (`xla`, `jaxlib`) in a release of jaxlib, else in the nearest release.

        The nearest release has the fewest releases in between; the newer of two wins. None for an unknown component.
        `0.4.13+cuda12.cudnn89` is built from the same sources as `0.4.13`.
        """
        found = self._opened.content.components.get(component)
        if found is None:
            return None
        place = _version_position(version)
        _, release, info = min(
            (abs(_version_position(self.releases[number]) - place), -number, info)
            for number, info in enumerate(found.infos)
            if info is not None
        )
        is_nearest = self.releases[-release] not in (version, version.partition("+")[0])
        return ReleaseMap(self._opened, info, -release, is_nearest=is_nearest)


class ReleaseMap:
    """The definitions and calls of a component's sources in a release, without the text.

    `info` has its commit, `release` the version of jaxlib. `is_nearest`: it is not the requested release. Paths are
    relative to the repository. A language is `cpp`, `protobuf` or `tablegen`.
    """

    def __init__(self, opened: _Opened, info: SourceMapInfo, release: int, *, is_nearest: bool) -> None:
        self.info = info
        self.release = opened.content.releases[release]
        self.is_nearest = is_nearest
        self._opened, self._release = opened, release
        self._component = opened.content.components[info.component]

    def definitions(
        self, short_name: str, key: tuple[str, ...] = (), language: str = "cpp"
    ) -> list[tuple[str, Definition]]:
        """The definitions that `match` could choose for a symbol, without their calls, in order of path.

        `short_name` and `key` (`key_of`) are the symbol's own. Without a key, all definitions of the short name are
        returned.
        """
        with self._opened.converting_errors():
            return [
                (self._path(number), definition)
                for number in self._files(short_name, key, language)
                for definition in self._opened.versions(number).definitions(self._release, short_name)
            ]

    def calls_in_bodies(self, short_name: str, is_member: bool, most: int, longest: int) -> list[Counter[str]]:
        """The names called by each C++ function, method and macro of a short name, with their counts.

        The counts are empty for a body of more than `longest` lines. Empty if more than `most` definitions match.
        `is_member` excludes functions outside classes.
        """
        with self._opened.converting_errors():
            files = self._within(self._opened.names.files_with_bodies(short_name, self._release), "cpp")
            if len(files) > most:
                return []
            versions = map(self._opened.versions, files)
            found = [each for version in versions for each in version.bodies(self._release, short_name, is_member)]
            if len(found) > most:
                return []
            return [calls if length <= longest else Counter() for length, calls in found]

    def written(self, path: str) -> Mapping[Span, Sequence[WrittenCall]]:
        """The calls of a file by function and lambda, read on demand; empty if the file is missing."""
        with self._opened.converting_errors():
            number = self._number(path)
            if number is None:
                return {}
            versions = self._opened.versions(number)
            return WrittenCalls(versions.calling(self._release), partial(self._calls, versions))

    def _calls(self, versions: FileVersions, at: tuple[int, int]) -> Sequence[WrittenCall]:
        with self._opened.converting_errors():
            return list(versions.calls(*at))

    def file(self, path: str, within: Collection[tuple[int, int]] | None = None) -> ExtractedFile:
        """A file with its definitions and their calls; with `within`, only the definitions inside those lines.

        Time, size, hash and columns are 0. Raises SourceMapError if the file is missing.
        """
        with self._opened.converting_errors():
            number = self._number(path)
            if number is None:
                raise MalformedError(f"{path} is missing")
            language = LANGUAGES[self._opened.content.languages[number]]
            rows = self._opened.versions(number).rows(self._release, within)
            return ExtractedFile(path, language, 0, 0, 0, 0, tuple(rows), ())

    def paths(self) -> list[str]:
        """All files of the release."""
        with self._opened.converting_errors():
            numbers = range(self._component.first, self._component.end)
            return [self._path(number) for number in numbers if self._opened.versions(number).is_in(self._release)]

    def paths_named(self, name: str) -> list[str]:
        """The files of the release with this name, in any folder."""
        paths, versions = self._opened.content.paths, self._opened.versions
        with self._opened.converting_errors():
            named = [n for n in range(self._component.first, self._component.end) if _file_name(paths[n]) == name]
            return [self._path(number) for number in named if versions(number).is_in(self._release)]

    def _files(self, short_name: str, key: tuple[str, ...], language: str) -> list[int]:
        return self._within(self._opened.names.files(short_name, key, self._release), language)

    def _within(self, numbers: list[int], language: str) -> list[int]:
        """The numbers of files of this component and language."""
        languages = self._opened.content.languages
        wanted = range(self._component.first, self._component.end)
        return [number for number in numbers if number in wanted and LANGUAGES[languages[number]] == language]

    def _number(self, path: str) -> int | None:
        paths, end = self._opened.content.paths, self._component.end
        number = bisect_left(paths, path, self._component.first, end)
        is_there = number < end and paths[number] == path and self._opened.versions(number).is_in(self._release)
        return number if is_there else None

    def _path(self, number: int) -> str:
        path = self._opened.content.paths[number]
        if not is_inside(path):
            raise MalformedError("a path leads elsewhere")
        return path


class _Opened:
    """An opened file of release maps."""

    def __init__(self, path: Path, content: Content) -> None:
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
    except ForeignError as error:
        version = str(error)
        told = f"are of version {version}, this framedex reads version {FORMAT_VERSION}" if version else "are none"
        raise SourceMapError(f"The release maps {path} {told}.", _REMEDY) from error
    except (MalformedError, IndexError, ValueError, RecursionError, zlib.error) as error:
        raise SourceMapError(f"The release maps {path} are damaged: {error}.", _REMEDY) from error


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _version_position(version: str) -> int:
    """The position of a version among the known releases of jaxlib; an unknown version is between two of them."""
    known = known_releases()
    numbers = _version_numbers(version)
    return bisect_left(known, numbers, key=_version_numbers)


def _version_numbers(version: str) -> tuple[int, ...]:
    match = _NUMBERS.match(version)
    return tuple(int(part[:9]) for part in match[0].split(".")) if match else ()


_Answer = TypeVar("_Answer")


class Asked(Protocol):
    """Runs a query on maps; returns None if they are damaged."""

    def __call__(self, ask: Callable[[], _Answer]) -> _Answer | None: ...


class CombinedMaps:
    """Several maps, each with its local information. A prefix of each path identifies the path's map."""

    def __init__(self, maps: Sequence[tuple[SourceMapInfo, ReleaseMap]], asked: Asked) -> None:
        self._maps, self._query = maps, asked

    def definitions(self, short_name: str, language: str, key: tuple[str, ...] = ()) -> list[Candidate]:
        """The definitions with this short name in a language; with a symbol's key, only those that may match it."""
        return [
            (info.prefix + path, definition)
            for info, source_map in self._maps
            for path, definition in self._query(partial(source_map.definitions, short_name, key, language)) or ()
        ]

    def files_named(self, name: str) -> Sequence[str]:
        """The files with this name, in any folder."""
        return [
            info.prefix + path
            for info, source_map in self._maps
            for path in self._query(partial(source_map.paths_named, name)) or ()
        ]

    def bodies(self) -> Bodies:
        """The calls in these sources."""
        return Bodies(lambda _: (), self._written, self._calls_in_bodies)

    def maps_containing(self, paths: Iterable[str]) -> list[tuple[SourceMapInfo, str]]:
        """The maps that contain these files, each with its release."""
        prefixes = set(map(map_prefix, paths))
        return [(info, source_map.release) for info, source_map in self._maps if info.prefix in prefixes]

    def _written(self, path: str) -> Mapping[Span, Sequence[WrittenCall]]:
        """The calls of a file by function."""
        prefix = map_prefix(path)
        source_map = next(source_map for info, source_map in self._maps if info.prefix == prefix)
        found = self._query(partial(source_map.written, path.removeprefix(prefix))) or {}
        return WrittenCalls(
            {span: span for span in found}, lambda span: self._query(partial(getitem, found, span)) or ()
        )

    def _calls_in_bodies(self, short_name: str, is_member: bool, most: int, longest: int) -> list[Counter[str]]:
        """The names called by each C++ function of a short name; see `Bodies`."""
        found = [
            calls
            for _, source_map in self._maps
            for calls in self._query(partial(source_map.calls_in_bodies, short_name, is_member, most, longest)) or ()
        ]
        return found if len(found) <= most else []
