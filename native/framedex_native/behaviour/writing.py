"""Writing Python values into a C struct: assigned results, and the arguments of our own calls."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import memory
from .abi import Field, Struct, enumerators, structs
from .handles import Handle
from .memory import ADDRESS, MemoryOwner
from .reading import is_known, read

_IS_SET, _DELETER = "_is_set", "_deleter"
_NAMED_VALUE = "PJRT_NamedValue"
# Pairs of address and bytes.
_Pieces = Iterator[tuple[int, bytes]]


def write(
    struct: Struct, address: int, values: Mapping[str, Any], keeper: MemoryOwner, *, outputs: bool = True
) -> None:
    """Write members of the struct at `address`: only outputs, or any member if `outputs` is false.

    `keeper` owns the texts and arrays. Counts, and `x_is_set` for `x`, are written too. Raises ValueError or TypeError,
    with the member's name, for unknown members and values that do not fit. In that case the struct stays unchanged.
    """
    for where, data in list(_members(struct, address, values, keeper, outputs)):
        memory.put(where, data)


def clear_outputs(struct: Struct, address: int) -> None:
    """Zero the outputs that the plug-in should have set, and set deleters to a no-op."""
    for field in struct.fields.values():
        if not field.is_output or field.is_filled or not is_known(struct, field, address):
            continue
        if field.name.endswith(_DELETER):
            memory.put(address + field.offset, memory.pack(ADDRESS, [_does_nothing()]))
        elif field.kind not in ("struct_pointer", "struct"):
            memory.put(address + field.offset, bytes(field.size))


def output_names(struct: Struct, address: int) -> list[str]:
    """The outputs of the struct at `address` that a result may contain."""
    return [field.name for field in struct.fields.values() if _is_member(struct, field, address, outputs=True)]


def _does_nothing() -> int:
    """The address of a C function that accepts any argument and has no effect."""
    function = ctypes.CDLL(None).abs
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _is_member(struct: Struct, field: Field, address: int, *, outputs: bool) -> bool:
    is_bookkeeping = field.name in struct.counts or field.name.endswith((_IS_SET, _DELETER))
    is_chosen = field.is_output or not outputs
    return is_chosen and not is_bookkeeping and is_known(struct, field, address)


def _members(struct: Struct, address: int, values: Mapping[str, Any], keeper: MemoryOwner, outputs: bool) -> _Pieces:
    for name, value in values.items():
        field = struct.fields.get(name)
        if field is None or not _is_member(struct, field, address, outputs=outputs):
            known = ", ".join(output_names(struct, address) if outputs else struct.fields)
            raise ValueError(f"{struct.name} has no {'output' if outputs else 'member'} {name!r} here. It has: {known}")
        try:
            yield from _member(struct, field, address, value, keeper, is_ours=not outputs)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}: {error}") from None
        if is_set := struct.fields.get(name + _IS_SET):
            yield address + is_set.offset, memory.pack(memory.FLAG, [True])


def _member(struct: Struct, field: Field, address: int, value: Any, keeper: MemoryOwner, *, is_ours: bool) -> _Pieces:
    """The pieces of one member. With `is_ours`, the struct belongs to our own call and we allocate all memory."""
    where = address + field.offset
    if field.kind == "number":
        yield where, memory.pack(field.element_type, [value])
    elif field.kind == "enum":
        yield where, memory.pack("i", [_enumerator(field.element_type, value)])
    elif field.kind == "handle":
        if value is None and field.is_output and not is_ours and memory.number(ADDRESS, where):
            raise TypeError(f"expected a {field.element_type}, got None")
        yield where, memory.pack(ADDRESS, [_object(field.element_type, value)])
    elif field.kind == "address":
        yield where, memory.pack(ADDRESS, [value or 0])
    elif field.kind == "struct":
        inner = structs()[field.element_type]
        if inner.struct_size is not None and not memory.number(ADDRESS, where):
            yield where, memory.pack(ADDRESS, [inner.struct_size])
        yield from _nested_members(inner, where, value, keeper, is_ours=is_ours)
    elif field.kind == "struct_pointer":
        yield from _write_pointee(field, where, value, keeper, is_ours=is_ours)
    elif field.kind == "rows":
        yield from _rows(struct, field, address, value)
    elif field.is_filled and not is_ours:
        yield from _fill_caller_memory(struct, field, address, value, keeper)
    else:
        yield from _write_list(struct, field, address, value, keeper)


def _nested_members(struct: Struct, address: int, value: Any, keeper: MemoryOwner, *, is_ours: bool) -> _Pieces:
    """The members of a nested struct."""
    for name, each in _mapping(value).items():
        field = struct.fields.get(name)
        if field is None:
            raise ValueError(f"no member {name!r}. Available: {', '.join(struct.fields)}")
        yield from _member(struct, field, address, each, keeper, is_ours=is_ours)


def _write_pointee(field: Field, where: int, value: Any, keeper: MemoryOwner, *, is_ours: bool) -> _Pieces:
    """A struct that the caller allocated, or one of ours."""
    struct = structs()[field.element_type]
    if field.is_output and not is_ours:
        yield from _nested_members(struct, memory.number(ADDRESS, where), value, keeper, is_ours=False)
        return
    pointer = keeper.address(_block(struct, value, keeper)) if value is not None else 0
    yield where, memory.pack(ADDRESS, [pointer])


def _block(struct: Struct, value: Any, keeper: MemoryOwner) -> bytes:
    """The bytes of a struct with these members; all others are zero."""
    block = ctypes.create_string_buffer(struct.size)
    address = ctypes.addressof(block)
    if struct.struct_size is not None:
        memory.put(address, memory.pack(ADDRESS, [struct.struct_size]))
    for where, data in list(_nested_members(struct, address, value, keeper, is_ours=True)):
        memory.put(where, data)
    return block.raw


def _rows(struct: Struct, field: Field, address: int, value: Any) -> _Pieces:
    """Write objects into the caller's lists, one for each device. The struct lacks their lengths."""
    target = memory.number(ADDRESS, address + field.offset)
    count = read(struct, struct.fields[field.count[0]], address)
    every = _sequence(value)
    if len(every) != count:
        raise ValueError(f"expected {count} lists, got {len(every)}")
    for start, row in zip(memory.numbers(ADDRESS, target, count), every, strict=True):
        yield start, memory.pack(ADDRESS, [_required_object(field.element_type, each) for each in _sequence(row)])


def _fill_caller_memory(struct: Struct, field: Field, address: int, value: Any, keeper: MemoryOwner) -> _Pieces:
    """Write into the caller's memory. Without memory for bytes, the caller only queries their size."""
    target = memory.number(ADDRESS, address + field.offset)
    count = struct.fields[field.count]
    data, length = _elements(field, value, keeper)
    room = read(struct, count, address)
    if field.kind == "bytes":
        if target and length > room:
            raise ValueError(f"too long: the caller's memory holds {room} bytes, got {length}")
        yield address + count.offset, memory.pack(count.element_type, [length])
    elif not target:
        raise ValueError("the caller passed no memory for it")
    elif length != room:
        raise ValueError(f"expected {room} elements, got {length}")
    if target:
        yield target, data


def _write_list(struct: Struct, field: Field, address: int, value: Any, keeper: MemoryOwner) -> _Pieces:
    """Write a pointer to our memory, and its element count."""
    data, length = _elements(field, value, keeper)
    yield address + field.offset, memory.pack(ADDRESS, [keeper.address(data) if length else 0])
    if field.count:
        count = struct.fields[field.count]
        yield address + count.offset, memory.pack(count.element_type, [length])
    if field.sizes:
        sizes = memory.pack(ADDRESS, [len(each) for each in map(_with_length, value)])
        yield address + struct.fields[field.sizes].offset, memory.pack(ADDRESS, [keeper.address(sizes)])


def _elements(field: Field, value: Any, keeper: MemoryOwner) -> tuple[bytes, int]:
    """The bytes that a pointer refers to, and their element count."""
    if field.kind in ("text", "bytes"):
        data = memory.data_of(value)
        return data, len(data)
    if field.kind == "named_values":
        named = _mapping(value)
        struct = structs()[_NAMED_VALUE]
        return b"".join(
            _block(struct, _named_value_pieces(name, each, keeper), keeper) for name, each in named.items()
        ), len(named)
    values = _sequence(value)
    if field.kind == "numbers":
        return memory.pack(field.element_type, values), len(values)
    if field.kind == "enums":
        return memory.pack("i", [_enumerator(field.element_type, each) for each in values]), len(values)
    if field.kind == "handles":
        return memory.pack(ADDRESS, [_required_object(field.element_type, each) for each in values]), len(values)
    if field.kind == "structs":
        return b"".join(_block(structs()[field.element_type], each, keeper) for each in values), len(values)
    if field.kind == "number_lists":
        return memory.pack(field.element_type, [number for each in values for number in _sequence(each)]), len(values)
    if field.kind == "texts":
        return memory.pack(ADDRESS, [keeper.address(memory.data_of(each)) for each in values]), len(values)
    raise ValueError("this member cannot be written")


def _named_value_pieces(name: str, value: Any, keeper: MemoryOwner) -> dict[str, Any]:
    """The members of a named value: a str, a bool, an integer, a float or a sequence of integers."""
    if isinstance(value, str | bytes):
        data = memory.data_of(value)
        return {"name": name, "type": "String", "string_value": data, "value_size": len(data)}
    if isinstance(value, bool):
        return {"name": name, "type": "Bool", "bool_value": value, "value_size": 1}
    if isinstance(value, int):
        return {"name": name, "type": "Int64", "int64_value": value, "value_size": 1}
    if isinstance(value, float):
        return {"name": name, "type": "Float", "float_value": value, "value_size": 1}
    values = _sequence(value)
    array = keeper.address(memory.pack("q", values))
    return {"name": name, "type": "Int64List", "int64_array_value": array, "value_size": len(values)}


def _enumerator(enumeration: str, value: Any) -> int:
    known = enumerators(enumeration)
    if isinstance(value, int):
        return value
    if value not in known:
        raise ValueError(f"{value!r} is not one of {', '.join(known)}")
    return known[value]


def _object(kind: str, value: Any) -> int:
    """The address of an object of this type, 0 for None."""
    if value is None:
        return 0
    if not isinstance(value, Handle) or value.type != kind:
        raise TypeError(f"expected a {kind}, got {value!r}")
    return value.address


def _required_object(kind: str, value: Any) -> int:
    """The address of a required object of this type."""
    if value is None:
        raise TypeError(f"expected a {kind}, got None")
    return _object(kind, value)


def _with_length(value: Any) -> Sequence[Any] | bytes:
    """An element whose length is stored separately."""
    return memory.data_of(value) if isinstance(value, str | bytes) else _sequence(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"expected a dict, got {type(value).__name__}")
    return value


def _sequence(value: Any) -> Sequence[Any]:
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        raise TypeError(f"expected a sequence, got {type(value).__name__}")
    return tuple(value)
