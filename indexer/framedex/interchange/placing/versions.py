"""A place that a text names, held against the files here: what they do not bear out is of another version.

Such a line is followed: into copies of the file that the index knows, through what git has of it, or into a source map.
What is found so says it (`How.FOLLOWED`). Else the frame leads to the definition of its function, or is `DOUBTFUL`.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from framedex.model import How, Language, Location, Stale, is_local
from framedex.model.places import OF_A_MAP
from framedex.recall import Recall
from framedex.regularfile import read_regular
from framedex.releases.repository import REPOSITORIES
from framedex.releases.stated import FileReleases, StatedReleases, python_in_path
from framedex.releases.statements import Release
from framedex.sources.outline import Fit, Outline, Outlines, outline_of_content, outline_of_map
from framedex.whereabouts.files import is_here
from framedex.whereabouts.tails import common_tail

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.sources.history import History

_PACKAGE = re.compile(r".*/(?:site|dist)-packages/[^/]+/")
_COMMIT = re.compile(r"(?:jax|xla)\S*/([0-9a-f]{40}|jax-v[\w.]+)/")
_MOST_COPIES = 8
_MOST_HISTORIES = 64  # files whose history is looked at: each takes git some tenths of a second
OF_EVERY_PROGRAM = frozenset(("main", "_start", "operator()", "<module>", "<lambda>"))
"""Names of functions that say nothing about which file they are in."""

_PATIENCE = 8.0  # seconds with git, for all of a text


class Said(NamedTuple):
    """What a text says of a place: the path as written, a line (from 1), and the function, empty if it names none.

    `source` is that line of the file, where the text quotes it.
    """

    path: str
    line: int
    function: str
    language: Language | None
    source: str = ""


class Versions:
    """Judges and follows places for one text, which is of the `releases` that it has stated so far."""

    def __init__(self, index: Index | None, outlines: Outlines, releases: StatedReleases) -> None:
        self._index = index
        self._outlines = outlines
        self._releases = releases
        self._of_files = FileReleases()
        self._followed: Recall[tuple[Said, tuple[str, ...], int, int], tuple[Location, ...]] = Recall()
        self._histories = 0
        self._seconds = 0.0  # that histories took
        self._stack: Mapping[str, Sequence[Said]] = {}  # what the stack that is looked at says of each file
        self._stacks = 0
        self._distrusted: frozenset[str] = frozenset()
        self._pythons: frozenset[str] = frozenset()  # the versions that the paths of the stack name

    def of_stack(self, frames: Iterable[tuple[Said, Sequence[str]]]) -> None:
        """From now on places are of a stack with these frames, each with the files that it may be in.

        A file that contradicts one of them is of another version, and so is the package that it is of: its other lines
        may be right by chance only.
        """
        stack: dict[str, list[Said]] = defaultdict(list)
        distrusted = set()
        together = list(frames)
        self._pythons = frozenset(filter(None, (python_in_path(said.path) for said, _ in together)))
        for said, paths in together:
            for path in paths:
                stack[path].append(said)
                if self._surely_contradicts(path, said):
                    distrusted |= {path, _package(path, said)}
        self._stack, self._distrusted = stack, frozenset(distrusted)
        self._stacks += 1

    def places(self, said: Said, paths: Sequence[str], how: How) -> tuple[Location, ...]:
        """Where a place is that may be in any of these files: in those that bear it out, known as `how`.

        Else in those that say nothing against it, else where it was followed to, else doubtful.
        """
        verdicts = [(path, self._verdict(path, said)) for path in paths]
        for wanted in (Fit.FITS, Fit.UNKNOWN):
            if fitting := [path for path, verdict in verdicts if verdict is wanted]:
                return tuple(Location(path, said.line, how) for path in self._distinct(self._of_the_release(fitting)))
        key = said, tuple(paths), self._releases.count, self._stacks
        length = len(said.path) + len(said.function) + len(said.source)
        return self._followed.made(key, length, lambda: self._elsewhere(said, paths))

    def held_to_its_function(self, said: Said, location: Location) -> Location:
        """The location of a file of which a text says the name alone, doubtful unless its function is there.

        Many projects have a file of one name: `invoke.h` of the C++ library is in no folder of XLA's.
        """
        is_told = bool(said.source) or said.function.partition("(")[0] not in OF_EVERY_PROGRAM
        if location.how is not How.EXACT or (is_told and self.bears_out(said, location.path)):
            return location
        return replace(location, how=How.DOUBTFUL)

    def bears_out(self, said: Said, path: str) -> bool:
        """Whether a file has the function of a place at its line, and is of no other release than the text."""
        return self._verdict(path, said) is Fit.FITS

    def published(self, location: Location) -> Location:
        """A location in a public repository, doubtful if that is at another commit than that of the text's release."""
        if location.url is None or not self._releases.count:
            return location
        commit = _COMMIT.search(location.url)
        revisions = set(self._revisions())
        if commit is None or not revisions or commit[1] in revisions:
            return location
        return replace(location, how=How.DOUBTFUL)

    def _verdict(self, path: str, said: Said) -> Fit:
        outline = self._outline(path)
        verdict = _fit(outline, said) if outline is not None else Fit.UNKNOWN
        if self._is_of_another_release(path, said) or (self._is_distrusted(path, said) and not said.source):
            return Fit.CONTRADICTS
        return verdict

    def _surely_contradicts(self, path: str, said: Said) -> bool:
        """Whether a file cannot be the one that a text is of; a function that it knows nothing of may be renamed."""
        outline = self._outline(path)
        if outline is None or _fit(outline, said) is not Fit.CONTRADICTS:
            return False
        return said.line > outline.lines or bool(said.source) or bool(outline.defined(said.function))

    def _is_distrusted(self, path: str, said: Said) -> bool:
        return bool(self._distrusted) and not self._distrusted.isdisjoint((path, _package(path, said)))

    def _is_of_another_release(self, path: str, said: Said) -> bool:
        if not is_local(path):
            return bool(self._releases.count) and self._is_map_of_another_release(path)
        release = self._of_files.of(path)
        if self._is_of_another_python(path, said, release):
            return True
        if not self._releases.count:
            return False
        if release is not None and release.package == "python" and said.path == path:  # which says the version itself
            return False
        return self._releases.refuses(release)

    def _is_of_another_python(self, path: str, said: Said, release: Release | None) -> bool:
        """Whether a file was installed for another version of Python than the one in a text, which may have another
        version of its package too, unless the text states that.
        """
        here, named = python_in_path(path), python_in_path(said.path)
        versions = {named} if named else self._pythons if said.path.startswith("<") else ()
        if not here or not versions or here in versions:
            return False
        return (
            release is None or release.package == "python" or release.version not in self._releases.of(release.package)
        )

    def _is_map_of_another_release(self, path: str) -> bool:
        """Whether the path of a source map is at none of the commits of the releases that the text states."""
        found = OF_A_MAP.fullmatch(path)
        if found is None or found["component"] not in REPOSITORIES:
            return False
        revisions = set(self._revisions())
        return bool(revisions) and not any(revision.startswith(found["revision"]) for revision in revisions)

    def _of_the_release(self, paths: Sequence[str]) -> Sequence[str]:
        """Of several files those of a release that the text states, where there are such."""
        if len(paths) == 1 or not self._releases.count:
            return paths
        releases = [(path, self._of_files.of(path)) for path in paths]
        return [path for path, release in releases if release and self._releases.of(release.package)] or paths

    def _distinct(self, paths: Sequence[str]) -> Sequence[str]:
        """The files without the copies of those that are installed: a checkout of the same version is no other place.

        They have the same content, and more of their paths than the name.
        """
        if len(paths) == 1:
            return paths
        contents = {path: outline.content if (outline := self._outline(path)) else 0 for path in paths}
        found: list[str] = []
        for path in sorted(paths, key=lambda path: not _PACKAGE.match(path)):
            installed = [other for other in found if _PACKAGE.match(other) and contents[other] == contents[path]]
            if not any(contents[other] and _common_tail(path, other) > 1 for other in installed):
                found.append(path)
        return found

    def _outline(self, path: str) -> Outline | None:
        known = self._index.names.definitions_in if self._index is not None else lambda path: None
        if is_local(path):
            return self._outlines.of(path, known)
        definitions = known(path)
        return outline_of_map(path, definitions) if definitions is not None else None

    def _elsewhere(self, said: Said, paths: Sequence[str]) -> tuple[Location, ...]:
        """Where a place is that none of the files bears out."""
        local = [path for path in paths if is_local(path)]
        for followed in (self._in_copies(said, paths), self._in_histories(said, local)):
            if found := list(dict.fromkeys(followed)):
                return tuple(found)
        return tuple(self._doubtful(said, path) for path in paths)

    def _in_copies(self, said: Said, paths: Sequence[str]) -> Iterator[Location]:
        """Other copies of the file, in another environment or a source map: those that bear the place out.

        They share the end of its path, and more of it than the name.
        """
        if self._index is None or not said.function:
            return
        name = said.path.rpartition("/")[2]
        others = [path for path in self._index.names.files_named(name) if path not in paths]
        shared = [(_common_tail(path, max(paths, key=len)), path) for path in others]
        longest = max((length for length, _ in shared), default=0)
        if longest < 2:
            return
        for _, path in [each for each in shared if each[0] == longest][:_MOST_COPIES]:
            if self.bears_out(said, path):
                release = self._of_files.of(path) if is_local(path) else None
                is_certain = release is not None and release.version in self._releases.of(release.package)
                yield Location(path, said.line, How.EXACT if is_certain else How.FOLLOWED)

    def _in_histories(self, said: Said, paths: Iterable[str]) -> Iterator[Location]:
        """Where the line of an earlier version is now; of several versions that it fits, every such line."""
        from framedex.sources.history import History
        from framedex.sources.moving import map_lines

        for path in paths:
            if self._histories >= _MOST_HISTORIES or not is_here(path):
                continue
            self._histories += 1
            now = _content(path)
            for content in self._patiently(self._versions(path, said, History(path))):
                outline = outline_of_content(path, content)
                fit = _fit(outline, said)
                if fit is Fit.CONTRADICTS or (said.function and fit is not Fit.FITS):
                    continue
                if any(_fit(outline, other) is Fit.CONTRADICTS for other in self._stack.get(path, ())):
                    continue
                moved = map_lines(_text(content), now).forward(said.line)
                if moved.line == said.line and not moved.is_gone:
                    yield Location(path, said.line, How.FOLLOWED)
                else:
                    stale = Stale.GONE if moved.is_gone else Stale.MOVED
                    yield Location(path, moved.line, How.FOLLOWED, stale=stale, moved_from=said.line)

    def _patiently(self, versions: Iterator[bytes]) -> Iterator[bytes]:
        """The versions, as long as there is time left for this text."""
        while self._seconds < _PATIENCE:
            began = time.monotonic()
            content = next(versions, None)
            self._seconds += time.monotonic() - began
            if content is None:
                return
            yield content

    def _versions(self, path: str, said: Said, history: History) -> Iterator[bytes]:
        """The versions of a file that may be meant: those of the releases that the text states, or all earlier ones."""
        stated = [content for revision in self._revisions() if (content := history.at(revision)) is not None]
        if stated:
            yield from stated[:1]
        elif not self._is_of_another_release(path, said):  # then the line alone says too little
            yield from history.earlier()

    def _revisions(self) -> Iterator[str]:
        """The commits and tags of the releases of jax and jaxlib that the text states."""
        from framedex.releases.builds import release_commits

        for version in sorted(self._releases.of("jaxlib") | self._releases.of("jax")):
            yield from release_commits(version).values()
            yield f"jax-v{version}"

    def _doubtful(self, said: Said, path: str) -> Location:
        """The definition of the function in a file that does not bear out its line, else that line, marked."""
        outline = self._outline(path)
        if outline is None:
            return Location(path, said.line, How.DOUBTFUL)
        defined = outline.defined(said.function) if said.function else []
        if _fit(outline, said._replace(source="")) is Fit.CONTRADICTS and len(defined) == 1:
            return Location(path, defined[0].line, How.DEFINITION, stale=Stale.GONE, moved_from=said.line)
        if said.line > outline.lines:
            return Location(path, max(outline.lines, 1), How.DOUBTFUL, stale=Stale.GONE, moved_from=said.line)
        return Location(path, said.line, How.DOUBTFUL)


def _package(path: str, said: Said) -> str:
    """The folder of the package that a file is of, where that is known; else the file."""
    if found := _PACKAGE.match(path):
        return found[0]
    if "/" in said.path and path.endswith(f"/{said.path}"):  # a path that was shortened to where packages begin
        return f"{path.removesuffix(said.path)}{said.path.partition('/')[0]}/"
    return path


def _fit(outline: Outline, said: Said) -> Fit:
    return outline.fit(said.function, said.line, said.language, said.source)


def _common_tail(path: str, wanted: str) -> int:
    """How many names two paths have in common at their ends; what stands before a source map's colon is no folder."""
    return common_tail(path.replace(":", "/").split("/"), wanted.split("/"))


def _content(path: str) -> str:
    try:
        return _text(read_regular(Path(path)))
    except OSError:
        return ""


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")
