"""The C++ type of an XLA FFI handler, read from the machine code of its registered C function.

`XLA_FFI_DEFINE_HANDLER_SYMBOL` (xla/ffi/api/ffi.h) defines a C function, which creates one static object of type
`xla::ffi::Handler<stage, function type, tags...>` from a pointer to the author's function. The tags are the handler's
arguments, results and attributes. Nothing else connects the two functions.

The search follows addresses relative to the code (`machines/linkage.py`: calls, jumps, data, loads from the GOT). It
goes through the PLT and into functions that the compiler did not inline, until a symbol names the type. If several
types are found, the result is None.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from framedex.binaries.demangle import demangle
from framedex.binaries.elf import Elf
from framedex.binaries.machines.linkage import find_relative_targets
from framedex.binaries.names import parse_name, split_parameters
from framedex.binaries.symbols import ElfSymbol, SymbolTable

_HANDLER_TYPE = "xla::ffi::Handler<"
_MAX_DEPTH = 5
_MAX_FUNCTION_BYTES = 1 << 16  # bytes of a function's code to search
_PLT_ENTRY_BYTES = 16  # bytes
_RELOCATION = np.dtype([("offset", "<u8"), ("info", "<u8"), ("addend", "<i8")])  # Elf64_Rela


@dataclass(frozen=True, slots=True)
class HandlerCode:
    """The template arguments of a handler's type, and the address of its implementation, None if not unique."""

    type_arguments: tuple[str, ...]
    implementation: int | None


class HandlerSearch:
    """A search in one binary. Damaged files give fewer results, never an exception."""

    def __init__(self, elf: Elf, symbols: SymbolTable) -> None:
        self._elf = elf
        self._symbols = symbols
        self._starts: dict[int, ElfSymbol | None] = {}
        self._objects = symbols.mangled_names_with_prefix("_ZTVN3xla3ffi7HandlerI")
        self._pointers = dict(self._read_pointers())

    def find_handler(self, address: int) -> HandlerCode | None:
        """The handler whose C function is at an address; None if its type is unknown or ambiguous."""
        symbol = self._symbols.find(address)
        if symbol is None:
            return None
        types: dict[str, None] = {}
        functions: dict[int, ElfSymbol] = {}
        self._search(symbol, types, functions, set(), 0)
        if len(types) != 1:
            return None
        arguments = split_parameters(next(iter(types)))
        taken = _parse_parameters(arguments[1]) if len(arguments) > 1 else None
        fitting = [start for start, function in functions.items() if _function_parameters(function) == taken]
        return HandlerCode(arguments, fitting[0] if len(fitting) == 1 else None)

    def _search(
        self, symbol: ElfSymbol, types: dict[str, None], functions: dict[int, ElfSymbol], seen: set[int], depth: int
    ) -> None:
        seen.add(symbol.start)
        for target in self._find_targets(symbol.start, min(symbol.end, symbol.start + _MAX_FUNCTION_BYTES)):
            named = target if isinstance(target, str) else self._object_or_function(target)
            if named is None:
                continue
            text = demangle(named if isinstance(named, str) else named.mangled)
            if (found := _parse_handler_type(text)) is not None:
                types[found] = None
            elif isinstance(named, ElfSymbol) and named.start not in seen and depth < _MAX_DEPTH:
                if "xla::ffi::Binding<" in text or "XLA_FFI_CallFrame*" in text:
                    self._search(named, types, functions, seen, depth + 1)
                else:
                    functions[named.start] = named

    def _object_or_function(self, address: int) -> ElfSymbol | str | None:
        if address in self._objects:
            return self._objects[address]
        if address not in self._starts:
            found = self._symbols.find(address)
            self._starts[address] = found if found is not None and found.start == address else None
        return self._starts[address]

    def _find_targets(self, start: int, end: int) -> Iterator[int | str]:
        """The targets that the code refers to: addresses, and names of symbols that the dynamic linker resolves."""
        for target in self._relative_targets(start, end):
            if target in self._pointers:
                yield self._pointers[target]
            elif self._elf.is_in_section(target, ".plt", ".plt.sec", ".plt.got"):
                stub = self._relative_targets(target, target + _PLT_ENTRY_BYTES)
                yield from (self._pointers[slot] for slot in stub if slot in self._pointers)
            else:
                yield target

    def _relative_targets(self, start: int, end: int) -> list[int]:
        return find_relative_targets(self._elf.architecture, self._elf.code(start, end), start)

    def _read_pointers(self) -> Iterator[tuple[int, int | str]]:
        """The pointers that the dynamic linker fills, each with its target: an address or a symbol name."""
        names = self._elf.dynamic_symbols()
        for content in self._elf.contents("SHT_RELA"):
            raw = np.frombuffer(content, _RELOCATION, count=len(content) // _RELOCATION.itemsize)
            for offset, info, addend in zip(raw["offset"].tolist(), raw["info"].tolist(), raw["addend"], strict=True):
                symbol = info >> 32
                if symbol == 0:
                    yield offset, int(addend)
                elif symbol < len(names):
                    name, value = names[symbol]
                    yield offset, value or name


def _parse_handler_type(text: str) -> str | None:
    """The template arguments of the first handler type in a demangled name, verbatim."""
    begin = text.find(_HANDLER_TYPE)
    if begin < 0:
        return None
    depth = 0
    for position in range(begin + len(_HANDLER_TYPE), len(text)):
        character = text[position]
        if character in "<(":
            depth += 1
        elif character in ">)":
            if depth == 0:
                return text[begin + len(_HANDLER_TYPE) : position]
            depth -= 1
    return None


def _parse_parameters(function_type: str) -> tuple[str, ...] | None:
    """The parameters of a function pointer type: `xla::ffi::Error (*)(float, ...)`."""
    _, found, parameters = function_type.partition("(*)(")
    return split_parameters(parameters[:-1]) if found else None


def _function_parameters(symbol: ElfSymbol) -> tuple[str, ...] | None:
    return parse_name(demangle(symbol.mangled)).parameters
