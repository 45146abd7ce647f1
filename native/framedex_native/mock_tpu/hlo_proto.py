"""Serialisation of an HLO module together with its configuration.

The field numbers come from xla/service/hlo.proto (HloModuleProto, HloModuleProtoWithConfig), xla/xla.proto
(HloModuleConfigProto) and xla/xla_data.proto (ProgramShapeProto, ShapeProto, LayoutProto, TileProto). A malformed
module raises ValueError.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .program import DEVICE_MEMORY, Value

if TYPE_CHECKING:
    from framedex_native.ffi import protobuf
else:
    from . import protobuf  # from ffi/, through this package's __init__.py

_HOST_PROGRAM_SHAPE = 4
_HLO_MODULE, _CONFIG, _BUFFER_ASSIGNMENT = 1, 2, 3
_ENTRY_COMPUTATION_LAYOUT, _REPLICA_COUNT, _NUM_PARTITIONS = 1, 4, 5
_PARAMETERS, _RESULT = 1, 2
_ELEMENT_TYPE, _TUPLE_SHAPES, _LAYOUT = 2, 4, 5
_TUPLE = 13
_MINOR_TO_MAJOR, _TILES, _MEMORY_SPACE = 1, 6, 8
_TILE_DIMENSIONS = 1
_HOST_MEMORY_SPACE = 5  # xla::Layout::kHostMemorySpace
_MAX_TUPLE_DEPTH = 100
_DAMAGED = "the serialised HLO module is damaged"


def module_with_config(
    module: bytes,
    parameters: Sequence[Value],
    results: Sequence[Value],
    shape: tuple[int, int],
    buffer_assignment: bytes,
) -> bytes:
    """Wrap a serialised HloModuleProto into an HloModuleProtoWithConfig.

    `shape` gives the numbers of replicas and partitions. The entry computation gets the layouts of `parameters` and
    `results`, regardless of the layouts it was compiled with. The BufferAssignmentProto has the field number that it
    has in an HloProto, so that the bytes are both messages.
    """
    program = next((field.content for field in _fields(module) if field.number == _HOST_PROGRAM_SHAPE), b"")
    layout = _program_shape(program, iter(parameters), iter(results))
    replicas, partitions = shape
    config = protobuf.message_field(_ENTRY_COMPUTATION_LAYOUT, layout)
    config += protobuf.integer_field(_REPLICA_COUNT, replicas) + protobuf.integer_field(_NUM_PARTITIONS, partitions)
    return (
        protobuf.message_field(_HLO_MODULE, module)
        + protobuf.message_field(_CONFIG, config)
        + protobuf.message_field(_BUFFER_ASSIGNMENT, buffer_assignment)
    )


def _program_shape(shape: bytes, parameters: Iterator[Value], results: Iterator[Value]) -> bytes:
    changed = b""
    for field in _fields(shape):
        if field.number == _PARAMETERS:
            changed += protobuf.message_field(_PARAMETERS, _shape(field.content, parameters))
        elif field.number == _RESULT:
            changed += protobuf.message_field(_RESULT, _shape(field.content, results))
        else:
            changed += field.encoded
    return changed


def _shape(shape: bytes, values: Iterator[Value], depth: int = 0) -> bytes:
    """Replace the layouts in the shape of the next value, or in a tuple of shapes of the next values."""
    if depth > _MAX_TUPLE_DEPTH:
        raise ValueError(_DAMAGED)
    parts = list(_fields(shape))
    if any(field.number == _ELEMENT_TYPE and field.integer == _TUPLE for field in parts):
        return b"".join(
            protobuf.message_field(_TUPLE_SHAPES, _shape(field.content, values, depth + 1))
            if field.number == _TUPLE_SHAPES
            else field.encoded
            for field in parts
        )
    value = next(values, None)
    if value is None:
        raise ValueError(_DAMAGED)
    return b"".join(
        protobuf.message_field(_LAYOUT, _layout(field.content, value)) if field.number == _LAYOUT else field.encoded
        for field in parts
    )


def _layout(layout: bytes, value: Value) -> bytes:
    replaced = (_MINOR_TO_MAJOR, _TILES, _MEMORY_SPACE)
    changed = b"".join(field.encoded for field in _fields(layout) if field.number not in replaced)
    changed += protobuf.packed_field(_MINOR_TO_MAJOR, value.minor_to_major)
    for tile in value.tiles:
        changed += protobuf.message_field(_TILES, protobuf.packed_field(_TILE_DIMENSIONS, tile))
    if value.memory_kind != DEVICE_MEMORY:
        changed += protobuf.integer_field(_MEMORY_SPACE, _HOST_MEMORY_SPACE)
    return changed


class _Field(NamedTuple):
    number: int
    value: int | bytes
    encoded: bytes

    @property
    def integer(self) -> int:
        return self.value if isinstance(self.value, int) else 0

    @property
    def content(self) -> bytes:
        return self.value if isinstance(self.value, bytes) else b""


def _fields(message: bytes) -> Iterator[_Field]:
    return map(_Field._make, protobuf.fields(message))
