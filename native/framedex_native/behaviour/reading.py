"""The members of a C struct as Python values, each read when it is asked for.

Numbers are int, float or bool, enumerators their names without prefix, texts str (programs and other serialised data
bytes), arrays tuples, named values a dict, structs mappings like the one around them, objects a `Handle` (None: null).
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
    """Some members of a struct, by name or as attributes. What the struct's writer did not know is not there."""

    __slots__ = ("_address", "_chosen", "_struct")

    def __init__(self, struct: Struct, address: int, chosen: Callable[[Field], bool] = _all) -> None:
        """The struct at `address`, of whose members those that are `chosen`: it raises where they may not be read."""
        self._struct = struct
        self._address = address
        self._chosen = chosen

    def __getitem__(self, name: str) -> Any:
        field = self._struct.fields.get(name)
        if field is None or not self._is_there(field):
            raise KeyError(name)
        return self._value(field)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"{self._struct.name} has no {name!r} here: it has {', '.join(self)}") from None

    def __iter__(self) -> Iterator[str]:
        hidden = self._struct.counts
        return (name for name, field in self._struct.fields.items() if name not in hidden and self._is_there(field))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{name}: {value!r}" for name, value in self.items()) + "}"

    def _value(self, field: Field) -> Any:
        return read(self._struct, field, self._address)

    def _is_there(self, field: Field) -> bool:
        return self._chosen(field) and is_known(self._struct, field, self._address)


class Kept(Mapping[str, Any]):
    """Members that were read, by name or as attributes: they outlive the struct, and none of them can be set."""

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, Any]) -> None:
        """The values of all of them."""
        self._members = {name: kept(each) for name, each in members.items()}

    def __getitem__(self, name: str) -> Any:
        return self._members[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} here: there are {', '.join(self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        return repr(self._members)


def kept(value: Any) -> Any:
    """The same value without what is only read when it is asked for."""
    if isinstance(value, Fields):
        return Kept(value)
    return tuple(kept(each) for each in value) if isinstance(value, tuple) else value


def is_known(struct: Struct, field: Field, address: int) -> bool:
    """Whether the struct at `address` has this member: older callers bring shorter ones, unions have one of several."""
    if struct.struct_size is not None and field.offset + field.size > memory.number(memory.ADDRESS, address):
        return False
    return field.when is None or read(struct, struct.fields["type"], address) == field.when


def read(struct: Struct, field: Field, address: int) -> Any:
    """The value of a member of the struct at `address`."""
    where = address + field.offset
    if field.kind == "number":
        return memory.number(field.of, where)
    if field.kind == "enum":
        return _enumerator(field.of, memory.number("i", where))
    if field.kind == "struct":
        return Fields(structs()[field.of], where)
    return _pointed_to(struct, field, address, memory.number(memory.ADDRESS, where))


def _pointed_to(struct: Struct, field: Field, address: int, target: int) -> Any:
    """The value of a member that is a pointer, to `target`."""
    if field.kind == "handle":
        return Handle(field.of, target) if target else None
    if field.kind == "address":
        return target
    if field.kind == "struct_pointer":
        return Fields(structs()[field.of], target) if target else None
    if field.kind == "rows":  # how long those are that the plug-in fills is not in the struct
        count, length = (
            read(struct, struct.fields[each], address) if each in struct.fields else 0 for each in field.count
        )
        return rows(field.of, target, count, length)
    count = read(struct, struct.fields[field.count], address) if field.count else None
    if field.kind in ("text", "bytes"):
        data = memory.content(target, count)
        return memory.text(data) if field.kind == "text" else data
    if field.kind in ("texts", "number_lists"):
        lengths = memory.number(memory.ADDRESS, address + struct.fields[field.sizes or ""].offset)
        sizes = memory.numbers(memory.ADDRESS, lengths, count or 0)
        if field.kind == "texts":
            return _texts(target, sizes) if target else ()
        # Lists that are all empty, as the dimensions of scalars, may lie nowhere.
        return _number_lists(field.of, target, sizes) if target or not any(sizes) else ()
    if not target or not count:
        return {} if field.kind == "named_values" else ()
    return _ELEMENTS[field.kind](field.of, target, count)


def rows(of: str, target: int, count: int, length: int) -> tuple[tuple[Handle | None, ...], ...]:
    """Lists of objects, one of `length` for each device."""
    return tuple(_handles(of, row, length) for row in memory.numbers(memory.ADDRESS, target, count))


def _texts(target: int, sizes: tuple[int, ...]) -> tuple[str, ...]:
    starts = memory.numbers(memory.ADDRESS, target, len(sizes))
    return tuple(memory.text(memory.content(start, size)) for start, size in zip(starts, sizes, strict=True))


def _number_lists(letter: str, target: int, sizes: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Lists of which one begins where the last one ended."""
    every = iter(memory.numbers(letter, target, sum(sizes)))
    return tuple(tuple(next(every) for _ in range(size)) for size in sizes)


def _handles(of: str, target: int, count: int) -> tuple[Handle | None, ...]:
    return tuple(Handle(of, each) if each else None for each in memory.numbers(memory.ADDRESS, target, count))


def _structs(of: str, target: int, count: int) -> tuple[Fields, ...]:
    struct = structs()[of]
    return tuple(Fields(struct, target + index * struct.size) for index in range(count))


def _struct_pointers(of: str, target: int, count: int) -> tuple[Fields | None, ...]:
    struct = structs()[of]
    return tuple(Fields(struct, each) if each else None for each in memory.numbers(memory.ADDRESS, target, count))


def _named_values(of: str, target: int, count: int) -> dict[str, Any]:
    """A dict of texts, integers, tuples of integers, floats and bools."""
    struct = structs()[of]
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


def _enumerator(of: str, value: int) -> Any:
    """The enumerator's name; the number of one that is of a newer version."""
    return enumerator_names(of).get(value, value)


_ELEMENTS: dict[str, Callable[[str, int, int], Any]] = {
    "numbers": memory.numbers,
    "enums": lambda of, target, count: tuple(_enumerator(of, each) for each in memory.numbers("i", target, count)),
    "handles": _handles,
    "structs": _structs,
    "struct_pointers": _struct_pointers,
    "named_values": _named_values,
}
