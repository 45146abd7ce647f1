"""From an address in a binary to the functions and lines there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.binaries.debugfile import find_debug_file
from framedex.binaries.demangle import demangle
from framedex.binaries.dwarf import Line, Lines
from framedex.binaries.elf import Elf, SymbolTable
from framedex.binaries.ffi_handlers import HandlerCode, HandlerSearch
from framedex.binaries.names import readable
from framedex.model import NativeSymbol

if TYPE_CHECKING:
    from framedex.binaries.code import FunctionCode

_LARGEST_FUNCTION = 1 << 20  # bytes; more is data, or a damaged size


class Binary:
    """A shared object or executable. Open with `Binary.open`; damaged files give less, never an exception."""

    def __init__(self, path: Path, elf: Elf | None, problems: Sequence[str] = ()) -> None:
        self.path = path
        self.build_id: str | None = elf.build_id if elf else None
        self._elf = elf
        self._code: dict[int, FunctionCode] = {}
        self._symbols: SymbolTable | None = None
        self._handlers: HandlerSearch | None = None
        self._lines: Lines | None = None
        if elf:
            self._read(path, elf)
        self._problems = (*problems, *(elf.problems if elf else ()))

    def _read(self, path: Path, elf: Elf) -> None:
        debug_path = None if elf.has_debug_lines else find_debug_file(path, elf)
        debug = Elf.open(debug_path) if debug_path else elf  # it was opened before, to be compared
        self._symbols = debug.symbols() if elf.is_stripped and not debug.is_stripped else elf.symbols()
        if debug.has_debug_lines:
            self._lines = Lines(debug_path or path, elf.load_address)

    @classmethod
    def open(cls, path: Path) -> Binary:
        """Read the structure and the symbol table of an ELF file; what is wrong with it ends up in `problems`."""
        try:
            return cls(path, Elf.open(path))
        except OSError as error:
            return cls(path, None, [f"It cannot be read: {error.strerror or error}."])
        except Exception:  # pyelftools raises whatever its parsing runs into; an empty file cannot be mapped
            return cls(path, None, ["It is not an ELF file, or its header is damaged."])

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read, as sentences. Debug information is read late, so look after resolving."""
        late = self._lines.problem if self._lines else None
        return (*self._problems, late) if late else self._problems

    def resolve(self, addresses: Sequence[int]) -> list[tuple[NativeSymbol, ...]]:
        """The functions at each ELF virtual address, innermost inlined one first; () where nothing is known.

        Pass the address of the call, that is the return address less one: a call can be a function's last instruction.
        """
        seen: dict[int, tuple[NativeSymbol, ...]] = {}
        for address in addresses:
            if address not in seen:
                seen[address] = self._resolve(address)
        return [seen[address] for address in addresses]

    def code_around(self, address: int) -> FunctionCode | None:
        """The machine code of the function that holds an address; None of other machines than x86-64."""
        symbol = self._symbols.find(address) if self._symbols and 0 <= address < 1 << 64 else None
        if self._elf is None or symbol is None or not self._elf.is_x86_64:
            return None
        if symbol.start not in self._code:
            from framedex.binaries.code import FunctionCode  # its import takes 60 ms; few runs of the index need it

            end = min(symbol.end, symbol.start + _LARGEST_FUNCTION)
            self._code[symbol.start] = FunctionCode(self._elf.content(symbol.start, end), symbol.start)
        return self._code[symbol.start]

    def function_at(self, address: int) -> str:
        """The demangled name of the function that begins at an address, empty where none does."""
        symbol = self._symbols.starting_at(address) if self._symbols and 0 < address < 1 << 64 else None
        return demangle(symbol.mangled) if symbol else ""

    def ffi_handler(self, address: int) -> HandlerCode | None:
        """What can be told of the XLA FFI handler whose C function holds an ELF virtual address."""
        if self._elf is None or self._symbols is None:
            return None
        if self._handlers is None:
            self._handlers = HandlerSearch(self._elf, self._symbols)
        return self._handlers.handler_at(address)

    def _resolve(self, address: int) -> tuple[NativeSymbol, ...]:
        if not 0 <= address < 1 << 64:
            return ()
        symbol = self._symbols.find(address) if self._symbols else None
        lines = self._lines.at(address) if self._lines else ()
        if not lines:
            return (_named(symbol.mangled, symbol.unit),) if symbol else ()
        *inlined, outermost = lines
        unit = symbol.unit if symbol else None
        mangled = symbol.mangled if symbol else outermost.function
        return (*(_inlined(line, unit) for line in inlined), _named(mangled, unit, outermost))


def _named(mangled: str, unit: str | None, line: Line | None = None) -> NativeSymbol:
    text = demangle(mangled)
    path, number = (line.path, line.line) if line else (None, 0)
    return NativeSymbol(readable(text), text, mangled, path, number, inlined=False, unit=unit)


def _inlined(line: Line, unit: str | None) -> NativeSymbol:
    text = demangle(line.function)
    return NativeSymbol(readable(text), text, line.function, line.path, line.line, inlined=True, unit=unit)
