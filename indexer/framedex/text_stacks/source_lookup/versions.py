"""Check a printed location against the local files. A file that contradicts it has another version.

Then the line is searched in copies of the file in the index, in git history, and in source maps. A line that is found
is marked `LocationEvidence.FOLLOWED`. Otherwise the frame gets the definition of its function, or is `DOUBTFUL`.

`Checkouts` finds lines of public repositories in local checkouts. A checkout matches a repository if git has the named
commit, else by its files or its name. Branches and tags mean those of the checkout.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from framedex.base.lazy import TextCache
from framedex.base.regularfile import read_regular
from framedex.model import Language, Location, LocationEvidence, Staleness, is_local
from framedex.model.locations import MAP_PATH
from framedex.path_resolution.files import FoundFile, file_exists, find_file
from framedex.path_resolution.moved_files import count_common_tail
from framedex.sources.outline import Outline, OutlineMatch, Outlines, build_outline_from_map, parse_outline
from framedex.sources.releases.repository import REPOSITORIES, PublicLine
from framedex.sources.releases.statements import FileReleases, Release, StatedReleases, find_python_version_in_path

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.sources.file_versions import FileHistory
    from framedex.sources.line_maps import LineMap

_PACKAGE = re.compile(r".*/(?:site|dist)-packages/[^/]+/")
_COMMIT = re.compile(r"(?:jax|xla)\S*/([0-9a-f]{40}|jax-v[\w.]+)/")
_MAX_COPIES = 8
_MAX_HISTORIES = 64  # maximum number of file histories searched; each takes git some tenths of a second
COMMON_FUNCTIONS = frozenset(("main", "_start", "operator()", "<module>", "<lambda>"))
"""Function names that do not identify a file."""

_MAX_GIT_SECONDS = 8.0  # maximum time with git per text, in seconds


class QuotedLocation(NamedTuple):
    """A location as printed: the path, a line (from 1), and the function, empty if none.

    `source` is the quoted source line, if any.
    """

    path: str
    line: int
    function: str
    language: Language | None
    source: str = ""


class VersionChecks:
    """Checks and follows locations for one text; `releases` are the releases stated so far."""

    def __init__(self, index: Index | None, outlines: Outlines, releases: StatedReleases) -> None:
        self._index = index
        self._outlines = outlines
        self._releases = releases
        self._file_releases = FileReleases()
        self._followed: TextCache[tuple[QuotedLocation, tuple[str, ...], int, int], tuple[Location, ...]] = TextCache()
        self._histories = 0
        self._git_seconds = 0.0  # spent on histories
        self._stack: Mapping[str, Sequence[QuotedLocation]] = {}  # the printed locations of the current stack, by file
        self._stacks = 0
        self._distrusted: frozenset[str] = frozenset()
        self._pythons: frozenset[str] = frozenset()  # the Python versions in the paths of the stack

    def set_stack(self, frames: Iterable[tuple[QuotedLocation, Sequence[str]]]) -> None:
        """Set the stack of the following look-ups: its frames, each with its possible files.

        A file that contradicts a frame has another version, and so has its whole package. If its other lines match,
        that may be by chance.
        """
        stack: dict[str, list[QuotedLocation]] = defaultdict(list)
        distrusted = set()
        together = list(frames)
        self._pythons = frozenset(filter(None, (find_python_version_in_path(quoted.path) for quoted, _ in together)))
        for quoted, paths in together:
            for path in paths:
                stack[path].append(quoted)
                if self._certainly_contradicts(path, quoted):
                    distrusted |= {path, _package_folder(path, quoted)}
        self._stack, self._distrusted = stack, frozenset(distrusted)
        self._stacks += 1

    def find_locations(
        self, quoted: QuotedLocation, paths: Sequence[str], how: LocationEvidence
    ) -> tuple[Location, ...]:
        """Return the locations of a quoted line in the files that confirm it, with the evidence `how`.

        If no file confirms it, the locations are in the files that do not contradict it. If all contradict it, they are
        in other versions of the file, or doubtful.
        """
        verdicts = [(path, self._verdict(path, quoted)) for path in paths]
        for wanted in (OutlineMatch.FITS, OutlineMatch.UNKNOWN):
            if fitting := [path for path, verdict in verdicts if verdict is wanted]:
                return tuple(
                    Location(path, quoted.line, how)
                    for path in self._drop_copies(self._files_of_stated_release(fitting))
                )
        key = quoted, tuple(paths), self._releases.count, self._stacks
        length = len(quoted.path) + len(quoted.function) + len(quoted.source)
        return self._followed.get_or_make(key, length, lambda: self._follow(quoted, paths))

    def check_function(self, quoted: QuotedLocation, location: Location) -> Location:
        """Return a location in a file that was found by file name alone; doubtful unless the function is on the line.

        File names are not unique: the C++ library has an `invoke.h`, and other projects may have one.
        """
        is_told = bool(quoted.source) or quoted.function.partition("(")[0] not in COMMON_FUNCTIONS
        if location.how is not LocationEvidence.EXACT or (is_told and self.confirms(quoted, location.path)):
            return location
        return replace(location, how=LocationEvidence.DOUBTFUL)

    def confirms(self, quoted: QuotedLocation, path: str) -> bool:
        """Whether a file has the function at the line, and is not of another release than the text's."""
        return self._verdict(path, quoted) is OutlineMatch.FITS

    def check_release(self, location: Location) -> Location:
        """Return a public location, marked doubtful if its commit is not that of the text's release."""
        if location.url is None or not self._releases.count:
            return location
        commit = _COMMIT.search(location.url)
        revisions = set(self._stated_revisions())
        if commit is None or not revisions or commit[1] in revisions:
            return location
        return replace(location, how=LocationEvidence.DOUBTFUL)

    def _verdict(self, path: str, quoted: QuotedLocation) -> OutlineMatch:
        outline = self._outline(path)
        verdict = _check_fit(outline, quoted) if outline is not None else OutlineMatch.UNKNOWN
        if self._is_of_another_release(path, quoted) or (self._is_distrusted(path, quoted) and not quoted.source):
            return OutlineMatch.CONTRADICTS
        return verdict

    def _certainly_contradicts(self, path: str, quoted: QuotedLocation) -> bool:
        """Whether a file cannot be the text's version.

        A function missing from the file proves nothing: it may be renamed.
        """
        outline = self._outline(path)
        if outline is None or _check_fit(outline, quoted) is not OutlineMatch.CONTRADICTS:
            return False
        return quoted.line > outline.lines or bool(quoted.source) or bool(outline.functions_named(quoted.function))

    def _is_distrusted(self, path: str, quoted: QuotedLocation) -> bool:
        return bool(self._distrusted) and not self._distrusted.isdisjoint((path, _package_folder(path, quoted)))

    def _is_of_another_release(self, path: str, quoted: QuotedLocation) -> bool:
        if not is_local(path):
            return bool(self._releases.count) and self._is_map_of_another_release(path)
        release = self._file_releases.release_of(path)
        if self._is_of_another_python(path, quoted, release):
            return True
        if not self._releases.count:
            return False
        if (
            release is not None and release.package == "python" and quoted.path == path
        ):  # the path has the Python version
            return False
        return self._releases.contradicts(release)

    def _is_of_another_python(self, path: str, quoted: QuotedLocation, release: Release | None) -> bool:
        """Whether a file is installed for another Python version than the text's.

        Its package may then have another version too, unless the text states the version.
        """
        here, named = find_python_version_in_path(path), find_python_version_in_path(quoted.path)
        versions = {named} if named else self._pythons if quoted.path.startswith("<") else ()
        if not here or not versions or here in versions:
            return False
        return (
            release is None
            or release.package == "python"
            or release.version not in self._releases.versions_of(release.package)
        )

    def _is_map_of_another_release(self, path: str) -> bool:
        """Whether a source map path is at none of the commits of the stated releases."""
        found = MAP_PATH.fullmatch(path)
        if found is None or found["component"] not in REPOSITORIES:
            return False
        revisions = set(self._stated_revisions())
        return bool(revisions) and not any(revision.startswith(found["revision"]) for revision in revisions)

    def _files_of_stated_release(self, paths: Sequence[str]) -> Sequence[str]:
        """Return the files of a stated release, if there are any; else all of them."""
        if len(paths) == 1 or not self._releases.count:
            return paths
        releases = [(path, self._file_releases.release_of(path)) for path in paths]
        return [path for path, release in releases if release and self._releases.versions_of(release.package)] or paths

    def _drop_copies(self, paths: Sequence[str]) -> Sequence[str]:
        """Return the files without copies of installed files, such as a file in a checkout of the same version.

        A copy has the same content, and at least its folder has the same name.
        """
        if len(paths) == 1:
            return paths
        contents = {path: outline.content if (outline := self._outline(path)) else 0 for path in paths}
        found: list[str] = []
        for path in sorted(paths, key=lambda path: not _PACKAGE.match(path)):
            installed = [other for other in found if _PACKAGE.match(other) and contents[other] == contents[path]]
            if not any(contents[other] and _count_common_tail(path, other) > 1 for other in installed):
                found.append(path)
        return found

    def _outline(self, path: str) -> Outline | None:
        known = self._index.names.definitions_in if self._index is not None else lambda path: None
        if is_local(path):
            return self._outlines.outline_of(path, known)
        definitions = known(path)
        return build_outline_from_map(path, definitions) if definitions is not None else None

    def _follow(self, quoted: QuotedLocation, paths: Sequence[str]) -> tuple[Location, ...]:
        """Return the locations of a quoted line that all files contradict."""
        local = [path for path in paths if is_local(path)]
        for followed in (self._find_in_copies(quoted, paths), self._find_in_histories(quoted, local)):
            if found := list(dict.fromkeys(followed)):
                return tuple(found)
        return tuple(self._doubtful_location(quoted, path) for path in paths)

    def _find_in_copies(self, quoted: QuotedLocation, paths: Sequence[str]) -> Iterator[Location]:
        """Yield the locations in copies of the file, in other environments or source maps, that confirm the line.

        A copy has the same file name, and at least the same name of its folder.
        """
        if self._index is None or not quoted.function:
            return
        name = quoted.path.rpartition("/")[2]
        others = [path for path in self._index.names.files_named(name) if path not in paths]
        shared = [(_count_common_tail(path, max(paths, key=len)), path) for path in others]
        longest = max((length for length, _ in shared), default=0)
        if longest < 2:
            return
        for _, path in [each for each in shared if each[0] == longest][:_MAX_COPIES]:
            if self.confirms(quoted, path):
                release = self._file_releases.release_of(path) if is_local(path) else None
                is_certain = release is not None and release.version in self._releases.versions_of(release.package)
                yield Location(path, quoted.line, LocationEvidence.EXACT if is_certain else LocationEvidence.FOLLOWED)

    def _find_in_histories(self, quoted: QuotedLocation, paths: Iterable[str]) -> Iterator[Location]:
        """Yield the current line for every earlier version of a file that confirms the quoted line."""
        from framedex.sources.file_versions import FileHistory
        from framedex.sources.line_maps import map_lines

        for path in paths:
            if self._histories >= _MAX_HISTORIES or not file_exists(path):
                continue
            self._histories += 1
            now = _read_text(path)
            for content in self._limit_time(self._possible_versions(path, quoted, FileHistory(path))):
                outline = parse_outline(path, content)
                fit = _check_fit(outline, quoted)
                if fit is OutlineMatch.CONTRADICTS or (quoted.function and fit is not OutlineMatch.FITS):
                    continue
                if any(_check_fit(outline, other) is OutlineMatch.CONTRADICTS for other in self._stack.get(path, ())):
                    continue
                moved = map_lines(_decode(content), now).map_to_new(quoted.line)
                if moved.line == quoted.line and not moved.is_gone:
                    yield Location(path, quoted.line, LocationEvidence.FOLLOWED)
                else:
                    stale = Staleness.GONE if moved.is_gone else Staleness.MOVED
                    yield Location(path, moved.line, LocationEvidence.FOLLOWED, stale=stale, moved_from=quoted.line)

    def _limit_time(self, versions: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the versions until the time for this text is used up."""
        while self._git_seconds < _MAX_GIT_SECONDS:
            began = time.monotonic()
            content = next(versions, None)
            self._git_seconds += time.monotonic() - began
            if content is None:
                return
            yield content

    def _possible_versions(self, path: str, quoted: QuotedLocation, history: FileHistory) -> Iterator[bytes]:
        """Yield the possible versions of a file: those of the stated releases, or all earlier ones."""
        stated = [
            content for revision in self._stated_revisions() if (content := history.read_revision(revision)) is not None
        ]
        if stated:
            yield from stated[:1]
        elif not self._is_of_another_release(path, quoted):  # in another release the line alone proves too little
            yield from history.iterate_earlier()

    def _stated_revisions(self) -> Iterator[str]:
        """Yield the commits and tags of the jax and jaxlib releases stated by the text."""
        from framedex.sources.releases.builds import read_release_commits

        for version in sorted(self._releases.versions_of("jaxlib") | self._releases.versions_of("jax")):
            yield from read_release_commits(version).values()
            yield f"jax-v{version}"

    def _doubtful_location(self, quoted: QuotedLocation, path: str) -> Location:
        """Return the function's definition if the file contradicts the line, else the line marked doubtful."""
        outline = self._outline(path)
        if outline is None:
            return Location(path, quoted.line, LocationEvidence.DOUBTFUL)
        defined = outline.functions_named(quoted.function) if quoted.function else []
        if _check_fit(outline, quoted._replace(source="")) is OutlineMatch.CONTRADICTS and len(defined) == 1:
            return Location(
                path, defined[0].line, LocationEvidence.DEFINITION, stale=Staleness.GONE, moved_from=quoted.line
            )
        if quoted.line > outline.lines:
            return Location(
                path, max(outline.lines, 1), LocationEvidence.DOUBTFUL, stale=Staleness.GONE, moved_from=quoted.line
            )
        return Location(path, quoted.line, LocationEvidence.DOUBTFUL)


def _package_folder(path: str, quoted: QuotedLocation) -> str:
    """Return the folder of a file's package, if known; else the file."""
    if found := _PACKAGE.match(path):
        return found[0]
    if "/" in quoted.path and path.endswith(f"/{quoted.path}"):  # a path shortened to begin at a package
        return f"{path.removesuffix(quoted.path)}{quoted.path.partition('/')[0]}/"
    return path


def _check_fit(outline: Outline, quoted: QuotedLocation) -> OutlineMatch:
    return outline.fit(quoted.function, quoted.line, quoted.language, quoted.source)


def _count_common_tail(path: str, wanted: str) -> int:
    """Return the number of components that two paths share at their ends.

    The prefix of a source map is not a folder.
    """
    return count_common_tail(path.replace(":", "/").split("/"), wanted.split("/"))


def _read_text(path: str) -> str:
    try:
        return _decode(read_regular(Path(path)))
    except OSError:
        return ""


def _decode(content: bytes) -> str:
    return content.decode("utf-8", "replace")


_CHECKOUT_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_BEST_FIRST = (LocationEvidence.EXACT, LocationEvidence.FOLLOWED, LocationEvidence.DOUBTFUL)


class Checkouts:
    """Searches folders that may be checkouts, or inside one. Answers of git are cached."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders = tuple(dict.fromkeys(folders))
        self._tops: TextCache[str, str] = TextCache()
        self._names: TextCache[str, frozenset[str]] = TextCache()
        self._changes: TextCache[tuple[FoundFile, str], _Change] = TextCache()

    def find(self, wanted: PublicLine) -> Location | None:
        """Return the most certain line in a local file; None if no checkout has that file."""
        found = [
            place
            for file, top in self._candidate_files(wanted.path)
            if (place := self._locate_in(file, top, wanted)) is not None
        ]
        return min(found, key=lambda place: _BEST_FIRST.index(place.how), default=None)

    def _candidate_files(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield the files with that path below the top folders of repositories, each with its top folder."""
        seen = set()
        for folder in self._folders:
            for top in filter(None, (folder, self._package_parent(folder, path), self._top_folder(folder))):
                file = f"{top}/{path}"
                if file not in seen and file_exists(file):
                    yield file, top
                seen.add(file)

    def _package_parent(self, folder: str, path: str) -> str | None:
        """Return the parent of a source folder that is the first component of the path: `/src/xla/xla`."""
        above, _, name = folder.rpartition("/")
        return above if path.startswith(f"{name}/") else None

    def _locate_in(self, file: str, top: str, wanted: PublicLine) -> Location | None:
        line = wanted.line or 1
        change = self._cached_change(file, wanted.revision)
        is_there = change is not None
        if not (is_there and _CHECKOUT_COMMIT.fullmatch(wanted.revision)) and not wanted.names & self._repository_names(
            top
        ):
            return None
        return Location(file, line, LocationEvidence.DOUBTFUL) if change is None else change.follow(file, line)

    def _cached_change(self, file: str, revision: str) -> _Change | None:
        """Return the changes of a file since a revision; None if git does not have the revision."""
        found = find_file(file)
        if found is None or not revision:
            return None
        known = self._changes.get((found, revision))
        if known is None and (known := _read_change(file, revision)) is not None:
            self._changes.store((found, revision), known, len(file))
        return known

    def _top_folder(self, folder: str) -> str:
        """Return the top folder of the working tree around a folder; empty if there is none."""

        def found() -> str:
            from framedex.sources.git import Git

            return (Git(Path(folder)).text("rev-parse", "--show-toplevel") or "").removesuffix("\n")

        return self._tops.get_or_make(folder, len(folder), found)

    def _repository_names(self, top: str) -> frozenset[str]:
        """Return the names of the repository in a folder: from its files, and from its remote."""

        def found() -> frozenset[str]:
            from framedex.sources.releases.roots import find_component
            from framedex.sources.source_map import find_public_address

            origin = find_public_address(Path(top)) or ""
            return frozenset(filter(None, (find_component(Path(top)), origin.rpartition("/")[2].lower())))

        return self._names.get_or_make(top, len(top), found)


@dataclass(frozen=True, slots=True)
class _Change:
    """The changes of a file since a revision: `lines` maps old lines to current ones; None if unchanged."""

    lines: LineMap | None

    def follow(self, file: str, line: int) -> Location:
        """Return the current location of an old line."""
        if self.lines is None:
            return Location(file, line, LocationEvidence.EXACT)
        moved = self.lines.map_to_new(line)
        if moved.line == line and not moved.is_gone:
            return Location(file, line, LocationEvidence.FOLLOWED)
        stale = Staleness.GONE if moved.is_gone else Staleness.MOVED
        return Location(file, moved.line, LocationEvidence.FOLLOWED, stale=stale, moved_from=line)


def _read_change(file: str, revision: str) -> _Change | None:
    from framedex.sources.file_versions import FileHistory
    from framedex.sources.line_maps import map_lines

    then = FileHistory(file).read_revision(revision)
    if then is None:
        return None
    try:
        now = read_regular(Path(file))
    except OSError:
        return None
    return _Change(None if now == then else map_lines(then.decode("utf-8", "replace"), now.decode("utf-8", "replace")))
