"""From a frame in a text to its source: by its path, else through the index and the binaries.

A crash of JAX has frames with nothing but a symbol (absl, gdb without debug information), or nothing but a binary and
an offset (the sanitizers). A path may be one of a build machine (`external/xla/...`) or a file name alone (py-spy).
Files of this machine count; where none is meant, a source map's, a release map's, or a public repository's.
Nothing is guessed: what could be several places is handed out as candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.interchange.model import Format, Place, TextFrame
from framedex.interchange.placing.released import ReleasedSources
from framedex.model import How, Language, Location, NativeSymbol, is_local
from framedex.recall import Recall
from framedex.releases.stated import StatedReleases
from framedex.whereabouts.files import is_here
from framedex.whereabouts.precedence import Whereabouts

if TYPE_CHECKING:
    from framedex.binaries import Binary
    from framedex.index import Index
    from framedex.interchange.placing.versions import Said, Versions
    from framedex.sources.matching import Candidate
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

    def symbols(self, frame: TextFrame, path: str) -> tuple[NativeSymbol, ...]:
        """What the frame's binary, which is at a path, says of its offset; nothing if that is another build of it."""
        if frame.offset is None:
            return ()
        from framedex.binaries import Binary  # reads ELF and DWARF: few texts need it

        if path not in self._open:
            if len(self._open) >= _MOST_BINARIES:
                self._open.clear()
            self._open[path] = Binary.open(Path(path))
        binary = self._open[path]
        if frame.build_id and not (binary.build_id or "").startswith(frame.build_id):
            return ()
        return binary.resolve([frame.offset - frame.is_return_address])[0]


class Resolver:
    """Finds the source of frames: without an `index` only of those with a path, or a binary with lines, that is here,
    and of XLA's and JAX's own functions.

    `where` says which files their paths mean; by default those of the index, and absolute ones. Without `binaries`, an
    offset in one is not looked up: to open a large one takes a second. `releases` is what the text has stated so far;
    with `outlines`, what other resolvers have read of files need not be read again. `released` knows the functions of
    releases of jaxlib; by default those that framedex ships the maps of.
    """

    def __init__(
        self,
        index: Index | None,
        where: Whereabouts | None = None,
        binaries: Binaries | None = None,
        releases: StatedReleases | None = None,
        outlines: Outlines | None = None,
        released: ReleasedSources | None = None,
    ) -> None:
        self._index = index
        self._where = where or Whereabouts(index=index)
        self._binaries = binaries
        self._releases = releases or StatedReleases()
        self._outlines = outlines
        self.released = released or ReleasedSources(index, self._releases)
        """What the release maps know of the frames."""
        self._symbols: Recall[tuple[str, str, object], tuple[Location, ...]] = Recall()

    def find(self, frame: TextFrame, source: str = "") -> Found:
        """The place of a frame, and the others that it could be. Raises FramedexError where the index is damaged.

        `source` is the line of its file, where the text quotes that (`quoted.quoted_source`).
        """
        self.of_program(frame)
        is_shortened = frame.format is Format.PY_SPY
        locations = self._by_place(frame.place, _how(frame), frame.function, frame.language, is_shortened, source)
        function = frame.function
        if not locations and frame.place is None:
            function, locations = self._by_binary(frame)
        if not locations and frame.language is Language.NATIVE and not self._is_of_a_stranger(frame):
            locations = self._by_symbol(function, _file_name(frame.place.path) if frame.place else "", frame.module)
        outward = [found[0] for place in frame.outward if (found := self._by_place(place, How.EXACT))]
        first = locations[0] if locations else None
        return Found(frame, function, first, locations[1:], tuple(outward))

    def of_program(self, *frames: TextFrame) -> None:
        """What is asked for next is of the program that these frames are of: it ran with what is installed there."""
        for frame in frames:
            self.released.learn(frame.place.path if frame.place is not None else frame.module)

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
            together.append((said, self._where.files(place.path, is_shortened=frame.format is Format.PY_SPY)))
        self._versions.of_stack(together)

    def leads_nowhere(self, path: str) -> bool:
        """Whether no place with this path is found by it, whatever its line, as long as the index stays as it is."""
        if self._where.files(path) or self.released.is_published(path):
            return False
        if self._index is None:
            return True
        name = _file_name(path)
        return not self._index.names.files_named(name) and not self._index.published(Location(path, 1, How.EXACT)).url

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
        paths = self._where.files(place.path, is_shortened=is_shortened) or self._of_equal_tails(said)
        if not paths and (stated := self.released.at(place.path, place.line, how)):
            return (stated,)
        if not paths and self._index is not None:
            public = self._versions.published(self._index.published(Location(place.path, place.line, how)))
            return (public,) if public.url else ()
        locations = self._versions.places(said, paths, how)
        if len(locations) == 1 and said.function and "/" not in said.path and self._where.itself(said.path) is None:
            # A file that was looked for by its name alone.
            locations = (self._versions.held_to_its_function(said, locations[0]),)
        return self._labelled(locations)

    def _labelled(self, locations: Iterable[Location]) -> tuple[Location, ...]:
        """The locations with their public addresses; several are candidates, whatever else is known of each."""
        found = list(locations)[:_MOST_CANDIDATES]
        if len(found) > 1:
            found = [place if place.how is How.DOUBTFUL else replace(place, how=How.CANDIDATES) for place in found]
        published = found if self._index is None else map(self._index.published, found)
        return tuple(map(self.released.published, published))

    def _of_equal_tails(self, said: Said) -> tuple[str, ...]:
        """Of the files that share the end of a path equally, those in which its function is at its line."""
        if "/" not in said.path or not said.function:
            return ()
        return tuple(path for path in self._where.alike(said.path) if self._versions.bears_out(said, path))

    def _by_binary(self, frame: TextFrame) -> tuple[str, tuple[Location, ...]]:
        binary = self._binary_of(frame) if self._binaries is not None else None
        symbols = self._binaries.symbols(frame, binary) if self._binaries is not None and binary is not None else ()
        if not symbols:
            return frame.function, ()
        innermost = symbols[0]
        if innermost.path is not None and innermost.line:
            place = Place(innermost.path, innermost.line, function=innermost.name)
            locations = self._by_place(place, How.EXACT, language=Language.NATIVE)
            if locations:
                return innermost.name, locations
        return frame.function or symbols[-1].symbol, ()

    def _binary_of(self, frame: TextFrame) -> str | None:
        """Where the binary of a frame is: by its path, else by its build-id, if that is all that is known."""
        if frame.module or not frame.build_id or self._index is None:
            return self._where.itself(frame.module) if frame.module else None
        return next(filter(is_here, self._index.names.modules_built(frame.build_id)), None)

    def _is_of_a_stranger(self, frame: TextFrame) -> bool:
        """Whether a frame is of a binary that was not recorded, and its function's name proves nothing about that."""
        if self._index is None or not frame.module or "::" in frame.function or frame.function.startswith("_Z"):
            return False
        return _file_name(frame.module) not in self._index.names.module_names()

    def _by_symbol(self, symbol: str, file_name: str, module: str) -> tuple[Location, ...]:
        """The places of a symbol, in files of this name alone where a text says one."""
        may_be_released = self.released.may_know(symbol)
        if not symbol or symbol.startswith("<") or (self._index is None and not may_be_released):
            return ()
        key = symbol, file_name, (module, self.released.state()) if may_be_released else None
        return self._symbols.made(key, len(symbol) + len(module), lambda: self._named(symbol, file_name, module))

    def _named(self, text: str, file_name: str, module: str) -> tuple[Location, ...]:
        from framedex.binaries.names import readable
        from framedex.binaries.spellings import spelled
        from framedex.interchange.placing.versions import OF_EVERY_PROGRAM
        from framedex.sources.names import short_name

        def fits(path: str) -> bool:
            return not file_name or _file_name(path) == file_name

        symbol, is_cut = spelled(text)
        if not symbol:
            return ()
        names = self._index.names if self._index is not None else None
        name = readable(symbol)
        wanted = NativeSymbol(name, symbol, text, None, 0, inlined=False, unit=None)
        places = [place for place in names.places_named(name) if fits(place.path)] if names and not is_cut else []
        defined: list[Candidate] = []
        if names and symbol.partition("(")[0] not in OF_EVERY_PROGRAM:
            defined = [each for each in names.definitions_named(short_name(symbol), "cpp") if fits(each[0])]

        def known(is_readable: Callable[[str], bool]) -> tuple[Location, ...]:
            if recorded := [place for place in places if is_readable(place.path)]:
                return self._labelled(recorded)
            return self._matching(wanted, [each for each in defined if is_readable(each[0])], is_cut)

        def released() -> tuple[Location, ...]:
            definitions = self.released.definitions(symbol, module)
            return self._matching(wanted, [each for each in definitions if fits(each[0])], is_cut)

        def public() -> tuple[Location, ...]:
            """Where it was recorded, in a file that nobody has here."""
            return self._labelled(place for place in places if place.url)

        # What a text is of goes before what was recorded of another release.
        first, last = (released, tuple) if self.released.is_stated() else (tuple, released)
        return known(is_here) or first() or known(_is_mapped) or public() or last()

    def _matching(self, wanted: NativeSymbol, definitions: Sequence[Candidate], is_cut: bool) -> tuple[Location, ...]:
        """The places of those definitions that a symbol is of."""
        from framedex.sources.matching import lambdas_in, match

        how, found = match(wanted, definitions, _MOST_CANDIDATES + 1) if definitions else (None, ())
        if how is None:
            return ()
        if is_cut:  # what is missing may name a lambda in it
            found = (*found, *lambdas_in(found, definitions))
        if len(found) > _MOST_CANDIDATES:  # some of them would say nothing of the others
            return ()
        return self._labelled(Location(path, definition.line, how) for path, definition in found)


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _how(frame: TextFrame) -> How:
    """How the place of a frame is known: our own trace documents say so, other texts name the line itself."""
    if frame.format is Format.TRACE:
        return next((How(label) for label in frame.labels if label in set(How)), How.EXACT)
    return How.EXACT


def _is_mapped(path: str) -> bool:
    """Whether a path is one of a source map."""
    return not is_local(path)
