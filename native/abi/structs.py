"""The definition order of C structs, for both API descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, TypeVar


class Field(Protocol):
    """A field: its type, and its members if it is an anonymous struct or union."""

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
    """The structs, each after the structs that it contains by value or in an array."""
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
