"""The functions of the runtime's C API, from the description of its ABI."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Parameter:
    """A field of a function's argument struct, or a parameter of a function without one.

    A field of a nested struct, or of one behind a pointer, has a dotted name. `since` is the minor version of the API
    that added it, None if it is older than the history.
    """

    name: str
    type: str
    is_output: bool
    since: int | None


class Kind(StrEnum):
    """The kind of table that contains a function."""

    API = "api"  # the table of the PJRT C API itself
    EXTENSION = "extension"
    OBJECT = "object"  # an object's own table, whose calls are not recorded
    LEGACY = "legacy"  # not in a table: exported by the C API of jaxlib 0.4.13


@dataclass(frozen=True, slots=True)
class Described:
    """A function of a table.

    `table` is "PJRT" for the API table. Otherwise it is the extension ("Layouts"), the object's own table ("Memory"),
    or "TPU" for the C API of jaxlib 0.4.13. `since` is as for parameters. `source` is the public address of its
    declaration, None if unknown.
    """

    name: str
    kind: Kind
    table: str
    returns: str
    arguments: str  # the type of its argument struct; empty for functions that take parameters
    parameters: tuple[Parameter, ...]
    since: int | None
    source: str | None


@dataclass(frozen=True, slots=True)
class ApiRelease:
    """A release of jaxlib: the minor version of its PJRT C API, and the number of functions in the table."""

    jaxlib: str
    minor: int
    functions: int
