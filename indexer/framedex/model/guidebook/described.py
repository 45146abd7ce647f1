"""The functions of the runtime's C API, as the description of their ABI has them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Parameter:
    """A field of a function's argument struct, or a parameter of a function that takes none.

    A field of a struct that an argument points to, or is, has a dotted name. `since` is the minor version of the API in
    which it came; None where the history does not reach that far back.
    """

    name: str
    type: str
    is_output: bool
    since: int | None


class Kind(StrEnum):
    """What sort of table a function is in."""

    API = "api"  # that of the PJRT C API itself
    EXTENSION = "extension"
    OBJECT = "object"  # an object's own, whose calls are not recorded
    LEGACY = "legacy"  # none: exported, by the C API of jaxlib 0.4.13


@dataclass(frozen=True, slots=True)
class Described:
    """A function of a table.

    `table` is "PJRT" for that of the API, else the extension ("Layouts"), the objects' own table ("Memory") or "TPU",
    the C API of jaxlib 0.4.13. `since` is as for parameters. `source` is the public address of its declaration, None
    where that is not known.
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
    """A release of jaxlib: the minor version of its PJRT C API, and how many functions the table has."""

    jaxlib: str
    minor: int
    functions: int
