"""Look-ups of frame addresses in local binaries, and of the source line of a frame's call.

If a frame's binary is here, its machine code identifies the call in the function. Then the line is as certain as for a
recorded frame (`sources/frame_lines.py`). Names alone prove nothing: then the lines, and the definition, are only
candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from framedex.base.lazy import compile_on_use
from framedex.model import Location, LocationEvidence, NativeSymbol, is_local
from framedex.path_resolution.files import find_file
from framedex.text_stacks.model import TextFrame

if TYPE_CHECKING:
    from framedex.binaries import Binary
    from framedex.binaries.symbols import ElfSymbol
    from framedex.index import Index
    from framedex.sources.bodies import FunctionBodies
    from framedex.sources.calls import Span
    from framedex.sources.frame_lines import FrameLines
    from framedex.text_stacks.source_lookup.released import ReleasedSources

_MAX_OPEN_BINARIES = 16
_MAX_CALL_LENGTH = 15  # bytes: no instruction of x86 is longer
_MAX_NAMESAKES = 64  # maximum number of functions of one name examined per binary
_SAMPLE_SIZE = 256  # number of functions sampled per binary
_STANDARD = compile_on_use(r"^(?:\w[\w:<>, *&]* )?(?:std|__gnu_cxx)::")
_PLAIN = compile_on_use(r"\w+(?:::\w+)*")


@dataclass(frozen=True, slots=True)
class BinaryAddress:
    """An ELF virtual address in a binary, and the functions there, innermost inlined one first.

    `is_compiled`: the text names the compiled function or none, not a function inlined into it. `is_doubtful`: the
    binary may be a different build from the text's.
    """

    binary: Binary
    address: int
    symbols: tuple[NativeSymbol, ...]
    is_compiled: bool = True
    is_doubtful: bool = False

    @property
    def function(self) -> NativeSymbol:
        """The compiled (outermost) function at the address."""
        return self.symbols[-1]

    def find_return_address(self, is_return_address: bool) -> int:
        """Return the return address of the call there; 0 if there is no call.

        Some tools print return addresses (perf, for all frames but the first), others an address within the call (the
        sanitizers). Only an address right after a call counts as its return address.
        """
        within = self.address - is_return_address
        code = self.binary.code_around(within)
        ends = [call.return_address for call in code.calls if call.return_address >= self.address] if code else []
        nearest = min(ends, default=0)
        return nearest if nearest - self.address < _MAX_CALL_LENGTH else 0

    def complete_callee_name(self, returns_to: int, callee: str) -> str:
        """Return the name of a function called from there, with the parameters that the text may omit."""
        code = self.binary.code_around(returns_to - 1)
        target = next((call.target for call in code.calls if call.return_address == returns_to), 0) if code else 0
        name = self.binary.function_at(target) if target else ""
        return name if name.startswith(f"{callee}(") else callee


class Binaries:
    """The binaries named by frames, each opened once."""

    def __init__(self) -> None:
        self._open: dict[str, Binary] = {}

    def symbols(self, frame: TextFrame, path: str) -> tuple[NativeSymbol, ...]:
        """Return the functions at a frame's address in the binary at `path`; empty if the binary is another build."""
        found = self.find(frame, path)
        return found.symbols if found is not None else ()

    def find(self, frame: TextFrame, path: str) -> BinaryAddress | None:
        """Return a frame's position in its binary, which is at `path`.

        None if the frame has no offset, or if the binary is another build: its build-id differs, or another function is
        at the address.
        """
        if frame.offset is None and frame.function_offset is None:
            return None
        from framedex.sources.names import short_name

        binary = self.open_binary(path)
        if frame.build_id and not (binary.build_id or "").startswith(frame.build_id):
            return None
        address = frame.offset if frame.offset is not None else _function_end(binary, frame)
        if address is None:
            return None
        symbols = binary.resolve([address - frame.is_return_address])[0]
        wanted = shorten_printed_name(frame.function)
        if not symbols or (wanted and wanted not in {short_name(each.symbol) for each in symbols}):
            return None
        is_compiled = not wanted or wanted == short_name(symbols[-1].symbol)
        return BinaryAddress(binary, address, symbols, is_compiled)

    def with_offset(self, frame: TextFrame, path: str) -> TextFrame:
        """Return the frame with its offset in the binary at `path`, computed from its offset in `.text`.

        The frame is unchanged if it has no such offset, or the binary has no section `.text`.
        """
        text_address = self.open_binary(path).text_address
        if frame.text_offset is None or text_address is None:
            return frame
        return replace(frame, offset=text_address + frame.text_offset)

    def open_binary(self, path: str) -> Binary:
        """Return the binary at a path, opened at most once. The file need not be ELF."""
        from framedex.binaries import Binary

        if path not in self._open:
            if len(self._open) >= _MAX_OPEN_BINARIES:
                self._open.clear()
            self._open[path] = Binary.open(Path(path))
        return self._open[path]


def is_built_from(binary: Binary, is_defined: Callable[[str], bool]) -> bool:
    """Whether most of a binary's C-style functions, and at least one of its own C++ functions if any, are defined.

    `is_defined` tests demangled names. Only a sample of the functions is tested. A C++ program may have `main` as its
    only C-style name.
    """
    from framedex.binaries.demangle import demangle

    table = binary.symbols
    if table is None:
        return False
    sample = [table[i] for i in range(0, len(table), max(len(table) // _SAMPLE_SIZE, 1))]
    # Skip names local to a translation unit (compilers add some), and names with an underscore (linkers add them).
    plain = [each.mangled for each in sample if each.translation_unit is None and not each.mangled.startswith("_")]
    if sum(map(is_defined, plain)) * 2 <= len(plain):
        return False
    mangled = [demangle(each.mangled) for each in sample if each.mangled.startswith("_Z")]
    own = [name for name in mangled if _STANDARD.search(name) is None]
    return not own or any(map(is_defined, own))


def shorten_printed_name(printed: str) -> str:
    """Return the last component of a printed function name; empty if the text prints none."""
    from framedex.binaries.demangle import parse_printed_name
    from framedex.sources.names import short_name

    symbol = parse_printed_name(printed).symbol if printed else ""
    return short_name(symbol) if symbol else ""


def _function_end(binary: Binary, frame: TextFrame) -> int | None:
    """Return the address at `function_offset` from the named function; None unless it is unique."""
    assert frame.function_offset is not None
    starts = {
        symbol.start
        for symbol in find_symbols_named(binary, frame.function)
        if symbol.start <= symbol.start + frame.function_offset <= symbol.end  # a call may be the last instruction
    }
    return starts.pop() + frame.function_offset if len(starts) == 1 else None


def find_symbols_named(binary: Binary, printed: str) -> Iterator[ElfSymbol]:
    """Yield the symbols of a binary with a printed name, mangled or not."""
    from framedex.binaries.demangle import demangle, parse_printed_name

    table = binary.symbols
    if table is None:
        return
    if exact := table.functions_named(printed):
        yield from exact
        return
    wanted = parse_printed_name(printed).symbol
    scopes = _PLAIN.match(wanted)
    if scopes is None:
        return
    part = "".join(f"{len(word)}{word}" for word in scopes[0].split("::"))
    for symbol in table.functions_containing(part, _MAX_NAMESAKES):
        name = demangle(symbol.mangled)
        if name == wanted or name.startswith(f"{wanted}("):
            yield symbol


_MAX_CACHED_QUERIES = 2000  # frames, after which cached sources and binaries are dropped


class CompiledCall(NamedTuple):
    """A call of `callee`, a demangled name, from the function with one of the `definitions` (path and lines).

    `is_certain`: the function has only that definition. `return_address` is the return address in `binary`; None if the
    binary is not here.
    """

    definitions: tuple[tuple[str, Span], ...]
    is_certain: bool
    callee: str
    binary: Binary | None = None
    return_address: int = 0


class CallLines:
    """Finds the lines of calls in indexed sources and in release maps. Recent results are cached."""

    def __init__(self, index: Index | None, released: ReleasedSources) -> None:
        self._index, self._released = index, released
        self._queries = 0
        self._lines: FrameLines | None = None
        self._in_trees: FunctionBodies | None = None

    def find_locations(self, call: CompiledCall) -> tuple[Location, ...]:
        """Return the locations of a call, most likely first; empty if unknown."""
        bodies = self._bodies([path for path, _ in call.definitions])
        if bodies is None:
            return ()
        lines = self._frame_lines()
        callees = [call.callee]
        places = lines.find_locations(
            call.definitions, bodies, call.binary, call.return_address, callees, call.is_certain
        )
        if not places or call.binary is not None:
            return places
        defined = (Location(path, first, LocationEvidence.CANDIDATES) for path, (first, _) in call.definitions)
        return (*(replace(place, how=LocationEvidence.CANDIDATES) for place in places), *defined)

    def _frame_lines(self) -> FrameLines:
        from framedex.sources.frame_lines import FrameLines

        self._queries += 1
        if self._lines is None or self._queries > _MAX_CACHED_QUERIES:
            self._lines, self._in_trees, self._queries = FrameLines(), None, 0
        return self._lines

    def _bodies(self, paths: Sequence[str]) -> FunctionBodies | None:
        """Return the calls in the sources of these files; None if a file changed since it was indexed."""
        if (released := self._released.bodies(paths[0])) is not None:
            return released
        if self._index is None or any(is_local(path) and not self._is_unchanged(path) for path in paths):
            return None
        if self._in_trees is None:
            from framedex.sources.bodies import build_bodies

            names = self._index.names
            self._in_trees = build_bodies(names.definitions_named, names.calling_definitions_in)
        return self._in_trees

    def _is_unchanged(self, path: str) -> bool:
        assert self._index is not None
        found, state = find_file(path), self._index.names.parsed_state(path)
        return found is not None and state == (found.modified, found.size)
