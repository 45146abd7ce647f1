"""The C++ type of an XLA FFI handler, read off the code of the C function that it is registered as.

`XLA_FFI_DEFINE_HANDLER_SYMBOL` (xla/ffi/api/ffi.h) makes a C function that builds, once, an object of the type
`xla::ffi::Handler<stage, function type, tags...>`, whose tags are the handler's arguments, results and attributes, from
a pointer to the author's function. Nothing else ties the two together. So the code is searched for what it refers to by
an address relative to its own (x86-64: `call`, `jmp`, `lea` and loads from the GOT), through the PLT and into the
functions that the compiler did not inline, until a symbol names the type. Where it names several, none is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from framedex.binaries.demangle import demangle
from framedex.binaries.elf import Elf
from framedex.binaries.names import parse_name, split_parameters
from framedex.binaries.symbols import ElfSymbol, SymbolTable

_HANDLER = "xla::ffi::Handler<"
_CALL, _JUMP = 0xE8, 0xE9
_DEEPEST = 5
_LONGEST = 1 << 16  # bytes of a function's code that are searched
_PLT_ENTRY = 16  # bytes
_OBJECT_POINTER = np.dtype([("offset", "<u8"), ("info", "<u8"), ("addend", "<i8")])  # Elf64_Rela


@dataclass(frozen=True, slots=True)
class HandlerCode:
    """What was found: the arguments of the handler's type, and the address of the function that it was made from."""

    type_arguments: tuple[str, ...]
    implementation: int | None


class HandlerSearch:
    """Searches one binary. Damaged files give less, never an exception."""

    def __init__(self, elf: Elf, symbols: SymbolTable) -> None:
        self._elf = elf
        self._symbols = symbols
        self._starts: dict[int, ElfSymbol | None] = {}
        self._objects = symbols.objects("_ZTVN3xla3ffi7HandlerI")
        self._pointers = dict(self._read_pointers())

    def handler_at(self, address: int) -> HandlerCode | None:
        """The handler whose C function holds an address; None where its type cannot be told."""
        symbol = self._symbols.find(address)
        if symbol is None:
            return None
        types: dict[str, None] = {}
        functions: dict[int, ElfSymbol] = {}
        self._search(symbol, types, functions, set(), 0)
        if len(types) != 1:
            return None
        arguments = split_parameters(next(iter(types)))
        taken = _parameters(arguments[1]) if len(arguments) > 1 else None
        fitting = [start for start, function in functions.items() if _function_parameters(function) == taken]
        return HandlerCode(arguments, fitting[0] if len(fitting) == 1 else None)

    def _search(
        self, symbol: ElfSymbol, types: dict[str, None], functions: dict[int, ElfSymbol], seen: set[int], depth: int
    ) -> None:
        seen.add(symbol.start)
        for target in self._targets(symbol.start, min(symbol.end, symbol.start + _LONGEST)):
            named = target if isinstance(target, str) else self._object_or_function(target)
            if named is None:
                continue
            text = demangle(named if isinstance(named, str) else named.mangled)
            if (found := _handler_type(text)) is not None:
                types[found] = None
            elif isinstance(named, ElfSymbol) and named.start not in seen and depth < _DEEPEST:
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

    def _targets(self, start: int, end: int) -> Iterator[int | str]:
        """What the code refers to: addresses, and the names of symbols that the loader looks up."""
        for target in relative_targets(self._elf.code(start, end), start):
            if target in self._pointers:
                yield self._pointers[target]
            elif self._elf.is_in(target, ".plt", ".plt.sec", ".plt.got"):
                stub = relative_targets(self._elf.code(target, target + _PLT_ENTRY), target)
                yield from (self._pointers[slot] for slot in stub if slot in self._pointers)
            else:
                yield target

    def _read_pointers(self) -> Iterator[tuple[int, int | str]]:
        """The pointers that the loader fills in: what each points to, as an address or as a symbol's name."""
        names = self._elf.dynamic_symbols()
        for content in self._elf.contents("SHT_RELA"):
            raw = np.frombuffer(content, _OBJECT_POINTER, count=len(content) // _OBJECT_POINTER.itemsize)
            for offset, info, addend in zip(raw["offset"].tolist(), raw["info"].tolist(), raw["addend"], strict=True):
                symbol = info >> 32
                if symbol == 0:
                    yield offset, int(addend)
                elif symbol < len(names):
                    name, value = names[symbol]
                    yield offset, value or name


def relative_targets(code: bytes, start: int) -> list[int]:
    """The addresses that code may refer to: four bytes may be an operand if they follow a byte that takes one."""
    raw = np.frombuffer(code, np.uint8)
    if len(raw) < 5:
        return []
    before = raw[:-4]
    is_operand: npt.NDArray[np.bool_] = (before == _CALL) | (before == _JUMP) | ((before & 0xC7) == 0x05)
    places = np.flatnonzero(is_operand) + 1
    words = np.lib.stride_tricks.sliding_window_view(raw, 4)[places]
    operands = np.ascontiguousarray(words).view("<i4").reshape(-1).astype(np.int64)
    return [target for target in (places + 4 + start + operands).tolist() if target > 0]


def _handler_type(text: str) -> str | None:
    """The template arguments of the first handler type in a demangled name, as they are written."""
    begin = text.find(_HANDLER)
    if begin < 0:
        return None
    depth = 0
    for position in range(begin + len(_HANDLER), len(text)):
        character = text[position]
        if character in "<(":
            depth += 1
        elif character in ">)":
            if depth == 0:
                return text[begin + len(_HANDLER) : position]
            depth -= 1
    return None


def _parameters(function_type: str) -> tuple[str, ...] | None:
    """The parameters of a pointer to a function: `xla::ffi::Error (*)(float, ...)`."""
    _, found, parameters = function_type.partition("(*)(")
    return split_parameters(parameters[:-1]) if found else None


def _function_parameters(symbol: ElfSymbol) -> tuple[str, ...] | None:
    return parse_name(demangle(symbol.mangled)).parameters
