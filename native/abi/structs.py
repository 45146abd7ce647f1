"""Structs of a C API as both descriptions have them: in what order a header may define them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeVar


class Field(Protocol):
    """A field: its type, and its members where it is a struct or union without a name."""

    @property
    def type(self) -> str: ...
    @property
    def members(self) -> Sequence[Field]: ...


class Struct(Protocol):
    """A struct and its fields."""

    @property
    def name(self) -> str: ...
    @property
    def fields(self) -> Sequence[Field]: ...


Described = TypeVar("Described", bound=Struct)


def structs_in_order(structs: Mapping[str, Described]) -> Iterator[Described]:
    """The structs, each after those that it holds by value, alone or in an array."""
    done: set[str] = set()

    def visit(struct: Described) -> Iterator[Described]:
        if struct.name in done:
            return
        done.add(struct.name)
        for field in _flat(struct.fields):
            if held := structs.get(field.type.partition("[")[0]):
                yield from visit(held)
        yield struct

    for struct in structs.values():
        yield from visit(struct)


def _flat(fields: Sequence[Field]) -> Iterator[Field]:
    for field in fields:
        yield field
        yield from _flat(field.members)
