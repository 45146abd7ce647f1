"""Resolve a frame of a text to its source: by its path, else through the index and the binaries.

A JAX crash has frames with only a symbol (absl, gdb without debug information), or only a binary and an offset
(sanitizers). A path may be that of a build machine (`external/xla/...`) or a file name alone (py-spy). Local files come
first, then source maps, release maps, and public repositories. Ambiguous locations are returned as candidates, never
guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from framedex.model import GENERATING, How, Language, Location, NativeSymbol, is_local
from framedex.path_resolution.files import is_here
from framedex.path_resolution.precedence import Whereabouts
from framedex.patterns import compiled_on_use
from framedex.recall import Recall
from framedex.releases.stated import StatedReleases
from framedex.text_stacks.model import Format, Place, TextFrame
from framedex.text_stacks.placing.binaries import Binaries, InBinary, is_made_of
from framedex.text_stacks.placing.calls import Call, CallLines
from framedex.text_stacks.placing.handler_runs import describe_recorded_run
from framedex.text_stacks.placing.inward import is_inlined_in
from framedex.text_stacks.placing.kept_builds import KeptBuilds, modified_at
from framedex.text_stacks.placing.released import ReleasedLocation, ReleasedSources
from framedex.text_stacks.placing.same_build import BuildEvidence, BuildMatch

if TYPE_CHECKING:
    from framedex.binaries import Binary
    from framedex.index import Index
    from framedex.sources.calls import Span
    from framedex.sources.matching import Candidate
    from framedex.sources.outline import Outlines
    from framedex.text_stacks.placing.versions import Said, Versions

_MOST_CANDIDATES = 16
_NOT_BORNE_OUT = (How.DOUBTFUL, How.DEFINITION)
_MOST_TOGETHER = 1000  # maximum number of frames checked together per stack
_INTERCEPTED = compiled_on_use(r"^_*interceptor_(?:trampoline_)?")  # the sanitizers' wrapper of a function


@dataclass(frozen=True, slots=True)
class Found:
    """The location of a frame; `location` is None if unknown. `function` is its best name.

    `outward` are the locations of its callers named by the text. `is_doubtful`: the name is from a local binary that
    may be another build than the text's. `is_by_name`: the printed file is not here, and the locations are those of the
    function, perhaps in another release.

    A location without a local file has a `url`, or the path of a source map.
    """

    frame: TextFrame
    function: str
    location: Location | None
    candidates: tuple[Location, ...] = ()
    outward: tuple[Location, ...] = ()
    is_doubtful: bool = False
    is_by_name: bool = False


class _Placed(NamedTuple):
    """The locations of a function, and its possible definitions: file and lines of each.

    `is_certain`: there is only one definition.
    """

    locations: tuple[Location, ...] = ()
    definitions: tuple[tuple[str, Span], ...] = ()
    is_certain: bool = False


class Resolver:
    """Resolves frames to sources.

    Without an `index`, only frames with a local path, with a local binary that has lines, or of XLA's and JAX's own
    functions are resolved.

    - `where` maps printed paths to files; default: the index, and absolute paths.
    - `binaries` looks up offsets; without it none are looked up, as opening a large binary takes a second.
    - `releases` are the releases stated so far.
    - `outlines` shares parsed files with other resolvers.
    - `released` knows the functions of jaxlib releases; default: the release maps shipped with framedex.
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
        """Release map look-ups for the frames."""
        self._symbols: Recall[Hashable, _Placed] = Recall()
        self.written_before: float | None = None
        """The latest possible time of the text, in seconds of Unix time; None if unknown."""
        self.builds = BuildEvidence(self._releases)
        """The evidence of the text about the builds of local binaries."""
        self._calls: Recall[Hashable, tuple[Location, ...]] = Recall()
        self._defined: Recall[str, bool] = Recall()
        self._of_sources: dict[Path, bool] = {}
        self._kept_builds = KeptBuilds(index) if index is not None else None
        self._crashed_calls: list[TextFrame] = []  # the stack of an FFI handler's crash

    def find(self, frame: TextFrame, source: str = "", inward: TextFrame | None = None) -> Found:
        """Return the location of a frame, and other candidates. Raises FramedexError if the index is damaged.

        `source` is the quoted source line, if any (`quoted.quoted_source`). `inward` is the callee, if the text has it
        (`inward.inward_frames`).
        """
        self._learn(frame)
        frame = self._with_offset(frame)
        inward = self._with_offset(inward) if inward is not None else None
        is_shortened = frame.format is Format.PY_SPY
        locations = self._by_place(frame.place, _how(frame), frame.function, frame.language, is_shortened, source)
        function, is_doubtful, is_by_name = frame.function, False, False
        if not locations and frame.language is Language.NATIVE:
            inside = self._in_binary(frame, inward) if frame.place is None else None
            is_doubtful = inside is not None and inside.is_doubtful
            if is_doubtful and frame.function:  # the name in the text is certain
                inside, is_doubtful = None, False
            locations = self._by_lines(inside) if inside is not None else ()
            if locations and inside is not None:
                function = inside.symbols[0].name
            else:
                function = function or (inside.function.symbol if inside is not None else "")
                locations = self._by_symbol(frame, inside if inside and inside.is_compiled else None, inward)
            is_by_name = frame.place is not None and frame.place.line > 0 and bool(locations)
            if is_doubtful:
                locations = tuple(replace(location, how=How.DOUBTFUL) for location in locations)
        outward = [found[0] for place in frame.outward if (found := self._by_place(place, How.EXACT))]
        first = locations[0] if locations else None
        if frame.ffi_target:
            recorded = describe_recorded_run(self._index, frame, self._crashed_calls or (frame,))
            frame = replace(frame, labels=(*frame.labels, recorded))
        return Found(frame, function, first, locations[1:], tuple(outward), is_doubtful, is_by_name)

    def of_program(self, *frames: TextFrame) -> None:
        """Set the program of the following look-ups, from all frames of a text.

        The program ran with the packages installed there, and its messages name files that frames are in.
        """
        for frame in frames:
            self._learn(frame)
        self.released.learn_functions(frame.function for frame in frames if frame.language is Language.NATIVE)

    def of_stack(self, frames: Iterable[tuple[TextFrame, str]]) -> None:
        """Set the stack of the following look-ups: its frames, each with its quoted source line.

        The frames are checked against their files together. If one frame contradicts a file, the whole package has
        another version.
        """
        from framedex.text_stacks.placing.versions import Said

        together = []
        first = list(islice(frames, _MOST_TOGETHER))
        self._crashed_calls = [frame for frame, _ in first] if first and first[0][0].ffi_target else []
        self.builds.set_stack(self._with_offset(frame) for frame, _ in first)
        for frame, source in first:
            place = frame.place
            if place is None or not place.line or frame.format is Format.PLAIN:
                continue
            said = Said(place.path, place.line, place.function or frame.function, frame.language, source)
            together.append((said, self._where.files(place.path, is_shortened=frame.format is Format.PY_SPY)))
        self._versions.of_stack(together)

    def _learn(self, frame: TextFrame) -> None:
        self.released.learn(frame.place.path if frame.place is not None else frame.module)

    def leads_nowhere(self, path: str) -> bool:
        """Whether no line of this path can be resolved, as long as the index does not change."""
        if self._where.files(path) or self.released.is_published(path):
            return False
        if self._index is None:
            return True
        name = _file_name(path)
        return not self._index.names.files_named(name) and not self._index.published(Location(path, 1, How.EXACT)).url

    @cached_property
    def _versions(self) -> Versions:
        from framedex.sources.outline import Outlines
        from framedex.text_stacks.placing.versions import Versions  # a slow import (extractor)

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
        from framedex.text_stacks.placing.versions import Said

        said = Said(place.path, place.line, place.function or function, language, source)
        paths = self._where.files(place.path, is_shortened=is_shortened) or self._of_equal_tails(said)
        stated = self.released.location_of_path(place.path, place.line, how)
        if stated is None and "/" not in place.path and (not paths or self.released.is_stated()):
            stated = self.released.location_of_file_name(place.path, place.line)
        if stated is not None and not any(map(is_local, paths)):
            return self._in_release(stated)
        if not paths and self._index is not None:
            public = self._versions.published(self._index.published(Location(place.path, place.line, how)))
            return self.released.of_recording((public,)) if public.url else ()
        locations = self._versions.places(said, paths, how)
        if stated is not None and all(location.how in _NOT_BORNE_OUT for location in locations):
            return self._in_release(stated)
        if len(locations) == 1 and said.function and "/" not in said.path and self._where.itself(said.path) is None:
            # The file was found by its name alone.
            locations = (self._versions.held_to_its_function(said, locations[0]),)
        return self.released.of_recording(self._labelled(locations))

    def _in_release(self, found: ReleasedLocation) -> tuple[Location, ...]:
        self.released.record(found.release)
        return (found.location,)

    def _labelled(self, locations: Iterable[Location]) -> tuple[Location, ...]:
        """Return the locations with public addresses; several locations are marked as candidates unless doubtful."""
        found = list(locations)[:_MOST_CANDIDATES]
        if len(found) > 1:
            found = [place if place.how is How.DOUBTFUL else replace(place, how=How.CANDIDATES) for place in found]
        return self._published(found)

    def _published(self, locations: Iterable[Location]) -> tuple[Location, ...]:
        """Return the locations with public addresses."""
        published = locations if self._index is None else map(self._index.published, locations)
        return tuple(map(self.released.published, published))

    def _of_equal_tails(self, said: Said) -> tuple[str, ...]:
        """Return the files that share equally much of a path's end and have its function at its line."""
        if "/" not in said.path or not said.function:
            return ()
        return tuple(path for path in self._where.alike(said.path) if self._versions.bears_out(said, path))

    def _in_binary(self, frame: TextFrame, neighbour: TextFrame | None) -> InBinary | None:
        """Return a frame's position in its binary: the local file, or a stored copy of a recorded build.

        A build proved by the text comes first, then one that nothing refutes. None if all are other builds.
        """
        if self._binaries is None or (frame.offset is None and frame.function_offset is None):
            return None
        path = self._binary_of(frame)
        unproven: InBinary | None = None
        for build in self._builds(frame, path):
            found = self._binaries.find(frame, build)
            match = self.builds.match(frame, found.binary, neighbour) if found is not None else BuildMatch.OTHER
            if found is not None and match is BuildMatch.SAME:
                if build != path:
                    self.builds.use_recorded(frame.module, path)
                return found
            if found is not None and match is BuildMatch.UNKNOWN and unproven is None:
                unproven = replace(found, is_doubtful=True)
        return unproven

    def _builds(self, frame: TextFrame, path: str | None) -> Iterator[str]:
        """Yield the possible binaries of a frame: the file at its path, and stored copies of recorded builds.

        The copies come first if the file is newer than the text.
        """
        here = () if path is None else (path,)
        is_later = path is not None and self.written_before is not None and modified_at(path) > self.written_before
        if not is_later:
            yield from here
        if self._kept_builds is not None:
            yield from self._kept_builds.of(frame, path)
        if is_later:
            yield from here

    def _with_offset(self, frame: TextFrame) -> TextFrame:
        """Return the frame with its offset in the local binary, computed if the text only has the offset in `.text`."""
        if frame.text_offset is None or frame.offset is not None or self._binaries is None:
            return frame
        path = self._where.itself(frame.module)
        return self._binaries.with_offset(frame, path) if path is not None else frame

    def _binary_of(self, frame: TextFrame) -> str | None:
        """Return the path of a frame's binary: as printed, else by build-id or file name among the recorded ones."""
        if frame.module and (path := self._where.itself(frame.module)) is not None:
            return path
        if self._index is None:
            return None
        names = self._index.names
        if frame.build_id:
            return next(filter(is_here, names.modules_built(frame.build_id)), None)
        if not frame.module or "/" in frame.module:
            return None
        recorded = list(filter(is_here, names.modules_named(frame.module)))
        return recorded[0] if len(recorded) == 1 else None

    def _by_lines(self, inside: InBinary) -> tuple[Location, ...]:
        """Return the location from the debug information of a binary."""
        innermost = inside.symbols[0]
        if innermost.path is None or not innermost.line:
            return ()
        place = Place(innermost.path, innermost.line, function=innermost.name)
        return self._by_place(place, How.EXACT, language=Language.NATIVE)

    def _by_symbol(self, frame: TextFrame, inside: InBinary | None, inward: TextFrame | None) -> tuple[Location, ...]:
        """Return the line that calls the inner frame in a frame's function, else the locations of the function."""
        if self._is_of_a_stranger(frame, inside):
            return ()
        placed = self._by_name(frame, inside)
        if not placed.definitions or inward is None:
            return placed.locations
        callee = self._callee(frame, inward)
        at = (inside.binary.path, inside.address) if inside is not None else None
        key = placed.definitions, placed.is_certain, at, callee, is_inlined_in(inward, frame)
        length = sum(len(path) for path, _ in placed.definitions) + len(callee)
        made = self._calls.made(key, length, lambda: self._of_call(frame, inside, inward, callee, placed))
        return made or placed.locations

    def _of_call(
        self,
        frame: TextFrame,
        inside: InBinary | None,
        inward: TextFrame,
        callee: str,
        placed: _Placed,
    ) -> tuple[Location, ...]:
        if not callee:
            return ()
        call = Call(placed.definitions, placed.is_certain, callee)
        if inside is not None and not is_inlined_in(inward, frame):
            returns_to = inside.returns_to(frame.is_return_address)
            whole = inside.whole_name(returns_to, callee)
            call = Call(placed.definitions, placed.is_certain, whole, inside.binary, returns_to)
        return self._published(self._call_lines.places(call))

    def _callee(self, frame: TextFrame, inward: TextFrame) -> str:
        """Return the demangled name of the called function, from the frame `inward`; empty if unknown."""
        from framedex.binaries.spellings import spelled, without_version

        inside = None if is_inlined_in(inward, frame) else self._in_binary(inward, frame)
        if inside is not None and inside.is_doubtful:
            inside = None
        symbol = without_version(inside.function.symbol) if inside else spelled(inward.function).symbol
        return _INTERCEPTED.sub("", symbol)

    @cached_property
    def _call_lines(self) -> CallLines:
        return CallLines(self._index, self.released)

    def _is_of_a_stranger(self, frame: TextFrame, inside: InBinary | None) -> bool:
        """Whether a frame belongs to an unrecorded binary and its function's name does not identify the sources."""
        name = inside.function.mangled if inside is not None else frame.function
        if self._index is None or not frame.module or "::" in name or name.startswith("_Z"):
            return False
        if _file_name(frame.module) in self._index.names.module_names():
            return False
        binary = inside.binary if inside is not None else self._named_binary(frame)
        return binary is None or not self._is_of_the_sources(binary)

    def _named_binary(self, frame: TextFrame) -> Binary | None:
        """Return the local binary of a frame without an offset, if the sources define such a function."""
        if self._binaries is None or not self._is_defined(frame.function.partition("(")[0]):
            return None
        path = self._where.itself(frame.module)
        return self._binaries.opened(path) if path is not None else None

    def _is_of_the_sources(self, binary: Binary) -> bool:
        """Whether the indexed sources define most of a binary's C-style functions."""
        if binary.path not in self._of_sources:
            self._of_sources[binary.path] = is_made_of(binary, self._is_defined)
        return self._of_sources[binary.path]

    def _is_defined(self, symbol: str) -> bool:
        """Whether the indexed sources define a function with this demangled name."""
        return self._defined.made(symbol, len(symbol), lambda: self._find_defined(symbol))

    def _find_defined(self, symbol: str) -> bool:
        from framedex.binaries.names import readable
        from framedex.sources.matching import match
        from framedex.sources.names import short_name

        if self._index is None or not (defined := self._index.names.definitions_named(short_name(symbol), "cpp")):
            return False
        wanted = NativeSymbol(readable(symbol), symbol, symbol, None, 0, inlined=False, unit=None)
        return match(wanted, defined)[0] in (How.DEFINITION, How.CANDIDATES)

    def _by_name(self, frame: TextFrame, inside: InBinary | None) -> _Placed:
        """Return the locations of a frame's function, restricted to files with the printed file name, if any."""
        symbol = inside.function.symbol if inside is not None else frame.function
        file_name = _file_name(frame.place.path) if frame.place else ""
        may_be_released = self.released.may_know(symbol)
        if not symbol or symbol.startswith("<") or (self._index is None and not may_be_released):
            return _Placed()
        state = (frame.module, self.released.state()) if may_be_released else None
        key = symbol, file_name, state, inside.function if inside is not None else None
        return self._symbols.made(
            key, len(symbol) + len(frame.module), lambda: self._named(symbol, file_name, frame.module, inside)
        )

    def _named(self, text: str, file_name: str, module: str, inside: InBinary | None) -> _Placed:
        from framedex.binaries.names import readable
        from framedex.binaries.spellings import spelled
        from framedex.sources.matching import generated_scopes, match_generated
        from framedex.sources.names import short_name
        from framedex.text_stacks.placing.versions import OF_EVERY_PROGRAM

        def fits(path: str) -> bool:
            return not file_name or _file_name(path) == file_name

        symbol, is_cut = (inside.function.symbol, False) if inside is not None else spelled(text)
        if not symbol:
            return _Placed()
        names = self._index.names if self._index is not None else None
        name = readable(symbol)
        wanted = NativeSymbol(name, symbol, text, None, 0, inlined=False, unit=None)
        if inside is not None:
            wanted = replace(inside.function, path=None, line=0)
        places = [place for place in names.places_named(name) if fits(place.path)] if names and not is_cut else []
        defined: list[Candidate] = []
        if names and (inside is not None or symbol.partition("(")[0] not in OF_EVERY_PROGRAM):
            defined = [each for each in names.definitions_named(short_name(symbol), "cpp") if fits(each[0])]

        def known(is_readable: Callable[[str], bool]) -> _Placed:
            recorded = [place for place in places if is_readable(place.path)]
            matching = self._matching(wanted, [each for each in defined if is_readable(each[0])], is_cut)
            if not recorded or (inside is not None and matching.locations):
                return matching
            lines = {(each.path, each.line) for each in recorded if each.how in (How.DEFINITION, How.CANDIDATES)}
            spans = [_span(each) for each in defined if (each[0], each[1].line) in lines]
            is_certain = len(recorded) == 1 and recorded[0].how is How.DEFINITION and len(spans) == 1
            return _Placed(self._labelled(recorded), tuple(spans), is_certain)

        def generated() -> _Placed:
            """Return the message or record that the function was generated from."""
            if names is None or is_cut:
                return _Placed()
            asked = [(scope, kind) for scope in dict.fromkeys(generated_scopes(wanted)) for kind in GENERATING]
            how, found = match_generated(wanted, [each for a in asked for each in names.definitions_named(*a)])
            if how is None or file_name:
                return _Placed()
            return _Placed(self._labelled(Location(path, each.line, how) for path, each in found))

        def released() -> _Placed:
            defined = self.released.definitions(symbol, module)
            placed = self._matching(wanted, [each for each in defined.candidates if fits(each[0])], is_cut)
            if placed.locations:
                self.released.record(defined.release)
            return placed

        def public() -> _Placed:
            """Return the recorded locations in public files that are not here."""
            return _Placed(self._labelled(place for place in places if place.url))

        def recorded(placed: _Placed) -> _Placed:
            return placed._replace(locations=self.released.of_recording(placed.locations))

        # The text's own release takes precedence over a recorded one.
        first, last = (released, _Placed) if self.released.is_stated() else (_Placed, released)
        ways: tuple[Callable[[], _Placed], ...] = (
            lambda: known(is_here),
            first,
            lambda: recorded(known(_is_mapped)),
            lambda: recorded(public()),
            generated,
            last,
        )
        return next((placed for way in ways if (placed := way()).locations), _Placed())

    def _matching(self, wanted: NativeSymbol, definitions: Sequence[Candidate], is_cut: bool) -> _Placed:
        """Return the locations of the definitions that match a symbol."""
        from framedex.sources.matching import lambdas_in, match

        how, found = match(wanted, definitions, _MOST_CANDIDATES + 1) if definitions else (None, ())
        if how is None:
            return _Placed()
        if is_cut:  # the missing part may name a lambda inside
            found = (*found, *lambdas_in(found, definitions))
        if len(found) > _MOST_CANDIDATES:  # a selection would be arbitrary
            return _Placed()
        spans = () if how is How.CLASS else tuple(_span(each) for each in found if each[1].end_line > 0)
        locations = self._labelled(Location(path, definition.line, how) for path, definition in found)
        return _Placed(locations, spans, how is How.DEFINITION)


def _span(defined: Candidate) -> tuple[str, Span]:
    path, definition = defined
    return path, (definition.line, definition.end_line)


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _how(frame: TextFrame) -> How:
    """Return how a frame's location is known: our trace documents print it, other texts name the line itself."""
    if frame.format is Format.TRACE:
        return next((How(label) for label in frame.labels if label in set(How)), How.EXACT)
    return How.EXACT


def _is_mapped(path: str) -> bool:
    """Whether a path belongs to a source map."""
    return not is_local(path)
