"""The functions that accept behaviours, and their argument structs, from `functions.json`.

That file is generated from the ABI of the PJRT C API. Offsets and sizes are in bytes.
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
"""The mock's own function that allocates device memory for buffers. Plug-ins do not expose theirs."""

_POINTER = 8
_SIZES = {"Q": 8, "q": 8, "I": 4, "i": 4, "?": 1, "f": 4, "d": 8}


@dataclass(frozen=True, slots=True)
class Field:
    """A member of a struct.

    `kind` selects the decoder. Depending on it, `element_type` is a type letter of the module `struct`, or the name of
    an enumeration, a struct or an object type. `count` names the member with the element count; for `rows` it names two
    members. `sizes` names the member with the length of each element. The caller allocates the memory of an output that
    `is_filled`. An output that also `is_input` carries a value before the call. `selector` is the value of the struct's
    `type` that selects this member of a union.
    """

    name: str
    offset: int
    kind: str
    element_type: str
    count: Any = None
    sizes: str | None = None
    is_output: bool = False
    is_filled: bool = False
    is_input: bool = True
    selector: str | None = None

    @property
    def size(self) -> int:
        """Its size in bytes."""
        if self.kind == "number":
            return _SIZES[self.element_type]
        if self.kind == "enum":
            return _SIZES["i"]
        return structs()[self.element_type].size if self.kind == "struct" else _POINTER


@dataclass(frozen=True)
class Struct:
    """A struct. Callers write `struct_size` into its first member; None if it has no such member.

    `array` names the members with the element type and the dimensions, if the struct describes an array.
    """

    name: str
    size: int
    struct_size: int | None
    fields: dict[str, Field]
    array: tuple[str, str] | None

    @functools.cached_property
    def counts(self) -> frozenset[str]:
        """The members that hold counts and sizes of other members, except of memory that the caller allocates."""
        others = [field for field in self.fields.values() if not field.is_filled]
        named = [name for field in others for name in (field.count, field.sizes)]
        return frozenset(name for name in named if isinstance(name, str))


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the table. `number` is its index there."""

    name: str
    number: int
    arguments: Struct
    returns_error: bool


@functools.cache
def functions() -> dict[str, Function]:
    """All functions by name, in table order, followed by `DeviceMemory::Allocate`."""
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
    """The values of an enumeration by name, without the prefix: `F32`."""
    found: dict[str, int] = _data()["enums"][enumeration]
    return found


@functools.cache
def enumerator_names(enumeration: str) -> dict[int, str]:
    """The enumerator names by value."""
    return {value: name for name, value in enumerators(enumeration).items()}


def matching(pattern: str) -> list[Function]:
    """The functions with this name, or that match a pattern with `*`, `?` and `[...]`.

    Raises ValueError, with similar names, if no function matches.
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
