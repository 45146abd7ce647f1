"""The members of a C struct as Python values, read on access.

Numbers become int, float or bool. Enumerators become their names without the prefix. Texts become str; programs and
other serialised data become bytes. Arrays become tuples, named values a dict, structs nested mappings. Objects become a
`Handle`, or None if null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import memory
from .abi import Field, Struct, enumerator_names, structs
from .handles import Handle


def _all(field: Field) -> bool:
    return True


class Fields(Mapping[str, Any]):
    """Selected members of a struct, by name or as attributes, without members unknown to the struct's writer."""

    __slots__ = ("_address", "_is_chosen", "_struct")

    def __init__(self, struct: Struct, address: int, is_chosen: Callable[[Field], bool] = _all) -> None:
        """Select members of the struct at `address`. `is_chosen` raises once the members can no longer be read."""
        self._struct = struct
        self._address = address
        self._is_chosen = is_chosen

    def __getitem__(self, name: str) -> Any:
        field = self._struct.fields.get(name)
        if field is None or not self._is_available(field):
            raise KeyError(name)
        return self._value(field)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{self._struct.name} has no {name!r} here. It has: {', '.join(self)}") from None

    def __iter__(self) -> Iterator[str]:
        hidden = self._struct.counts
        return (name for name, field in self._struct.fields.items() if name not in hidden and self._is_available(field))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name}: {value!r}" for name, value in self.items()) + "}"

    def _value(self, field: Field) -> Any:
        return read(self._struct, field, self._address)

    def _is_available(self, field: Field) -> bool:
        return self._is_chosen(field) and is_known(self._struct, field, self._address)


class CopiedFields(Mapping[str, Any]):
    """Copied members, by name or as attributes. They outlive the struct and are read-only."""

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, Any]) -> None:
        """Copy the values of all members."""
        self._members = {name: copy_value(each) for name, each in members.items()}

    def __getitem__(self, name: str) -> Any:
        return self._members[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} here. Available: {', '.join(self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        return repr(self._members)


def copy_value(value: Any) -> Any:
    """Copy a value, so that it no longer reads from a struct."""
    if isinstance(value, Fields):
        return CopiedFields(value)
    return tuple(copy_value(each) for each in value) if isinstance(value, tuple) else value


def is_known(struct: Struct, field: Field, address: int) -> bool:
    """Whether the struct at `address` has this member. Older callers pass shorter structs; a union has one member."""
    if struct.struct_size is not None and field.offset + field.size > memory.number(memory.ADDRESS, address):
        return False
    return field.selector is None or read(struct, struct.fields["type"], address) == field.selector


def read(struct: Struct, field: Field, address: int) -> Any:
    """The value of a member of the struct at `address`."""
    where = address + field.offset
    if field.kind == "number":
        return memory.number(field.element_type, where)
    if field.kind == "enum":
        return _enumerator(field.element_type, memory.number("i", where))
    if field.kind == "struct":
        return Fields(structs()[field.element_type], where)
    return _read_pointee(struct, field, address, memory.number(memory.ADDRESS, where))


def _read_pointee(struct: Struct, field: Field, address: int, target: int) -> Any:
    """The value of a pointer member that points to `target`."""
    if field.kind == "handle":
        return Handle(field.element_type, target) if target else None
    if field.kind == "address":
        return target
    if field.kind == "struct_pointer":
        return Fields(structs()[field.element_type], target) if target else None
    if field.kind == "rows":  # the struct lacks the lengths of lists that the plug-in fills
        count, length = (
            read(struct, struct.fields[each], address) if each in struct.fields else 0 for each in field.count
        )
        return rows(field.element_type, target, count, length)
    count = read(struct, struct.fields[field.count], address) if field.count else None
    if field.kind in ("text", "bytes"):
        data = memory.content(target, count)
        return memory.text(data) if field.kind == "text" else data
    if field.kind in ("texts", "number_lists"):
        lengths = memory.number(memory.ADDRESS, address + struct.fields[field.sizes or ""].offset)
        sizes = memory.numbers(memory.ADDRESS, lengths, count or 0)
        if field.kind == "texts":
            return _texts(target, sizes) if target else ()
        # Empty lists, such as the dimensions of scalars, may have a null pointer.
        return _number_lists(field.element_type, target, sizes) if target or not any(sizes) else ()
    if not target or not count:
        return {} if field.kind == "named_values" else ()
    return _ELEMENTS[field.kind](field.element_type, target, count)


def rows(type_name: str, target: int, count: int, length: int) -> tuple[tuple[Handle | None, ...], ...]:
    """Lists of `length` objects, one list for each device."""
    return tuple(_handles(type_name, row, length) for row in memory.numbers(memory.ADDRESS, target, count))


def _texts(target: int, sizes: tuple[int, ...]) -> tuple[str, ...]:
    starts = memory.numbers(memory.ADDRESS, target, len(sizes))
    return tuple(memory.text(memory.content(start, size)) for start, size in zip(starts, sizes, strict=True))


def _number_lists(letter: str, target: int, sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Split a flat array into consecutive lists of these sizes."""
    every = iter(memory.numbers(letter, target, sum(sizes)))
    return tuple(tuple(next(every) for _ in range(size)) for size in sizes)


def _handles(type_name: str, target: int, count: int) -> tuple[Handle | None, ...]:
    return tuple(Handle(type_name, each) if each else None for each in memory.numbers(memory.ADDRESS, target, count))


def _structs(type_name: str, target: int, count: int) -> tuple[Fields, ...]:
    struct = structs()[type_name]
    return tuple(Fields(struct, target + index * struct.size) for index in range(count))


def _struct_pointers(type_name: str, target: int, count: int) -> tuple[Fields | None, ...]:
    struct = structs()[type_name]
    return tuple(Fields(struct, each) if each else None for each in memory.numbers(memory.ADDRESS, target, count))


def _named_values(type_name: str, target: int, count: int) -> dict[str, Any]:
    """Named values as a dict of texts, integers, tuples of integers, floats and bools."""
    struct = structs()[type_name]
    addresses = range(target, target + count * struct.size, struct.size)
    return {read(struct, struct.fields["name"], each): _named_value(struct, each) for each in addresses}


def _named_value(struct: Struct, address: int) -> Any:
    kind = read(struct, struct.fields["type"], address)
    size = read(struct, struct.fields["value_size"], address)
    target = memory.number(memory.ADDRESS, address + struct.fields["string_value"].offset)
    if kind == "String":
        return memory.text(memory.content(target, size))
    if kind == "Int64List":
        return memory.numbers("q", target, size)
    return read(struct, struct.fields[f"{kind.lower()}_value"], address)


def _enumerator(type_name: str, value: int) -> Any:
    """The enumerator's name, or its number if a newer API version defines it."""
    return enumerator_names(type_name).get(value, value)


_ELEMENTS: dict[str, Callable[[str, int, int], Any]] = {
    "numbers": memory.numbers,
    "enums": lambda of, target, count: tuple(_enumerator(of, each) for each in memory.numbers("i", target, count)),
    "handles": _handles,
    "structs": _structs,
    "struct_pointers": _struct_pointers,
    "named_values": _named_values,
}
