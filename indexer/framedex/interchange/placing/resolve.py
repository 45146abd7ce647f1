"""From a frame in a text to its source: by its path, else through the index and the binaries.

A crash of JAX has frames with nothing but a symbol (absl, gdb without debug information), or nothing but a binary and
an offset (the sanitizers). A path may be one of a build machine (`external/xla/...`) or a file name alone (py-spy).
Files of this machine count; where none is meant, a source map's, or a public repository's.
Nothing is guessed: what could be several places is handed out as candidates.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.interchange.model import Format, Place, TextFrame
from framedex.model import How, Language, Location, NativeSymbol, is_local
from framedex.recall import Recall
from framedex.releases.stated import StatedReleases

if TYPE_CHECKING:
    from framedex.binaries import Binary
    from framedex.index import Index
    from framedex.interchange.placing.versions import Said, Versions
    from framedex.sources.outline import Outlines

_MOST_CANDIDATES = 16
_MOST_BINARIES = 16
_MOST_TOGETHER = 1000  # frames of one stack


@dataclass(frozen=True, slots=True)
class Found:
    """Where a frame is: `location` is None where nothing is known. `function` is its best name, `outward` the places
    of its callers that the text names.

    A location whose file is not here has a `url`, or the path of a source map.
    """

    frame: TextFrame
    function: str
    location: Location | None
    candidates: tuple[Location, ...] = ()
    outward: tuple[Location, ...] = ()


class Binaries:
    """The binaries that frames name, each opened once."""

    def __init__(self) -> None:
        self._open: dict[str, Binary] = {}

    def symbols(self, frame: TextFrame) -> tuple[NativeSymbol, ...]:
        """What the frame's binary says of its offset; nothing if it is not here, or another build of it."""
        if not frame.module or frame.offset is None or not Path(frame.module).is_file():
            return ()
        from framedex.binaries import Binary  # reads ELF and DWARF: few texts need it

        if frame.module not in self._open:
            if len(self._open) >= _MOST_BINARIES:
                self._open.clear()
            self._open[frame.module] = Binary.open(Path(frame.module))
        binary = self._open[frame.module]
        if frame.build_id and not (binary.build_id or "").startswith(frame.build_id):
            return ()
        return binary.resolve([frame.offset - frame.is_return_address])[0]


class Resolver:
    """Finds the source of frames: without an `index` only of those with a path, or a binary with lines, that is here.

    Without `binaries`, an offset in one is not looked up: to open a large one takes a second.
    `folders` are where relative paths may begin, `there` maps the path of another machine by the user's rules (a
    relative one counts from `sources.BUILD_FOLDER`), and `elsewhere` finds the files that may be meant where the index
    knows none that is here. `releases` is what the text has stated so far; with `outlines`, what other resolvers have
    read of files need not be read again.
    """

    def __init__(
        self,
        index: Index | None,
        folders: Sequence[Path] = (),
        binaries: Binaries | None = None,
        there: Callable[[str], str | None] = lambda path: None,
        elsewhere: Callable[[str], Sequence[str]] = lambda path: (),
        releases: StatedReleases | None = None,
        outlines: Outlines | None = None,
    ) -> None:
        self._index = index
        self._folders = folders
        self._binaries = binaries
        self._there = there
        self._elsewhere = elsewhere
        self._releases = releases or StatedReleases()
        self._outlines = outlines
        self._paths: Recall[tuple[str, bool], tuple[str, ...]] = Recall()
        self._symbols: Recall[tuple[str, str], tuple[Location, ...]] = Recall()

    def find(self, frame: TextFrame, source: str = "") -> Found:
        """The place of a frame, and the others that it could be. Raises FramedexError where the index is damaged.

        `source` is the line of its file, where the text quotes that (`quoted.quoted_source`).
        """
        is_shortened = frame.format is Format.PY_SPY
        locations = self._by_place(frame.place, _how(frame), frame.function, frame.language, is_shortened, source)
        function = frame.function
        if not locations and frame.place is None:
            function, locations = self._by_binary(frame)
        if not locations and frame.language is Language.NATIVE and not self._is_of_a_stranger(frame):
            locations = self._by_symbol(function, _file_name(frame.place.path) if frame.place else "")
        outward = [found[0] for place in frame.outward if (found := self._by_place(place, How.EXACT))]
        first = locations[0] if locations else None
        return Found(frame, function, first, locations[1:], tuple(outward))

    def of_stack(self, frames: Iterable[tuple[TextFrame, str]]) -> None:
        """What is asked for next is of a stack with these frames, with the source that the text quotes for each.

        They are held against their files together: a package that one of them contradicts is of another version.
        """
        from framedex.interchange.placing.versions import Said

        together = []
        for frame, source in islice(frames, _MOST_TOGETHER):
            place = frame.place
            if place is None or not place.line or frame.format is Format.PLAIN:
                continue
            said = Said(place.path, place.line, place.function or frame.function, frame.language, source)
            together.append((said, self._files(place.path, frame.format is Format.PY_SPY)))
        self._versions.of_stack(together)

    @cached_property
    def _versions(self) -> Versions:
        from framedex.interchange.placing.versions import Versions  # with the extractor: a log may have no frame
        from framedex.sources.outline import Outlines

        return Versions(self._index, self._outlines or Outlines(), self._releases)

    def _by_place(
        self,
        place: Place | None,
        how: How,
        function: str = "",
        language: Language | None = None,
        is_shortened: bool = False,
        source: str = "",
    ) -> tuple[Location, ...]:
        if place is None or not place.line:
            return ()
        from framedex.interchange.placing.versions import Said

        said = Said(place.path, place.line, place.function or function, language, source)
        paths = self._files(place.path, is_shortened) or self._of_equal_tails(said)
        if not paths and self._index is not None:
            public = self._versions.published(self._index.published(Location(place.path, place.line, how)))
            return (public,) if public.url else ()
        locations = self._versions.places(said, paths, how)
        if len(locations) == 1 and said.function and "/" not in said.path and not self._is_here(said.path):
            # A file that the index knows, by its name alone.
            locations = (self._versions.held_to_its_function(said, locations[0]),)
        return self._labelled(locations)

    def _labelled(self, locations: Iterable[Location]) -> tuple[Location, ...]:
        """The locations with their public addresses; several are candidates, whatever else is known of each."""
        found = list(locations)[:_MOST_CANDIDATES]
        if len(found) > 1:
            found = [place if place.how is How.DOUBTFUL else replace(place, how=How.CANDIDATES) for place in found]
        return tuple(found if self._index is None else map(self._index.published, found))

    def _files(self, name: str, is_shortened: bool) -> tuple[str, ...]:
        """The files that a path in a text may mean; several where it says too little."""
        key = name, is_shortened
        return self._paths.made(key, len(name), lambda: tuple(self._look_for(name, is_shortened))[:_MOST_CANDIDATES])

    def _look_for(self, name: str, is_shortened: bool) -> Sequence[str]:
        if name.startswith("<") or "\0" in name:
            return ()
        by_rule = self._by_rule(name)
        if by_rule is not None:
            return (by_rule,)
        beside = self._beside(name)
        if beside and not is_shortened:
            return beside
        paths = self._index.names.files_named(_file_name(name)) if self._index is not None else ()
        known = _fitting(name, {path: path for path in paths if _is_file(path)})
        if beside or len(known) > 1:
            # The end of several paths: whatever else has it, in a folder or a tree, may be meant as well.
            return list(dict.fromkeys((*beside, *known, *(self._elsewhere(name) if "/" in name else ()))))
        if known:
            return known
        if found := self._elsewhere(name):
            return _with_equals(name, found, [path for path in paths if _is_file(path)])
        # What stands before the colon is the source map, and no folder of the file's.
        return _fitting(name, {path.replace(":", ":/", 1): path for path in paths if _is_mapped(path)})

    def _by_rule(self, name: str) -> str | None:
        """Where the user's rules say that a path is."""
        from framedex.sources.pathmap import BUILD_FOLDER

        return self._there(os.path.normpath(os.path.join(BUILD_FOLDER, name)))  # noqa: PTH118

    def _is_here(self, name: str) -> bool:
        """Whether a path leads to a file by itself, from one of the folders or by a rule."""
        return bool(self._beside(name)) or self._by_rule(name) is not None

    def _beside(self, name: str) -> tuple[str, ...]:
        """The file at a path, which may begin in one of the folders, or in the home folder (IPython abbreviates it)."""
        if name.startswith("~/"):
            name = os.path.expanduser(name)  # noqa: PTH111 - paths of texts may be no valid Path
        for folder in ("/", *map(str, self._folders)):
            path = os.path.join(folder, name)  # noqa: PTH118 - paths of texts may be no valid Path
            if (folder != "/" or name.startswith("/")) and _is_file(path):
                return (os.path.realpath(path),)
        return ()

    def _of_equal_tails(self, said: Said) -> tuple[str, ...]:
        """Of the files that share the end of a path equally, those in which its function is at its line."""
        if self._index is None or "/" not in said.path or not said.function:
            return ()
        from framedex.sources.locate import TreeFiles

        paths = self._index.names.files_named(_file_name(said.path))
        alike = TreeFiles(path for path in paths if _is_file(path)).alike(said.path)
        return tuple(path for path in alike[:_MOST_CANDIDATES] if self._versions.bears_out(said, path))

    def _by_binary(self, frame: TextFrame) -> tuple[str, tuple[Location, ...]]:
        symbols = self._binaries.symbols(self._with_module(frame)) if self._binaries is not None else ()
        if not symbols:
            return frame.function, ()
        innermost = symbols[0]
        if innermost.path is not None and innermost.line:
            place = Place(innermost.path, innermost.line, function=innermost.name)
            locations = self._by_place(place, How.EXACT, language=Language.NATIVE)
            if locations:
                return innermost.name, locations
        return frame.function or symbols[-1].symbol, ()

    def _with_module(self, frame: TextFrame) -> TextFrame:
        """The frame with the binary of its build-id, where that is all that is known and it was recorded."""
        if frame.module or not frame.build_id or self._index is None:
            return frame
        known = next((path for path in self._index.names.modules_built(frame.build_id) if _is_file(path)), "")
        return replace(frame, module=known)

    def _is_of_a_stranger(self, frame: TextFrame) -> bool:
        """Whether a frame is of a binary that was not recorded, and its function's name proves nothing about that."""
        if self._index is None or not frame.module or "::" in frame.function or frame.function.startswith("_Z"):
            return False
        return _file_name(frame.module) not in self._index.names.module_names()

    def _by_symbol(self, symbol: str, file_name: str) -> tuple[Location, ...]:
        """The places of a symbol, in files of this name alone where a text says one."""
        index = self._index
        if index is None or not symbol or symbol.startswith("<"):
            return ()
        key = symbol, file_name
        return self._symbols.made(key, len(symbol), lambda: self._named(index, symbol, file_name))

    def _named(self, index: Index, text: str, file_name: str) -> tuple[Location, ...]:
        from framedex.binaries.names import readable
        from framedex.binaries.spellings import spelled
        from framedex.interchange.placing.versions import OF_EVERY_PROGRAM
        from framedex.sources.matching import lambdas_in, match
        from framedex.sources.names import short_name

        def fits(path: str) -> bool:
            return not file_name or _file_name(path) == file_name

        symbol, is_cut = spelled(text)
        if not symbol:
            return ()
        name = readable(symbol)
        places = [place for place in index.names.recorded_places(name) if fits(place.path)] if not is_cut else []
        for is_readable in (_is_file, _is_mapped):
            if recorded := [place for place in places if is_readable(place.path)]:
                return self._labelled(recorded)
        wanted = NativeSymbol(name, symbol, text, None, 0, inlined=False, unit=None)
        definitions = [each for each in index.names.definitions_named(short_name(symbol), "cpp") if fits(each[0])]
        if symbol.partition("(")[0] in OF_EVERY_PROGRAM:
            definitions = []
        for is_readable in (_is_file, _is_mapped):
            readable_ones = [each for each in definitions if is_readable(each[0])]
            how, found = match(wanted, readable_ones, _MOST_CANDIDATES + 1)
            if how is not None:
                if is_cut:  # what is missing may name a lambda in it
                    found = (*found, *lambdas_in(found, readable_ones))
                if len(found) > _MOST_CANDIDATES:  # some of them would say nothing of the others
                    return ()
                return self._labelled(Location(path, definition.line, how) for path, definition in found)
        # Recorded where nobody has the file, which may be public.
        return self._labelled(place for place in places if place.url)


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _fitting(name: str, files: Mapping[str, str]) -> Sequence[str]:
    """The files, by the paths that they go by, which a name in a text may mean."""
    from framedex.sources.locate import TreeFiles

    known = TreeFiles(files)
    same = known.same_file(name)
    # A file name alone, as py-spy prints it, fits several, and so may the end of a path; where more of it was printed
    # than files have in common, that proves nothing.
    found = (same,) if same is not None else known.ending_in(name)
    return tuple(files[path] for path in found)


def _with_equals(name: str, found: Sequence[str], paths: Sequence[str]) -> Sequence[str]:
    """The files that were found for a path, and those of other trees whose ends it shares no less."""
    from framedex.sources.locate import TreeFiles

    alike = TreeFiles({*found, *paths}).alike(name)
    return list(dict.fromkeys((*found, *alike))) if set(found).intersection(alike) else found


def _how(frame: TextFrame) -> How:
    """How the place of a frame is known: our own trace documents say so, other texts name the line itself."""
    if frame.format is Format.TRACE:
        return next((How(label) for label in frame.labels if label in set(How)), How.EXACT)
    return How.EXACT


def _is_file(path: str) -> bool:
    from framedex.sources.files import found_file

    return found_file(path) is not None


def _is_mapped(path: str) -> bool:
    """Whether a path is one of a source map."""
    return not is_local(path)
