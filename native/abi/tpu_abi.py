"""The legacy TPU C API as data: the functions that a jaxlib without PJRT looks up in `libtpu.so` by name.

Reads the JSON description (functions, parameters, structs, enums). The `about` entry of the file explains its units.
Offsets and sizes are bytes on x86-64 LP64.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "tpu_c_api_jaxlib_0.4.13.json"
STATUS = "TF_Status*"


@dataclass(frozen=True)
class Parameter:
    """A parameter. An unnamed one gets its name from its position."""

    name: str
    type: str


@dataclass(frozen=True)
class Function:
    """A function that jaxlib looks up."""

    name: str
    returns: str
    parameters: tuple[Parameter, ...]

    def has(self, name: str, *types: str) -> bool:
        """Whether there is a parameter with this name and one of these types."""
        return any(parameter.name == name and parameter.type in types for parameter in self.parameters)


@dataclass(frozen=True)
class Field:
    """A struct member. `name` is None for an anonymous union with the members `members`."""

    name: str | None
    type: str
    offset: int
    members: tuple[Field, ...] = ()


@dataclass(frozen=True)
class Struct:
    """A struct that callers and the library share."""

    name: str
    size: int
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """The member with this name, or None."""
        return next((field for field in self.fields if field.name == name), None)


@dataclass(frozen=True)
class TpuAbi:
    """The API that one jaxlib uses. `values` are numbers whose meaning the API defines without an enum."""

    jaxlib: str
    functions: tuple[Function, ...]
    structs: dict[str, Struct]
    enums: dict[str, dict[str, int]]
    typedefs: dict[str, str]
    opaque: tuple[str, ...]
    values: dict[str, dict[str, int]]


def load(path: Path = DATA) -> TpuAbi:
    """Read the description."""
    data = json.loads(path.read_text())
    return TpuAbi(
        data["jaxlib"],
        tuple(_function(entry) for entry in data["functions"]),
        {
            name: Struct(name, entry["size"], tuple(map(_field, entry["fields"])))
            for name, entry in data["structs"].items()
        },
        data["enums"],
        data["typedefs"],
        tuple(data["opaque"]),
        data["related_values"],
    )


def _function(entry: dict[str, Any]) -> Function:
    parameters = tuple(
        Parameter(parameter["name"] or f"argument_{place}", parameter["type"])
        for place, parameter in enumerate(entry["params"])
    )
    return Function(entry["name"], entry["returns"], parameters)


def _field(entry: dict[str, Any]) -> Field:
    members = tuple(map(_field, entry.get("fields", ())))
    return Field(entry["name"], entry["type"], entry["offset"], members)
