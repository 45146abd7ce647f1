"""The binaries that the frames of a text name: what they say of a frame's address, if they are of the text's build."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.interchange.model import TextFrame
from framedex.model import NativeSymbol
from framedex.patterns import compiled_on_use

if TYPE_CHECKING:
    from framedex.binaries import Binary
    from framedex.binaries.symbols import ElfSymbol

_MOST_BINARIES = 16
_LONGEST_CALL = 15  # bytes: no instruction of x86 is longer
_MOST_NAMESAKES = 64  # functions of one name in a binary that are looked at
_SAMPLED = 256  # functions of a binary
_STANDARD = compiled_on_use(r"^(?:\w[\w:<>, *&]* )?(?:std|__gnu_cxx)::")
_PLAIN = compiled_on_use(r"\w+(?:::\w+)*")


@dataclass(frozen=True, slots=True)
class InBinary:
    """An address in a binary, an ELF virtual one, and the functions there, innermost inlined one first.

    `is_compiled`: the text names the function that was compiled there, or none, and not one that was inlined into it.
    `is_doubtful`: the binary may be another build than the one that the text is of.
    """

    binary: Binary
    address: int
    symbols: tuple[NativeSymbol, ...]
    is_compiled: bool = True
    is_doubtful: bool = False

    @property
    def function(self) -> NativeSymbol:
        """The function that was compiled there."""
        return self.symbols[-1]

    def returns_to(self, is_return_address: bool) -> int:
        """The return address of the call there; 0 where there is no call.

        Some tools print return addresses, as perf does for all frames but the first, others an address within the call,
        as the sanitizers do: only an address behind a call is one that a call returns to.
        """
        within = self.address - is_return_address
        code = self.binary.code_around(within)
        ends = [call.returns_to for call in code.calls if call.returns_to >= self.address] if code else []
        nearest = min(ends, default=0)
        return nearest if nearest - self.address < _LONGEST_CALL else 0

    def whole_name(self, returns_to: int, callee: str) -> str:
        """The name of a function that is called from there, with the parameters that a text may have left out."""
        code = self.binary.code_around(returns_to - 1)
        target = next((call.target for call in code.calls if call.returns_to == returns_to), 0) if code else 0
        name = self.binary.function_at(target) if target else ""
        return name if name.startswith(f"{callee}(") else callee


class Binaries:
    """The binaries that frames name, each opened once."""

    def __init__(self) -> None:
        self._open: dict[str, Binary] = {}

    def symbols(self, frame: TextFrame, path: str) -> tuple[NativeSymbol, ...]:
        """What the frame's binary, which is at a path, says of its address; nothing if that is another build of it."""
        found = self.find(frame, path)
        return found.symbols if found is not None else ()

    def find(self, frame: TextFrame, path: str) -> InBinary | None:
        """Where a frame is in its binary, which is at a path.

        None where the frame does not tell, and where that is another build of it: by the build-id, or as another
        function is there than the text names.
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
        """The frame with its offset in its binary, which is at a path, where the text has that in `.text` alone."""
        text_address = self.opened(path).text_address
        if frame.text_offset is None or text_address is None:
            return frame
        return replace(frame, offset=text_address + frame.text_offset)

    def opened(self, path: str) -> Binary:
        """The binary at a path, which may be no ELF file."""
        from framedex.binaries import Binary  # reads ELF and DWARF: few texts need it

        if path not in self._open:
            if len(self._open) >= _MOST_BINARIES:
                self._open.clear()
            self._open[path] = Binary.open(Path(path))
        return self._open[path]


def is_made_of(binary: Binary, is_defined: Callable[[str], bool]) -> bool:
    """Whether the functions of a binary, or of a sample, are defined somewhere: most of those that have names as in C,
    and one at least of those of C++, where it has any of its own.

    `is_defined` is asked for demangled names. A C++ program may have `main` alone for a name as in C.
    """
    from framedex.binaries.demangle import demangle

    table = binary.symbols
    if table is None:
        return False
    sample = [table[i] for i in range(0, len(table), max(len(table) // _SAMPLED, 1))]
    # Those of one translation unit are compilers' own as well; what begins with an underscore is a linker's.
    plain = [each.mangled for each in sample if each.unit is None and not each.mangled.startswith("_")]
    if sum(map(is_defined, plain)) * 2 <= len(plain):
        return False
    mangled = [demangle(each.mangled) for each in sample if each.mangled.startswith("_Z")]
    own = [name for name in mangled if _STANDARD.search(name) is None]
    return not own or any(map(is_defined, own))


def short_name_of(printed: str) -> str:
    """The last word of the name that a text prints for a function; empty where it prints none."""
    from framedex.binaries.spellings import spelled
    from framedex.sources.names import short_name

    symbol = spelled(printed).symbol if printed else ""
    return short_name(symbol) if symbol else ""


def _behind_name(binary: Binary, frame: TextFrame) -> int | None:
    """The address so far behind the beginning of the function that a text names; None unless just one can be meant."""
    assert frame.function_offset is not None
    starts = {
        symbol.start
        for symbol in named_symbols(binary, frame.function)
        if symbol.start <= symbol.start + frame.function_offset <= symbol.end  # a call may be the last of it
    }
    return starts.pop() + frame.function_offset if len(starts) == 1 else None


def named_symbols(binary: Binary, printed: str) -> Iterator[ElfSymbol]:
    """The symbols of a binary that have the name which a text prints, mangled or not."""
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
