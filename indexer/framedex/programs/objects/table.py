"""The output values and objects among the values of each C API function, and the lifetime of these objects.

The table is generated from the ABI's description (see `native/abi/generate_objects.py`) and supports captures of every
version. `ViolationKind` lists the violations of lifetimes that a capture can show.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any


class ViolationKind(StrEnum):
    """A forbidden use of an object by a call."""

    USE_AFTER_DESTROY = "use-after-destroy"
    DOUBLE_DESTROY = "double-destroy"
    UNKNOWN_DESTROY = "unknown-destroy"  # no recorded call created it
    FOREIGN_DESTROY = "foreign-destroy"  # it belongs to another object, which destroys it
    USE_AFTER_DELETE = "use-after-delete"  # for its content, which was deleted or donated
    DESTROYED_IN_USE = "destroyed-in-use"  # by a call on another thread
    USE_AFTER_CLIENT = "use-after-client"  # after its client was destroyed


class ObjectRole(StrEnum):
    """The effect of a call on an object among its values."""

    CREATES = "creates"  # the caller has to destroy it
    NAMES = "names"  # returned, but owned by another object
    USES = "uses"
    DELETES = "deletes"  # releases its content; the object itself still has to be destroyed
    DESTROYS = "destroys"


@dataclass(frozen=True, slots=True)
class ObjectField:
    """A recorded value that is an object of `type` (`loaded_executable`), or a list of such objects."""

    name: str
    type: str
    role: ObjectRole
    is_list: bool

    @property
    def is_result(self) -> bool:
        """Return whether the call returns the object, which exists from the end of the call on."""
        return self.role in (ObjectRole.CREATES, ObjectRole.NAMES)


@dataclass(frozen=True, slots=True)
class BoundaryFunction:
    """The values of a function that are outputs or objects.

    `inputs` are the input objects, `results` the output objects. `reads` is true if it creates an object from the
    content of its inputs. `sizes` are the created objects whose size is the value `bytes`. `takes_callback`: a callback
    may use and destroy its arguments before it returns. `identifies` is the object whose own number is the value `id`.
    `reports_deletion` is the value that is true if the object was deleted. `does_work`: a call compiles, loads or runs
    a program, or moves data.
    """

    outputs: frozenset[str] = frozenset()
    inputs: tuple[ObjectField, ...] = ()
    results: tuple[ObjectField, ...] = ()
    reads: bool = False
    sizes: frozenset[str] = frozenset()
    takes_callback: bool = False
    identifies: str | None = None
    reports_deletion: str | None = None
    does_work: bool = False

    @property
    def objects(self) -> tuple[ObjectField, ...]:
        """Return the input objects, then the output objects."""
        return self.inputs + self.results


def find_boundary_function(name: str) -> BoundaryFunction:
    """Return the known values of a boundary function; no values if it is not a function of the PJRT C API."""
    return _load_functions().get(name, BoundaryFunction())


def parse_address(value: object) -> int:
    """Return the recorded value as an address; 0 if it is not an address."""
    try:
        return int(value, 16) if isinstance(value, str) and value.startswith("0x") else 0
    except ValueError:
        return 0


def iterate_objects(field: ObjectField, value: object) -> Iterator[object]:
    """Yield the possible objects in a value: the value itself, the elements of a list, or of a list of lists."""
    if not field.is_list:
        yield value
    elif isinstance(value, list):
        for element in value:
            yield from iterate_objects(field, element) if isinstance(element, list) else (element,)


def find_fields_of_type(kind: str) -> dict[str, list[str]]:
    """Return the names of values that are objects of this type, each with the functions that have it."""
    found: dict[str, list[str]] = {}
    for name, function in _load_functions().items():
        for field in function.objects:
            if field.type == kind:
                found.setdefault(field.name, []).append(name)
    return found


def load_boundary_functions() -> dict[str, BoundaryFunction]:
    """Return all functions with known values, by name."""
    return dict(_load_functions())


@cache
def _load_functions() -> dict[str, BoundaryFunction]:
    text = Path(__file__).with_name("pjrt_objects.json").read_text("utf-8")
    return {name: _parse_function(entry) for name, entry in json.loads(text)["functions"].items()}


def _parse_function(entry: dict[str, Any]) -> BoundaryFunction:
    objects = [
        ObjectField(field, known["type"], ObjectRole(known["role"]), known.get("list", False))
        for field, known in entry.get("objects", {}).items()
    ]
    return BoundaryFunction(
        outputs=frozenset(entry.get("outputs", ())),
        inputs=tuple(field for field in objects if not field.is_result),
        results=tuple(field for field in objects if field.is_result),
        reads=any(field.role is ObjectRole.CREATES for field in objects),
        sizes=frozenset(entry.get("sizes", ())),
        takes_callback=entry.get("takes_callback", False),
        identifies=entry.get("identifies"),
        reports_deletion=entry.get("tells_deleted"),
        does_work=entry.get("works", False),
    )
