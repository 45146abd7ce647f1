"""The functions of a binary by address, read in bulk from its symbol tables.

The symbols are numpy columns, because iterating over 740 k of them in Python takes 16 s. Names stay in the string
tables and are extracted on demand. Layouts: the ELF-64 gABI (`Elf64_Sym`, `Elf32_Sym`) and `<elf.h>`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from framedex.binaries.debug_files import MINI_DEBUG_INFO_SECTION, read_mini_debug_info
from framedex.binaries.elf import Elf, RawSymbols
from framedex.binaries.loaded_tables import FunctionExtents

_STT_FUNC, _STT_FILE, _STT_GNU_IFUNC = 2, 4, 10
_STB_LOCAL, _STB_GLOBAL = 0, 1
_SHN_UNDEF, _SHN_LORESERVE = 0, 0xFF00
_SPLIT_PART_SUFFIX = re.compile(rb"\.(?:cold|part\.)")
_PART_SUFFIXES = re.compile(r"(?:\.cold(?:\.\d+)?|\.part\.\d+)+$")
_MAX_PARTS = 16
_MAX_SAME_NAME = 1 << 10  # the maximum number of functions with one name; many files may each have a static one
_MAX_NAME_BYTES = 1 << 16
_MAX_ADDRESS = np.iinfo(np.uint64).max


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """A function of a symbol table: its mangled name, address range [start, end) and translation unit, if known."""

    mangled: str
    start: int
    end: int
    translation_unit: str | None


class _NameIndex(NamedTuple):
    """The sorted offsets of function names, and the row of each name's function."""

    names: npt.NDArray[np.int64]
    rows: npt.NDArray[np.intp]


class SymbolTable:
    """The functions in a binary's symbol tables, ordered by address, and the names of its objects."""

    def __init__(self, tables: Sequence[RawSymbols], extents: FunctionExtents, names_exports_only: bool) -> None:
        """Read the tables; `names_exports_only`: the tables name only the functions that the binary exports."""
        self.names_exports_only = names_exports_only
        self._tables = tables
        self._string_offsets = list(
            accumulate((len(table.strings) for table in tables), initial=0)
        )  # the offset of each table's strings
        functions, self._folded = _merge_by_address(
            [_read_functions(table, begin) for table, begin in zip(tables, self._string_offsets, strict=False)]
        )
        self._starts, self._names, self._units = functions.starts, functions.names, functions.units
        self._ends = _compute_ends(functions, extents)
        self._highest_ends = np.maximum.accumulate(self._ends) if len(self._ends) else self._ends

    def __len__(self) -> int:
        return len(self._starts)

    def find(self, address: int) -> ElfSymbol | None:
        """The innermost function whose range contains `address`; None if there is none."""
        key = np.uint64(address)
        i = int(np.searchsorted(self._starts, key, side="right")) - 1
        if i < 0 or self._highest_ends[i] <= key:
            return None
        if self._ends[i] <= key:  # the address may be after a smaller function nested in a larger one
            i = int(np.searchsorted(self._highest_ends, key, side="right"))
        return self[i]

    def symbol_at(self, address: int) -> ElfSymbol | None:
        """The function that begins at `address`; None if there is none."""
        i = int(np.searchsorted(self._starts, np.uint64(address)))
        return self[i] if i < len(self) and self._starts[i] == address else None

    def names_at(self, address: int) -> list[str]:
        """The mangled names of all functions that begin at an address, as a linker folds identical functions."""
        own = self.symbol_at(address)
        if own is None:
            return []
        others = slice(*np.searchsorted(self._folded.starts, np.array((address, address + 1), np.uint64)))
        return list(dict.fromkeys((own.mangled, *map(self._name_at_offset, self._folded.names[others].tolist()))))

    def parts_of(self, symbol: ElfSymbol) -> list[ElfSymbol]:
        """The function of a symbol, then the parts that compilers split off it (`f.cold`, `f.part.0`)."""
        name = _strip_part_suffix(symbol.mangled)
        parts = [
            self[i]
            for i in self._rows_of_parts.get(name, ())
            if not symbol.translation_unit or self[i].translation_unit == symbol.translation_unit
        ]
        if not parts:
            return [symbol]
        whole_function = [symbol] if symbol.mangled == name else self._find_unsplit_function(symbol, name)
        return [*whole_function, *parts][:_MAX_PARTS]

    def functions_named(self, mangled: str) -> list[ElfSymbol]:
        """The functions of exactly this name, in any version (`f@@LIB_2.1`).

        Functions that share an address are returned under the name that the table gives the address. Empty if more than
        1,024 functions match.
        """
        text = re.compile(re.escape(mangled.encode("utf-8", "surrogateescape")) + rb"(?:@@?[\w.]+)?\0")
        rows: dict[int, None] = {}
        for table, begin in zip(self._tables, self._string_offsets, strict=False):
            for match in text.finditer(table.strings):  # maybe only the end of a longer name
                name_range = slice(
                    *np.searchsorted(self._by_name.names, (begin + match.start(), begin + match.start() + 1))
                )
                rows |= dict.fromkeys(self._by_name.rows[name_range].tolist())
        return [self[i] for i in rows] if len(rows) <= _MAX_SAME_NAME else []

    def functions_containing(self, part: str, limit: int) -> list[ElfSymbol]:
        """The functions with `part` in their mangled name; empty if more than `limit` match."""
        return self._find_matching(re.compile(re.escape(part.encode())), limit)

    def _find_unsplit_function(self, part: ElfSymbol, name: str) -> list[ElfSymbol]:
        """The function that a part was split off from; empty if it has no machine code of its own."""
        return [each for each in self.functions_named(name) if each.translation_unit in (None, part.translation_unit)][
            :1
        ]

    @cached_property
    def _rows_of_parts(self) -> dict[str, list[int]]:
        """The rows of the parts that were split off each function, by the function's name."""
        found: dict[str, list[int]] = {}
        for i in self._iterate_matching_rows(_SPLIT_PART_SUFFIX):
            name = self[i].mangled
            if (whole := _strip_part_suffix(name)) != name:
                found.setdefault(whole, []).append(i)
        return found

    def _find_matching(self, text: re.Pattern[bytes], limit: int) -> list[ElfSymbol]:
        rows = list(islice(self._iterate_matching_rows(text), limit + 1))
        return [self[i] for i in rows] if len(rows) <= limit else []

    def _iterate_matching_rows(self, text: re.Pattern[bytes]) -> Iterator[int]:
        """The rows of functions whose names match, each once."""
        seen: set[int] = set()
        for table, begin in zip(self._tables, self._string_offsets, strict=False):
            for match in text.finditer(table.strings):
                at = match.start()
                before = bytes(table.strings[max(at - _MAX_NAME_BYTES, 0) : at])
                first = at - len(before) + before.rfind(b"\0") + 1  # linkers share common endings of names
                rows = slice(*np.searchsorted(self._by_name.names, (begin + first, begin + at + 1)))
                fresh = [i for i in self._by_name.rows[rows].tolist() if i not in seen]
                seen.update(fresh)
                yield from fresh

    @cached_property
    def _by_name(self) -> _NameIndex:
        """The index of names. The names of folded functions lead to the function that represents their address."""
        names = np.concatenate((self._names, self._folded.names))
        rows = np.concatenate((np.arange(len(self)), np.searchsorted(self._starts, self._folded.starts)))
        order = np.argsort(names, kind="stable")
        return _NameIndex(names[order], rows[order])

    def mangled_names_with_prefix(self, prefix: str) -> dict[int, str]:
        """The mangled names with this prefix, of functions and data, by address."""
        found: dict[int, str] = {}
        for table in self._tables:
            text = bytes(table.strings)
            position = text.find(prefix.encode())
            while position >= 0:
                end = text.find(b"\0", position)
                for value in table.rows["value"][table.rows["name"] == position].tolist():
                    found[value] = text[position:end].decode("utf-8", "replace")
                position = text.find(prefix.encode(), end)
        return found

    def __getitem__(self, i: int) -> ElfSymbol:
        unit = int(self._units[i])
        return ElfSymbol(
            mangled=self._name_at_offset(int(self._names[i])),
            start=int(self._starts[i]),
            end=int(self._ends[i]),
            translation_unit=(self._name_at_offset(unit) or None) if unit >= 0 else None,
        )

    def __iter__(self) -> Iterator[ElfSymbol]:
        return (self[i] for i in range(len(self)))

    def _name_at_offset(self, offset_in_all: int) -> str:
        table = bisect_right(self._string_offsets, offset_in_all) - 1
        strings, offset = self._tables[table].strings, offset_in_all - self._string_offsets[table]
        for length in (256, 1 << 12, 1 << 16):
            name, end, _ = bytes(strings[offset : offset + length]).partition(b"\0")
            if end or offset + length >= len(strings):
                break
        return name.decode("utf-8", "replace")


def read_symbols(elf: Elf, debug: Elf | None = None, extents: FunctionExtents | None = None) -> SymbolTable:
    """Read the symbols of a binary; `debug` is its separate debug file, if any.

    `.symtab` names every function. If the binary has no `.symtab`, the debug file's is read, else the embedded one. The
    embedded one usually omits the symbols of `.dynsym` (GDB manual, "MiniDebugInfo"), so `.dynsym` is read as well.
    Without any of them, `.dynsym` is read alone.
    """
    own = elf.symbols("SHT_SYMTAB")
    separate = debug.symbols("SHT_SYMTAB") if own is None and debug is not None else None
    embedded = read_mini_debug_info(elf) if separate is None else None
    inner = embedded.symbols("SHT_SYMTAB") if embedded is not None else None
    if embedded is not None:
        missing = [] if inner else ["It has no symbol table."]
        elf.problems.extend(
            f"Embedded symbols ({MINI_DEBUG_INFO_SECTION}): {problem}" for problem in (*embedded.problems, *missing)
        )
    named = [table for table in (own, separate, inner) if table is not None]
    is_whole = inner is None and bool(named)
    exported = None if is_whole else elf.symbols("SHT_DYNSYM")
    tables = [*named, exported] if exported is not None else named
    if not tables:
        elf.problems.append("It has no symbol table.")
    return SymbolTable(tables, extents or FunctionExtents(elf), names_exports_only=not named)


def _strip_part_suffix(mangled: str) -> str:
    """The name of the function that a part was split off from; unchanged for a clone of a whole function."""
    return _PART_SUFFIXES.sub("", mangled)


class _FunctionColumns(NamedTuple):
    """Columns with a row for each function. `names` and `units` are offsets into all tables' strings, -1 for none."""

    starts: npt.NDArray[np.uint64]
    sizes: npt.NDArray[np.uint64]
    limits: npt.NDArray[np.uint64]  # the end of the function's section
    ranks: npt.NDArray[np.int64]  # of two names at one address, the one with the lower rank is used
    names: npt.NDArray[np.int64]
    units: npt.NDArray[np.int64]


def _read_functions(table: RawSymbols, begin: int) -> _FunctionColumns:
    """The functions that a symbol table defines; `begin` is the offset of its strings in all strings."""
    raw = table.rows
    kind = raw["info"] & 0xF
    section = raw["section"]
    is_named = raw["name"] < len(table.strings)
    defined = (section != _SHN_UNDEF) & (section < _SHN_LORESERVE) & is_named & (raw["value"] > 0)
    chosen = np.flatnonzero(((kind == _STT_FUNC) | (kind == _STT_GNU_IFUNC)) & defined)
    binding = raw["info"][chosen] >> 4
    ranks = np.where(binding == _STB_GLOBAL, 0, np.where(binding == _STB_LOCAL, 2, 1))
    limit = np.full(1 << 16, _MAX_ADDRESS, np.uint64)
    for index, end in table.section_ends.items():
        limit[index] = min(max(end, 0), _MAX_ADDRESS)
    return _FunctionColumns(
        raw["value"][chosen].astype(np.uint64),
        raw["size"][chosen].astype(np.uint64),
        limit[section[chosen]],
        ranks,
        raw["name"][chosen].astype(np.int64) + begin,
        np.where(ranks == 2, _find_units(raw, kind, chosen, is_named, begin), -1),
    )


def _find_units(
    raw: npt.NDArray[Any],
    kind: npt.NDArray[Any],
    chosen: npt.NDArray[np.intp],
    is_named: npt.NDArray[np.bool_],
    begin: int,
) -> npt.NDArray[np.int64]:
    """The name offset of the STT_FILE symbol before each local symbol, -1 if there is none."""
    files = np.flatnonzero((kind == _STT_FILE) & is_named)
    if not len(files):
        return np.full(len(chosen), -1, np.int64)
    before = np.searchsorted(files, chosen) - 1
    return np.where(before >= 0, raw["name"][files[before]].astype(np.int64) + begin, -1)


def _merge_by_address(tables: Sequence[_FunctionColumns]) -> tuple[_FunctionColumns, _FunctionColumns]:
    """All functions sorted by address, one for each address, then the others.

    The widest function represents an address; a global one wins over a local one.
    """
    if not tables:
        nothing = np.empty(0, np.uint64)
        none = _FunctionColumns(nothing, nothing, nothing, *(np.empty(0, np.int64) for _ in range(3)))
        return none, none
    merged = tables[0] if len(tables) == 1 else _FunctionColumns(*map(np.concatenate, zip(*tables, strict=True)))
    order = np.lexsort((merged.ranks, ~merged.sizes, merged.starts))
    first = np.ones(len(order), bool)
    first[1:] = merged.starts[order[1:]] != merged.starts[order[:-1]]
    return _select_rows(merged, order[first]), _select_rows(merged, order[~first])


def _select_rows(functions: _FunctionColumns, rows: npt.NDArray[np.intp]) -> _FunctionColumns:
    return _FunctionColumns(
        functions.starts[rows],
        functions.sizes[rows],
        functions.limits[rows],
        functions.ranks[rows],
        functions.names[rows],
        functions.units[rows],
    )


def _compute_ends(functions: _FunctionColumns, extents: FunctionExtents) -> npt.NDArray[np.uint64]:
    """The end of each function, limited to the end of its section.

    A function without a size (assembly) ends where the unwind tables say, and at the latest where the next function
    begins.
    """
    starts, sizes = functions.starts, functions.sizes
    ends = starts + np.minimum(sizes, _MAX_ADDRESS - starts)
    sizeless = np.flatnonzero(sizes == 0)
    if len(sizeless):
        following = np.append(starts[1:], np.uint64(_MAX_ADDRESS))[sizeless]
        ends[sizeless] = np.minimum(following, extents.limits(starts[sizeless]))
    limited: npt.NDArray[np.uint64] = np.minimum(ends, functions.limits)
    return limited
