"""What the C API says of a function's values: which are outputs, which are objects, and what becomes of those.

The table is made from the ABI's description (see `native/abi/generate_objects.py`) and reads captures of every version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any


class Role(StrEnum):
    """What a call does with an object that is one of its values."""

    CREATES = "creates"  # the caller has to destroy it
    NAMES = "names"  # handed out, and owned by another object
    USES = "uses"
    DELETES = "deletes"  # gives up what it holds; the object itself is still to be destroyed
    DESTROYS = "destroys"


@dataclass(frozen=True, slots=True)
class ObjectField:
    """A recorded value that is an object of `type` (`loaded_executable`), or a list of such."""

    name: str
    type: str
    role: Role
    is_list: bool

    @property
    def is_result(self) -> bool:
        """Whether the call hands the object out, which is then there from the end of the call on."""
        return self.role in (Role.CREATES, Role.NAMES)


@dataclass(frozen=True, slots=True)
class BoundaryFunction:
    """A function's values, as far as they are outputs or objects.

    `inputs` are the objects that it is given, `results` those that it hands out; it `reads` the content of its inputs
    where it creates something of them.
    `sizes` are the created objects whose size in bytes is the value `bytes`. `takes_callback`: what it was given may be
    used, and destroyed, before it returns. `identifies` is the object whose own number the value `id` is;
    `tells_deleted` the value that says whether the object has been deleted. `works`: a call compiles, loads or runs a
    program, or moves data.
    """

    outputs: frozenset[str] = frozenset()
    inputs: tuple[ObjectField, ...] = ()
    results: tuple[ObjectField, ...] = ()
    reads: bool = False
    sizes: frozenset[str] = frozenset()
    takes_callback: bool = False
    identifies: str | None = None
    tells_deleted: str | None = None
    works: bool = False

    @property
    def objects(self) -> tuple[ObjectField, ...]:
        """The objects that it is given, then those that it hands out."""
        return self.inputs + self.results


def function_named(name: str) -> BoundaryFunction:
    """The values of a boundary function that are known; none where it is no function of the PJRT C API."""
    return _functions().get(name, BoundaryFunction())


def address_of(value: object) -> int:
    """The recorded value as an address; 0 where it is none."""
    try:
        return int(value, 16) if isinstance(value, str) and value.startswith("0x") else 0
    except ValueError:
        return 0


def elements(known: ObjectField, value: object) -> Iterator[object]:
    """The values in which objects may be: the value itself, the elements of a list, or those of a list of lists."""
    if not known.is_list:
        yield value
    elif isinstance(value, list):
        for element in value:
            yield from elements(known, element) if isinstance(element, list) else (element,)


def functions_with(kind: str) -> dict[str, list[str]]:
    """The values that are objects of this type, by name, each with the functions that have it."""
    found: dict[str, list[str]] = {}
    for name, function in _functions().items():
        for field in function.objects:
            if field.type == kind:
                found.setdefault(field.name, []).append(name)
    return found


def functions_of_the_c_api() -> dict[str, BoundaryFunction]:
    """All functions whose values are known, by name."""
    return dict(_functions())


@cache
def _functions() -> dict[str, BoundaryFunction]:
    text = Path(__file__).with_name("pjrt_objects.json").read_text("utf-8")
    return {name: _function(entry) for name, entry in json.loads(text)["functions"].items()}


def _function(entry: dict[str, Any]) -> BoundaryFunction:
    objects = [
        ObjectField(field, known["type"], Role(known["role"]), known.get("list", False))
        for field, known in entry.get("objects", {}).items()
    ]
    return BoundaryFunction(
        outputs=frozenset(entry.get("outputs", ())),
        inputs=tuple(field for field in objects if not field.is_result),
        results=tuple(field for field in objects if field.is_result),
        reads=any(field.role is Role.CREATES for field in objects),
        sizes=frozenset(entry.get("sizes", ())),
        takes_callback=entry.get("takes_callback", False),
        identifies=entry.get("identifies"),
        tells_deleted=entry.get("tells_deleted"),
        works=entry.get("works", False),
    )
