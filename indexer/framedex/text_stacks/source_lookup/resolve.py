"""Resolve a frame of a text to its source: by its path, else through the index and the binaries.

A JAX crash has frames with only a symbol (absl, gdb without debug information), or only a binary and an offset
(sanitizers). A path may be that of a build machine (`external/xla/...`) or a file name alone (py-spy). Local files come
first, then source maps, release maps, and public repositories. Ambiguous locations are returned as candidates, never
guessed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.lazy import TextCache, compile_on_use
from framedex.model import Language, Location, LocationEvidence, is_local
from framedex.path_resolution.files import file_exists
from framedex.path_resolution.precedence import PathResolver
from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks.model import StackFormat, TextFrame, TextLocation
from framedex.text_stacks.source_lookup.binaries import Binaries, BinaryAddress, CallLines, CompiledCall, is_built_from
from framedex.text_stacks.source_lookup.builds import BuildEvidence, BuildMatch, RecordedBuilds, read_modification_time
from framedex.text_stacks.source_lookup.frame_context import (
    FoundFrame,
    describe_recorded_run,
    is_inlined_in,
    printed_evidence,
)
from framedex.text_stacks.source_lookup.functions import FunctionLocations, FunctionSearch
from framedex.text_stacks.source_lookup.released import MAX_CANDIDATES, ReleasedLocation, ReleasedSources
from framedex.texts.startup import format_traced_line

if TYPE_CHECKING:
    from framedex.binaries import Binary
    from framedex.index import Index
    from framedex.model import CompiledModule
    from framedex.sources.outline import Outlines
    from framedex.text_stacks.source_lookup.versions import QuotedLocation, VersionChecks

_OP_NAME_EVIDENCE = LocationEvidence.OP_NAME
_UNCONFIRMED = (LocationEvidence.DOUBTFUL, LocationEvidence.DEFINITION)
_MAX_FRAMES_OF_STACK = 1000  # maximum number of frames checked together per stack
_INTERCEPTOR_PREFIX = compile_on_use(r"^_*interceptor_(?:trampoline_)?")  # the sanitizers' wrapper of a function


class Resolver:
    """Resolves frames to sources.

    Without an `index`, only frames with a local path, with a local binary that has lines, or of XLA's and JAX's own
    functions are resolved.

    - `path_resolver` maps printed paths to files; default: the index, and absolute paths.
    - `binaries` looks up offsets. Without it no offsets are looked up, because opening a large binary takes a second.
    - `releases` are the releases that the text has stated so far.
    - `outlines` caches parsed files, and can be shared with other resolvers.
    - `released` looks up functions of jaxlib releases; default: in the release maps shipped with framedex.
    """

    def __init__(
        self,
        index: Index | None,
        path_resolver: PathResolver | None = None,
        binaries: Binaries | None = None,
        releases: StatedReleases | None = None,
        outlines: Outlines | None = None,
        released: ReleasedSources | None = None,
    ) -> None:
        self._index = index
        self._path_resolver = path_resolver or PathResolver(index=index)
        self._binaries = binaries
        self._releases = releases or StatedReleases()
        self._outlines = outlines
        self.released = released or ReleasedSources(index, self._releases)
        """Release map look-ups for the frames."""
        self._functions = FunctionSearch(index, self.released)
        self.written_before: float | None = None
        """The latest possible time of the text, in seconds of Unix time; None if unknown."""
        self.builds = BuildEvidence(self._releases)
        """The evidence of the text about the builds of local binaries."""
        self._op_lines: TextCache[str, tuple[Location, ...]] = TextCache()
        self._calls_found: TextCache[Hashable, tuple[Location, ...]] = TextCache()
        self._built_from_sources: dict[Path, bool] = {}
        self._kept_builds = RecordedBuilds(index) if index is not None else None
        self._crashed_calls: list[TextFrame] = []  # the stack of an FFI handler's crash

    def find(self, frame: TextFrame, source: str = "", callee_frame: TextFrame | None = None) -> FoundFrame:
        """Return the location of a frame, and other candidates. Raises FramedexError if the index is damaged.

        `source` is the quoted source line, if any (`frame_context.quoted_source`). `callee_frame` is the callee, if the
        text has it (`frame_context.find_callees`).
        """
        self._infer_release(frame)
        frame = self._add_offset(frame)
        callee_frame = self._add_offset(callee_frame) if callee_frame is not None else None
        is_shortened = frame.format is StackFormat.PY_SPY
        locations = self._resolve_printed_location(
            frame.place, printed_evidence(frame), frame.function, frame.language, is_shortened, source
        )
        if not locations and frame.op_names:
            locations = self._locate_ops(frame.op_names)
        function, is_doubtful, is_by_name = frame.function, False, False
        if not locations and frame.language is Language.NATIVE:
            binary_address = self._find_in_binary(frame, callee_frame) if frame.place is None else None
            is_doubtful = binary_address is not None and binary_address.is_doubtful
            if is_doubtful and frame.function:  # the name in the text is certain
                binary_address, is_doubtful = None, False
            locations = self._locate_by_debug_lines(binary_address) if binary_address is not None else ()
            if locations and binary_address is not None:
                function = binary_address.symbols[0].name
            else:
                function = function or (binary_address.function.symbol if binary_address is not None else "")
                locations = self._locate_by_symbol(
                    frame, binary_address if binary_address and binary_address.is_compiled else None, callee_frame
                )
            is_by_name = frame.place is not None and frame.place.line > 0 and bool(locations)
            if is_doubtful:
                locations = tuple(replace(location, how=LocationEvidence.DOUBTFUL) for location in locations)
        outward = [
            found[0]
            for place in frame.outward
            if (found := self._resolve_printed_location(place, LocationEvidence.EXACT))
        ]
        if frame.compiled_module and (module := self._find_module(frame.compiled_module)) is not None:
            locations = self.released.add_addresses(
                replace(each.line.location, how=_OP_NAME_EVIDENCE) for each in module.lines
            )
            outward = [module.compiled_by.location] if module.compiled_by is not None else []
            labels = (f"line {each.line.location.line}: {format_traced_line(each)}" for each in module.lines)
            frame = replace(frame, labels=tuple(labels))
        first = locations[0] if locations else None
        if frame.ffi_target:
            recorded = describe_recorded_run(self._index, frame, self._crashed_calls or (frame,))
            frame = replace(frame, labels=(*frame.labels, recorded))
        return FoundFrame(frame, function, first, locations[1:], tuple(outward), is_doubtful, is_by_name)

    def set_program(self, *frames: TextFrame) -> None:
        """Set the program of the following look-ups, from all frames of a text.

        Paths of frames show which jaxlib release was installed. Messages name files that define the frames' functions.
        """
        for frame in frames:
            self._infer_release(frame)
        self.released.set_function_names(frame.function for frame in frames if frame.language is Language.NATIVE)

    def set_stack(self, frames: Iterable[tuple[TextFrame, str]]) -> None:
        """Set the stack of the following look-ups: its frames, each with its quoted source line.

        All frames are checked together. If one frame contradicts its local file, the whole local package counts as
        another version than the text's.
        """
        from framedex.text_stacks.source_lookup.versions import QuotedLocation

        together = []
        first = list(islice(frames, _MAX_FRAMES_OF_STACK))
        self._crashed_calls = [frame for frame, _ in first] if first and first[0][0].ffi_target else []
        self.builds.set_stack(self._add_offset(frame) for frame, _ in first)
        for frame, source in first:
            place = frame.place
            if place is None or not place.line or frame.format is StackFormat.PLAIN:
                continue
            quoted = QuotedLocation(place.path, place.line, place.function or frame.function, frame.language, source)
            together.append(
                (quoted, self._path_resolver.files(place.path, is_shortened=frame.format is StackFormat.PY_SPY))
            )
        self._versions.set_stack(together)

    def _infer_release(self, frame: TextFrame) -> None:
        self.released.infer_release(frame.place.path if frame.place is not None else frame.module)

    def is_unresolvable(self, path: str) -> bool:
        """Whether no line of this path can be resolved, as long as the index does not change."""
        if self._path_resolver.files(path) or self.released.is_published(path):
            return False
        if self._index is None:
            return True
        name = _file_name(path)
        return (
            not self._index.names.files_named(name)
            and not self._index.add_public_url(Location(path, 1, LocationEvidence.EXACT)).url
        )

    @cached_property
    def _versions(self) -> VersionChecks:
        from framedex.sources.outline import Outlines
        from framedex.text_stacks.source_lookup.versions import VersionChecks

        return VersionChecks(self._index, self._outlines or Outlines(), self._releases)

    def _resolve_printed_location(
        self,
        place: TextLocation | None,
        how: LocationEvidence,
        function: str = "",
        language: Language | None = None,
        is_shortened: bool = False,
        source: str = "",
    ) -> tuple[Location, ...]:
        if place is None or not place.line:
            return ()
        from framedex.text_stacks.source_lookup.versions import QuotedLocation

        quoted = QuotedLocation(place.path, place.line, place.function or function, language, source)
        paths = self._path_resolver.files(place.path, is_shortened=is_shortened) or self._files_with_equal_tails(quoted)
        stated = self.released.location_of_path(place.path, place.line, how)
        if stated is None and "/" not in place.path and (not paths or self.released.states_release()):
            stated = self.released.location_of_file_name(place.path, place.line)
        if stated is not None and not any(map(is_local, paths)):
            return self._use_release(stated)
        if not paths and self._index is not None:
            public = self._versions.check_release(self._index.add_public_url(Location(place.path, place.line, how)))
            return self.released.check_recorded_release((public,)) if public.url else ()
        locations = self._versions.find_locations(quoted, paths, how)
        if stated is not None and all(location.how in _UNCONFIRMED for location in locations):
            return self._use_release(stated)
        if (
            len(locations) == 1
            and quoted.function
            and "/" not in quoted.path
            and self._path_resolver.find_directly(quoted.path) is None
        ):
            # The file was found by its name alone.
            locations = (self._versions.check_function(quoted, locations[0]),)
        return self.released.check_recorded_release(self.released.label_locations(locations))

    def _locate_ops(self, names: Sequence[str]) -> tuple[Location, ...]:
        """Return the lines of the recorded ops with these names; several lines of one op are candidates."""
        if self._index is None:
            return ()
        lines = [self._find_op_lines(self._index, name) for name in names]
        found = list(dict.fromkeys(line for lines_of_op in lines for line in lines_of_op))[:MAX_CANDIDATES]
        is_ambiguous = any(len(lines_of_op) > 1 for lines_of_op in lines)
        return self.released.label_locations(found) if is_ambiguous else self.released.add_addresses(found)

    def _find_module(self, name: str) -> CompiledModule | None:
        return self._index.compiled_module(name) if self._index is not None else None

    def _find_op_lines(self, index: Index, name: str) -> Sequence[Location]:
        return self._op_lines.get_or_make(name, len(name), lambda: tuple(index.names.find_op_lines(name)))

    def _use_release(self, found: ReleasedLocation) -> tuple[Location, ...]:
        self.released.mark_used(found.release)
        return (found.location,)

    def _files_with_equal_tails(self, quoted: QuotedLocation) -> tuple[str, ...]:
        """Return the files that share equally much of a path's end and have its function at its line."""
        if "/" not in quoted.path or not quoted.function:
            return ()
        files = self._path_resolver.files_with_equal_tails(quoted.path)
        return tuple(path for path in files if self._versions.confirms(quoted, path))

    def _find_in_binary(self, frame: TextFrame, neighbour: TextFrame | None) -> BinaryAddress | None:
        """Return a frame's position in its binary: the local file, or a stored copy of a recorded build.

        A build proved by the text comes first, then one that nothing refutes. None if all are other builds.
        """
        if self._binaries is None or (frame.offset is None and frame.function_offset is None):
            return None
        path = self._find_binary_path(frame)
        unproven: BinaryAddress | None = None
        for build in self._possible_builds(frame, path):
            found = self._binaries.find(frame, build)
            match_symbol = self.builds.match(frame, found.binary, neighbour) if found is not None else BuildMatch.OTHER
            if found is not None and match_symbol is BuildMatch.SAME:
                if build != path:
                    self.builds.use_recorded(frame.module, path)
                return found
            if found is not None and match_symbol is BuildMatch.UNKNOWN and unproven is None:
                unproven = replace(found, is_doubtful=True)
        return unproven

    def _possible_builds(self, frame: TextFrame, path: str | None) -> Iterator[str]:
        """Yield the possible binaries of a frame: the file at its path, and stored copies of recorded builds.

        The copies come first if the file is newer than the text.
        """
        here = () if path is None else (path,)
        is_later = (
            path is not None and self.written_before is not None and read_modification_time(path) > self.written_before
        )
        if not is_later:
            yield from here
        if self._kept_builds is not None:
            yield from self._kept_builds.find_copies(frame, path)
        if is_later:
            yield from here

    def _add_offset(self, frame: TextFrame) -> TextFrame:
        """Return the frame with its offset in the local binary, computed if the text only has the offset in `.text`."""
        if frame.text_offset is None or frame.offset is not None or self._binaries is None:
            return frame
        path = self._path_resolver.find_directly(frame.module)
        return self._binaries.with_offset(frame, path) if path is not None else frame

    def _find_binary_path(self, frame: TextFrame) -> str | None:
        """Return the path of a frame's binary: as printed, else by build-id or file name among the recorded ones."""
        if frame.module and (path := self._path_resolver.find_directly(frame.module)) is not None:
            return path
        if self._index is None:
            return None
        names = self._index.names
        if frame.build_id:
            return next(filter(file_exists, names.modules_with_build_id(frame.build_id)), None)
        if not frame.module or "/" in frame.module:
            return None
        recorded = list(filter(file_exists, names.modules_named(frame.module)))
        return recorded[0] if len(recorded) == 1 else None

    def _locate_by_debug_lines(self, binary_address: BinaryAddress) -> tuple[Location, ...]:
        """Return the location from the debug information of a binary."""
        innermost = binary_address.symbols[0]
        if innermost.path is None or not innermost.line:
            return ()
        place = TextLocation(innermost.path, innermost.line, function=innermost.name)
        return self._resolve_printed_location(place, LocationEvidence.EXACT, language=Language.NATIVE)

    def _locate_by_symbol(
        self, frame: TextFrame, binary_address: BinaryAddress | None, callee_frame: TextFrame | None
    ) -> tuple[Location, ...]:
        """Return the line that calls the inner frame in a frame's function, else the locations of the function."""
        if self._is_unrelated_function(frame, binary_address):
            return ()
        function = binary_address.function if binary_address is not None else None
        name = function.symbol if function is not None else frame.function
        file_name = _file_name(frame.place.path) if frame.place else ""
        placed = self._functions.find(name, file_name, frame.module, function)
        if not placed.definitions or callee_frame is None:
            return placed.locations
        callee = self._callee_name(frame, callee_frame)
        at = (binary_address.binary.path, binary_address.address) if binary_address is not None else None
        key = placed.definitions, placed.is_certain, at, callee, is_inlined_in(callee_frame, frame)
        length = sum(len(path) for path, _ in placed.definitions) + len(callee)
        made = self._calls_found.get_or_make(
            key, length, lambda: self._locate_call(frame, binary_address, callee_frame, callee, placed)
        )
        return made or placed.locations

    def _locate_call(
        self,
        frame: TextFrame,
        binary_address: BinaryAddress | None,
        callee_frame: TextFrame,
        callee: str,
        placed: FunctionLocations,
    ) -> tuple[Location, ...]:
        if not callee:
            return ()
        call = CompiledCall(placed.definitions, placed.is_certain, callee)
        if binary_address is not None and not is_inlined_in(callee_frame, frame):
            returns_to = binary_address.find_return_address(frame.is_return_address)
            whole = binary_address.complete_callee_name(returns_to, callee)
            call = CompiledCall(placed.definitions, placed.is_certain, whole, binary_address.binary, returns_to)
        return self.released.add_addresses(self._call_lines.find_locations(call))

    def _callee_name(self, frame: TextFrame, callee_frame: TextFrame) -> str:
        """Return the demangled name of the called function, from the frame `callee_frame`; empty if unknown."""
        from framedex.binaries.demangle import parse_printed_name, strip_version

        binary_address = None if is_inlined_in(callee_frame, frame) else self._find_in_binary(callee_frame, frame)
        if binary_address is not None and binary_address.is_doubtful:
            binary_address = None
        symbol = (
            strip_version(binary_address.function.symbol)
            if binary_address
            else parse_printed_name(callee_frame.function).symbol
        )
        return _INTERCEPTOR_PREFIX.sub("", symbol)

    @cached_property
    def _call_lines(self) -> CallLines:
        return CallLines(self._index, self.released)

    def _is_unrelated_function(self, frame: TextFrame, binary_address: BinaryAddress | None) -> bool:
        """Whether a frame belongs to an unrecorded binary and its function's name does not identify the sources."""
        name = binary_address.function.mangled if binary_address is not None else frame.function
        if self._index is None or not frame.module or "::" in name or name.startswith("_Z"):
            return False
        if _file_name(frame.module) in self._index.names.module_names():
            return False
        binary = binary_address.binary if binary_address is not None else self._find_named_binary(frame)
        return binary is None or not self._is_built_from_sources(binary)

    def _find_named_binary(self, frame: TextFrame) -> Binary | None:
        """Return the local binary of a frame without an offset, if the sources define such a function."""
        if self._binaries is None or not self._functions.is_defined(frame.function.partition("(")[0]):
            return None
        path = self._path_resolver.find_directly(frame.module)
        return self._binaries.open_binary(path) if path is not None else None

    def _is_built_from_sources(self, binary: Binary) -> bool:
        """Whether the indexed sources define most of a binary's C-style functions."""
        if binary.path not in self._built_from_sources:
            self._built_from_sources[binary.path] = is_built_from(binary, self._functions.is_defined)
        return self._built_from_sources[binary.path]


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]
