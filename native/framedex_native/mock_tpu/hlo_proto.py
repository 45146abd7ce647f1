"""An HLO module together with its configuration, in the encoding of protocol buffers.

The field numbers are of xla/service/hlo.proto (HloModuleProto, HloModuleProtoWithConfig, HloInputOutputAliasProto),
xla/xla.proto (HloModuleConfigProto) and xla/xla_data.proto (ProgramShapeProto, ShapeProto,
LayoutProto, TileProto). https://protobuf.dev/programming-guides/encoding

What is no such module raises ValueError.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .program import DEVICE_MEMORY, Value

_HOST_PROGRAM_SHAPE, _INPUT_OUTPUT_ALIAS = 4, 8
_ALIAS_ENTRIES = 1
_OUTPUT_INDEX, _PARAMETER_NUMBER, _PARAMETER_INDEX = 1, 2, 3
_HLO_MODULE, _CONFIG = 1, 2
_ENTRY_COMPUTATION_LAYOUT, _REPLICA_COUNT, _NUM_PARTITIONS = 1, 4, 5
_PARAMETERS, _RESULT = 1, 2
_ELEMENT_TYPE, _TUPLE_SHAPES, _LAYOUT = 2, 4, 5
_TUPLE = 13
_MINOR_TO_MAJOR, _TILES, _MEMORY_SPACE = 1, 6, 8
_TILE_DIMENSIONS = 1
_HOST_MEMORY_SPACE = 5  # xla::Layout::kHostMemorySpace
_VARINT, _LENGTH_DELIMITED = 0, 2
_FIXED = {1: 8, 5: 4}  # bytes by wire type
_LONGEST_VARINT = 10  # bytes
_DEEPEST_TUPLE = 100
_DAMAGED = "the serialised HLO module is damaged"


def module_with_config(
    module: bytes, parameters: Sequence[Value], results: Sequence[Value], shape: tuple[int, int]
) -> bytes:
    """The HloModuleProtoWithConfig of a serialised HloModuleProto. It is for as many replicas and partitions as `shape`
    says, and its entry computation has the layout of `parameters` and `results`, whatever it was compiled with."""
    program = next((field.content for field in _fields(module) if field.number == _HOST_PROGRAM_SHAPE), b"")
    layout = _program_shape(program, iter(parameters), iter(results))
    replicas, partitions = shape
    config = _message(_ENTRY_COMPUTATION_LAYOUT, layout)
    config += _integer(_REPLICA_COUNT, replicas) + _integer(_NUM_PARTITIONS, partitions)
    return _message(_HLO_MODULE, module) + _message(_CONFIG, config)


def donations(module: bytes) -> list[tuple[int, int]]:
    """The parameters whose memory a compiled HloModuleProto gives to a result, with that result.

    Parameters and results are numbered as if they never came as a tuple.
    """
    entries = [
        list(_fields(entry.content))
        for alias in _fields(module)
        if alias.number == _INPUT_OUTPUT_ALIAS
        for entry in _fields(alias.content)
        if entry.number == _ALIAS_ENTRIES
    ]
    return sorted((_parameter(entry), _element(entry, _OUTPUT_INDEX, 0)) for entry in entries)


def _parameter(entry: Sequence[_Field]) -> int:
    number = next((field.integer for field in entry if field.number == _PARAMETER_NUMBER), 0)
    return _element(entry, _PARAMETER_INDEX, number)


def _element(entry: Sequence[_Field], field_number: int, alone: int) -> int:
    """The number of an array within a tuple; `alone` where there is no tuple."""
    path = next((field.content for field in entry if field.number == field_number), b"")
    return _read_varint(path, 0)[0] if path else alone


def _program_shape(shape: bytes, parameters: Iterator[Value], results: Iterator[Value]) -> bytes:
    changed = b""
    for field in _fields(shape):
        if field.number == _PARAMETERS:
            changed += _message(_PARAMETERS, _shape(field.content, parameters))
        elif field.number == _RESULT:
            changed += _message(_RESULT, _shape(field.content, results))
        else:
            changed += field.encoded
    return changed


def _shape(shape: bytes, values: Iterator[Value], depth: int = 0) -> bytes:
    """The shape of the next value, or a tuple of the shapes of the next ones, with their layouts."""
    if depth > _DEEPEST_TUPLE:
        raise ValueError(_DAMAGED)
    fields = list(_fields(shape))
    if any(field.number == _ELEMENT_TYPE and field.integer == _TUPLE for field in fields):
        return b"".join(
            _message(_TUPLE_SHAPES, _shape(field.content, values, depth + 1))
            if field.number == _TUPLE_SHAPES
            else field.encoded
            for field in fields
        )
    value = next(values, None)
    if value is None:
        raise ValueError(_DAMAGED)
    return b"".join(
        _message(_LAYOUT, _layout(field.content, value)) if field.number == _LAYOUT else field.encoded
        for field in fields
    )


def _layout(layout: bytes, value: Value) -> bytes:
    replaced = (_MINOR_TO_MAJOR, _TILES, _MEMORY_SPACE)
    changed = b"".join(field.encoded for field in _fields(layout) if field.number not in replaced)
    changed += _message(_MINOR_TO_MAJOR, b"".join(map(_varint, value.minor_to_major)))
    for tile in value.tiles:
        changed += _message(_TILES, _message(_TILE_DIMENSIONS, b"".join(map(_varint, tile))))
    if value.memory_kind != DEVICE_MEMORY:
        changed += _integer(_MEMORY_SPACE, _HOST_MEMORY_SPACE)
    return changed


def _message(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(content)) + content


def _integer(number: int, value: int) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(value)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


@dataclass(frozen=True)
class _Field:
    """A field of a message: as it is encoded, and what it holds (an integer or bytes, after its type)."""

    number: int
    encoded: bytes
    integer: int = 0
    content: bytes = b""


def _fields(message: bytes) -> Iterator[_Field]:
    position = 0
    while position < len(message):
        start = position
        tag, position = _read_varint(message, position)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == _LENGTH_DELIMITED:
            size, position = _read_varint(message, position)
            content = message[position : position + size]
            if len(content) < size:
                raise ValueError(_DAMAGED)
            position += size
            yield _Field(number, message[start:position], content=content)
        elif wire_type == _VARINT:
            integer, position = _read_varint(message, position)
            yield _Field(number, message[start:position], integer=integer)
        elif wire_type in _FIXED and position + _FIXED[wire_type] <= len(message):
            position += _FIXED[wire_type]
            yield _Field(number, message[start:position])
        else:
            raise ValueError(_DAMAGED)


def _read_varint(message: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * _LONGEST_VARINT, 7):
        if position >= len(message):
            break
        byte = message[position]
        value |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return value, position
    raise ValueError(_DAMAGED)
