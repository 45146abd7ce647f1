"""Look-ups of frame addresses in local binaries, if these are the text's builds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.model import NativeSymbol
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import TextFrame

if TYPE_CHECKING:
    from framedex.binaries import Binary
    from framedex.binaries.symbols import ElfSymbol

_MOST_BINARIES = 16
_LONGEST_CALL = 15  # bytes: no instruction of x86 is longer
_MOST_NAMESAKES = 64  # maximum number of functions of one name examined per binary
_SAMPLED = 256  # number of functions sampled per binary
_STANDARD = compiled_on_use(r"^(?:\w[\w:<>, *&]* )?(?:std|__gnu_cxx)::")
_PLAIN = compiled_on_use(r"\w+(?:::\w+)*")


@dataclass(frozen=True, slots=True)
class InBinary:
    """An ELF virtual address in a binary, and the functions there, innermost inlined one first.

    `is_compiled`: the text names the compiled function or none, not a function inlined into it. `is_doubtful`: the
    binary may be another build than the text's.
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

    def returns_to(self, is_return_address: bool) -> int:
        """Return the return address of the call there; 0 if there is no call.

        Some tools print return addresses (perf, for all frames but the first), others an address within the call (the
        sanitizers). Only an address right after a call counts as its return address.
        """
        within = self.address - is_return_address
        code = self.binary.code_around(within)
        ends = [call.returns_to for call in code.calls if call.returns_to >= self.address] if code else []
        nearest = min(ends, default=0)
        return nearest if nearest - self.address < _LONGEST_CALL else 0

    def whole_name(self, returns_to: int, callee: str) -> str:
        """Return the name of a function called from there, with the parameters that the text may omit."""
        code = self.binary.code_around(returns_to - 1)
        target = next((call.target for call in code.calls if call.returns_to == returns_to), 0) if code else 0
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

    def find(self, frame: TextFrame, path: str) -> InBinary | None:
        """Return a frame's position in its binary, which is at `path`.

        None if the frame has no offset, or if the binary is another build: its build-id differs, or another function is
        at the address.
        """
        if frame.offset is None and frame.function_offset is None:
            return None
        from framedex.sources.names import short_name

        binary = self.opened(path)
        if frame.build_id and not (binary.build_id or "").startswith(frame.build_id):
            return None
        address = frame.offset if frame.offset is not None else _behind_name(binary, frame)
        if address is None:
            return None
        symbols = binary.resolve([address - frame.is_return_address])[0]
        wanted = short_name_of(frame.function)
        if not symbols or (wanted and wanted not in {short_name(each.symbol) for each in symbols}):
            return None
        is_compiled = not wanted or wanted == short_name(symbols[-1].symbol)
        return InBinary(binary, address, symbols, is_compiled)

    def with_offset(self, frame: TextFrame, path: str) -> TextFrame:
        """Return the frame with its offset in the binary at `path`, computed from its offset in `.text`.

        The frame is unchanged if it has no such offset, or the binary has no section `.text`.
        """
        text_address = self.opened(path).text_address
        if frame.text_offset is None or text_address is None:
            return frame
        return replace(frame, offset=text_address + frame.text_offset)

    def opened(self, path: str) -> Binary:
        """Return the binary at a path, opened at most once. The file need not be ELF."""
        from framedex.binaries import Binary  # reads ELF and DWARF: few texts need it

        if path not in self._open:
            if len(self._open) >= _MOST_BINARIES:
                self._open.clear()
            self._open[path] = Binary.open(Path(path))
        return self._open[path]


def is_made_of(binary: Binary, is_defined: Callable[[str], bool]) -> bool:
    """Whether most of a binary's C-style functions, and at least one of its own C++ functions if any, are defined.

    `is_defined` tests demangled names. Only a sample of the functions is tested. A C++ program may have `main` as its
    only C-style name.
    """
    from framedex.binaries.demangle import demangle

    table = binary.symbols
    if table is None:
        return False
    sample = [table[i] for i in range(0, len(table), max(len(table) // _SAMPLED, 1))]
    # Skip names local to a translation unit (compilers add some), and names with an underscore (linkers add them).
    plain = [each.mangled for each in sample if each.unit is None and not each.mangled.startswith("_")]
    if sum(map(is_defined, plain)) * 2 <= len(plain):
        return False
    mangled = [demangle(each.mangled) for each in sample if each.mangled.startswith("_Z")]
    own = [name for name in mangled if _STANDARD.search(name) is None]
    return not own or any(map(is_defined, own))


def short_name_of(printed: str) -> str:
    """Return the last component of a printed function name; empty if the text prints none."""
    from framedex.binaries.spellings import spelled
    from framedex.sources.names import short_name

    symbol = spelled(printed).symbol if printed else ""
    return short_name(symbol) if symbol else ""


def _behind_name(binary: Binary, frame: TextFrame) -> int | None:
    """Return the address at `function_offset` from the named function; None unless it is unique."""
    assert frame.function_offset is not None
    starts = {
        symbol.start
        for symbol in named_symbols(binary, frame.function)
        if symbol.start <= symbol.start + frame.function_offset <= symbol.end  # a call may be the last instruction
    }
    return starts.pop() + frame.function_offset if len(starts) == 1 else None


def named_symbols(binary: Binary, printed: str) -> Iterator[ElfSymbol]:
    """Yield the symbols of a binary with a printed name, mangled or not."""
    from framedex.binaries.demangle import demangle
    from framedex.binaries.spellings import spelled

    table = binary.symbols
    if table is None:
        return
    if exact := table.named(printed):
        yield from exact
        return
    wanted = spelled(printed).symbol
    scopes = _PLAIN.match(wanted)
    if scopes is None:
        return
    part = "".join(f"{len(word)}{word}" for word in scopes[0].split("::"))
    for symbol in table.containing(part, _MOST_NAMESAKES):
        name = demangle(symbol.mangled)
        if name == wanted or name.startswith(f"{wanted}("):
            yield symbol
