"""The functions that behaviours can be put on, and their argument structs, as data: `functions.json`.

That file is generated from the ABI of the PJRT C API; offsets and sizes are bytes.
"""

from __future__ import annotations

import difflib
import fnmatch
import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ALLOCATE = "DeviceMemory::Allocate"
"""The mock's own function that gives memory of a device to buffers; a plug-in has none that can be seen."""

_POINTER = 8
_SIZES = {"Q": 8, "q": 8, "I": 4, "i": 4, "?": 1, "f": 4, "d": 8}


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a struct.

    `kind` says how it is read, and by that `of` is a number's letter of the module `struct`, or the name of an
    enumeration, a struct or a kind of object. `count` names the member that says how many (of `rows`: the two that do),
    `sizes` the one with the length of each. Of an output that `is_filled`, the caller brings the memory.
    One that `is_input` too tells something before the call.
    `when` is the enumerator of the struct's `type` with which a union has this member.
    """

    name: str
    offset: int
    kind: str
    of: str
    count: Any = None
    sizes: str | None = None
    is_output: bool = False
    is_filled: bool = False
    is_input: bool = True
    when: str | None = None

    @property
    def size(self) -> int:
        """The bytes it takes."""
        if self.kind == "number":
            return _SIZES[self.of]
        if self.kind == "enum":
            return _SIZES["i"]
        return structs()[self.of].size if self.kind == "struct" else _POINTER


@dataclass(frozen=True)
class Struct:
    """A struct. `struct_size` is what a caller writes into its first member, None where it has no such member.

    `array` names the members with the type and the dimensions of an array, where the struct describes one.
    """

    name: str
    size: int
    struct_size: int | None
    fields: dict[str, Field]
    array: tuple[str, str] | None

    @functools.cached_property
    def counts(self) -> frozenset[str]:
        """The members that say how long others are, which these tell as well, but for memory that a caller brings."""
        others = [field for field in self.fields.values() if not field.is_filled]
        named = [name for field in others for name in (field.count, field.sizes)]
        return frozenset(name for name in named if isinstance(name, str))


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the table: its `number` is its place there."""

    name: str
    number: int
    arguments: Struct
    returns_error: bool


@functools.cache
def functions() -> dict[str, Function]:
    """All of them by name, in the table's order; last `DeviceMemory::Allocate`."""
    found = {
        name: Function(name, number, structs()[arguments], returns_error)
        for number, (name, arguments, returns_error) in enumerate(_data()["functions"])
    }
    fields = {"bytes": Field("bytes", 8, "number", "q"), "device": Field("device", 16, "number", "i")}
    found[ALLOCATE] = Function(ALLOCATE, len(found), Struct(ALLOCATE, 24, 20, fields, None), True)
    return found


@functools.cache
def structs() -> dict[str, Struct]:
    """The structs by name."""
    return {
        name: Struct(
            name,
            entry["size"],
            entry["struct_size"],
            {field["name"]: _field(field) for field in entry["fields"]},
            tuple(entry["array"]) if "array" in entry else None,
        )
        for name, entry in _data()["structs"].items()
    }


def enumerators(enumeration: str) -> dict[str, int]:
    """The values of an enumeration by their names, without the prefix: `F32`."""
    found: dict[str, int] = _data()["enums"][enumeration]
    return found


@functools.cache
def enumerator_names(enumeration: str) -> dict[int, str]:
    """The names by value."""
    return {value: name for name, value in enumerators(enumeration).items()}


def matching(pattern: str) -> list[Function]:
    """The functions of a name, or of a pattern with `*`, `?` and `[...]`.

    Raises ValueError, with names that are like it, where there is none.
    """
    known = functions()
    if pattern in known:
        return [known[pattern]]
    found = [function for name, function in known.items() if fnmatch.fnmatchcase(name, pattern)]
    if found:
        return found
    near = difflib.get_close_matches(pattern, known, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    raise ValueError(f"No function of the PJRT table is called {pattern!r}.{hint}")


def _field(entry: dict[str, Any]) -> Field:
    return Field(
        entry["name"],
        entry["offset"],
        entry["kind"],
        entry["of"],
        entry.get("count"),
        entry.get("sizes"),
        entry.get("out", False),
        entry.get("filled", False),
        entry.get("in", "out" not in entry),
        entry.get("when"),
    )


@functools.cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(Path(__file__).with_name("functions.json").read_bytes())
    return data
