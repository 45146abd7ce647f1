"""Resolve addresses in a binary to functions and source lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from framedex.base.errors import SystemLimitError
from framedex.binaries.code import FunctionCode
from framedex.binaries.debug_files import find_debug_file
from framedex.binaries.demangle import demangle
from framedex.binaries.dwarf import LineEntry, LineTables
from framedex.binaries.elf import Elf
from framedex.binaries.ffi_handlers import HandlerCode, HandlerSearch
from framedex.binaries.loaded_tables import FunctionExtents, Linkage
from framedex.binaries.machines import load_machine
from framedex.binaries.names import readable_name
from framedex.binaries.symbols import ElfSymbol, SymbolTable, read_symbols
from framedex.model import NativeSymbol

_MAX_TEXT_BYTES = 256  # bytes; longer bytes without a NUL are not a text
_MAX_FUNCTION_BYTES = 1 << 20  # bytes; a larger function is data or has a damaged size
_NEVER_RETURNS = re.compile(
    r"abort|_?exit|longjmp|pthread_exit|_Unwind_Resume|__assert_fail|__stack_chk_fail|__clang_call_terminate"
    r"|__cxa_(?:re)?throw|__cxa_(?:throw_)?bad_\w+|__cxa_call_(?:terminate|unexpected)|_ZSt9terminatev|_ZSt\d+__throw_\w+"
)
"""The mangled names of functions of the C and C++ runtime that never return."""


class Binary:
    """A shared object or executable. Open it with `Binary.open`; damaged files give less data, never an exception."""

    def __init__(self, path: Path, elf: Elf | None, problems: Sequence[str] = ()) -> None:
        self.path = path
        self.build_id: str | None = elf.build_id if elf else None
        self._elf = elf
        self._code: dict[int, FunctionCode] = {}
        self._never_returning: dict[int, bool] = {}
        self._loaded: _Contents | None = None
        self._lock = Lock()
        self._handlers: HandlerSearch | None = None
        self._problems = tuple(problems)

    @classmethod
    def open(cls, path: Path) -> Binary:
        """Read the structure and the symbol table of an ELF file; put errors into `problems`.

        Raises SystemLimitError.
        """
        try:
            return cls(path, Elf.open(path))
        except OSError as error:
            return cls(path, None, [f"It cannot be read: {error.strerror or error}."])
        except (SystemLimitError, MemoryError):
            raise
        except Exception:  # pyelftools raises many types of errors on malformed files; an empty file cannot be mapped
            return cls(path, None, ["It is not an ELF file, or its header is damaged."])

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about unreadable parts. Debug information is read lazily, so look after resolving."""
        lines = self._contents.lines
        found = (*self._problems, *(self._elf.problems if self._elf else ()), lines.problem if lines else None)
        return tuple(dict.fromkeys(filter(None, found)))

    @property
    def symbols(self) -> SymbolTable | None:
        """The functions in the symbol tables; None if the file is unreadable."""
        return self._contents.symbols

    @property
    def is_stripped(self) -> bool:
        """Whether the symbol tables name only exported functions."""
        symbols, lines, _ = self._contents
        return symbols is not None and symbols.names_exports_only and lines is None

    @property
    def compiler(self) -> str:
        """The compiler: `clang`, `gcc`, or empty if unknown; `clang` if each compiled parts of the binary."""
        return self._elf.compiler if self._elf else ""

    @property
    def has_debug_information(self) -> bool:
        """Whether the binary or its installed debug file has line tables."""
        if self._elf is None:
            return False
        return self._elf.has_debug_lines or find_debug_file(self.path, self._elf) is not None

    @property
    def debug_link(self) -> str | None:
        """The name of the debug file in `.gnu_debuglink`; None without that section."""
        link = self._elf.debug_link if self._elf else None
        return link and link[0]

    @property
    def missing_debug_file(self) -> str | None:
        """The build-id of a missing debug file.

        None if the binary needs no debug file, has one installed, or has no build-id. Also None after the first look-up
        of symbols or lines.
        """
        if self._elf is None or self._loaded is not None or self.build_id is None or self._elf.has_debug_lines:
            return None
        return None if find_debug_file(self.path, self._elf) else self.build_id

    def resolve(self, addresses: Sequence[int]) -> list[tuple[NativeSymbol, ...]]:
        """The functions at each ELF virtual address, from the innermost inlined one outwards; () if unknown.

        Pass the address of the call, which is the return address minus one: a call can be a function's last
        instruction.
        """
        seen: dict[int, tuple[NativeSymbol, ...]] = {}
        for address in addresses:
            if address not in seen:
                seen[address] = self._resolve(address)
        return [seen[address] for address in addresses]

    def address_of(self, offset: int) -> int | None:
        """The ELF virtual address of a file offset; None if no segment loads that byte."""
        return None if self._elf is None else self._elf.address_of(offset)

    @property
    def text_address(self) -> int | None:
        """The ELF virtual address of section `.text`; None without that section."""
        section = self._elf.section(".text") if self._elf else None
        return section.address if section else None

    def function_start(self, address: int) -> int | None:
        """The start of the function around an address, from the unwind tables, even without a name."""
        extents = self._contents.extents
        return extents.start(address) if extents and 0 <= address < 1 << 64 else None

    def code_around(self, address: int) -> FunctionCode | None:
        """The machine code of the function around an address; None for an unsupported architecture."""
        symbol = self._symbol_around(address)
        symbols = self.symbols
        machine = load_machine(self._elf.architecture) if self._elf is not None else None
        if self._elf is None or symbol is None or symbols is None or machine is None:
            return None
        if symbol.start not in self._code:
            parts = symbols.parts_of(symbol)
            read = [
                (self._elf.content(part.start, min(part.end, part.start + _MAX_FUNCTION_BYTES)), part.start)
                for part in parts
            ]
            code = FunctionCode(
                machine, *read[0], rest=read[1:], is_pointer=self._linkage.is_pointer, never_returns=self._never_returns
            )
            self._code |= {part.start: code for part in (*parts, symbol)}
        return self._code[symbol.start]

    def function_at(self, address: int) -> str:
        """The demangled name of the function that starts at an address; empty if none does.

        Follows a PLT stub at the address, or a pointer that the dynamic linker fills.
        """
        symbols = self.symbols
        if symbols is None or self._elf is None or not 0 < address < 1 << 64:
            return ""
        return demangle(self._mangled_at(symbols, address))

    def _mangled_at(self, symbols: SymbolTable, address: int) -> str:
        symbol = symbols.symbol_at(address)
        return symbol.mangled if symbol else self._linkage.find_target_name(address)

    def _never_returns(self, target: int) -> bool:
        if target not in self._never_returning:
            symbols = self.symbols
            name = self._mangled_at(symbols, target) if symbols is not None and 0 < target < 1 << 64 else ""
            self._never_returning[target] = _NEVER_RETURNS.fullmatch(name) is not None
        return self._never_returning[target]

    def function_names_at(self, address: int) -> tuple[str, ...]:
        """Return `function_at` and the names of identical functions that the linker folded into the same address."""
        symbols = self.symbols
        folded = symbols.names_at(address) if symbols and 0 < address < (1 << 64) - 1 else ()
        return tuple(dict.fromkeys(map(demangle, folded))) or tuple(filter(None, (self.function_at(address),)))

    @property
    def compilers(self) -> tuple[str, ...]:
        """The compilers recorded in the binary, each once: `GCC: (Debian 12.2.0-14) 12.2.0`, `clang version 19.1.7`."""
        return self._elf.compilers if self._elf else ()

    def text_at(self, address: int) -> bytes:
        """The NUL-terminated text at an address; empty if none, or longer than 255 bytes."""
        content = self._elf.content(address, address + _MAX_TEXT_BYTES) if self._elf else b""
        text, end, _ = content.partition(b"\0")
        return text if end else b""

    def ffi_handler(self, address: int) -> HandlerCode | None:
        """The handler type and function of the XLA FFI handler whose C function is at an ELF virtual address."""
        symbols = self.symbols
        if self._elf is None or symbols is None:
            return None
        if self._handlers is None:
            self._handlers = HandlerSearch(self._elf, symbols)
        return self._handlers.find_handler(address)

    def _resolve(self, address: int) -> tuple[NativeSymbol, ...]:
        if not 0 <= address < 1 << 64:
            return ()
        symbol = self._symbol_around(address)
        lines = self._find_lines(address, symbol)
        if not lines:
            return (_build_symbol(symbol.mangled, symbol.translation_unit),) if symbol else ()
        *inlined, outermost = lines
        unit = symbol.translation_unit if symbol else None
        mangled = symbol.mangled if symbol else outermost.function
        return (*(_build_inlined_symbol(line, unit) for line in inlined), _build_symbol(mangled, unit, outermost))

    def _find_lines(self, address: int, symbol: ElfSymbol | None) -> Sequence[LineEntry]:
        lines = self._contents.lines
        if lines is None:
            return ()
        is_split_off = symbol is not None and symbol.mangled.endswith(".cold")
        return lines.find_in_part(address, symbol.start) if symbol and is_split_off else lines.find(address)

    def _symbol_around(self, address: int) -> ElfSymbol | None:
        symbols = self.symbols
        return symbols.find(address) if symbols and 0 <= address < 1 << 64 else None

    @cached_property
    def _linkage(self) -> Linkage:
        assert self._elf is not None
        return Linkage(self._elf)

    @property
    def _contents(self) -> _Contents:
        """Symbols, lines and function extents, read lazily: callers that only compare the file need none of them."""
        with self._lock:
            if self._loaded is None:
                self._loaded = _read_contents(self.path, self._elf) if self._elf else _Contents(None, None, None)
            return self._loaded


class _Contents(NamedTuple):
    symbols: SymbolTable | None
    lines: LineTables | None
    extents: FunctionExtents | None


def _read_contents(path: Path, elf: Elf) -> _Contents:
    debug_path = None if elf.has_debug_lines else find_debug_file(path, elf)
    debug = Elf.open(debug_path) if debug_path else None  # already opened once, to compare its build-id
    extents = FunctionExtents(elf)
    symbols = read_symbols(elf, debug, extents)
    debug_source = elf if debug is None else debug
    lines = LineTables(debug_path or path, elf.load_address) if debug_source.has_debug_lines else None
    return _Contents(symbols, lines, extents)


def _build_symbol(mangled: str, unit: str | None, line: LineEntry | None = None) -> NativeSymbol:
    text = demangle(mangled)
    path, number = (line.path, line.line) if line else (None, 0)
    return NativeSymbol(readable_name(text), text, mangled, path, number, inlined=False, unit=unit)


def _build_inlined_symbol(line: LineEntry, unit: str | None) -> NativeSymbol:
    text = demangle(line.function)
    return NativeSymbol(readable_name(text), text, line.function, line.path, line.line, inlined=True, unit=unit)
