"""An HLO module together with its configuration, in the encoding of protocol buffers.

The field numbers are of xla/service/hlo.proto (HloModuleProto.host_program_shape, HloModuleProtoWithConfig) and
xla/xla.proto (HloModuleConfigProto.entry_computation_layout). https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

from collections.abc import Iterator

_HOST_PROGRAM_SHAPE = 4
_HLO_MODULE, _CONFIG = 1, 2
_ENTRY_COMPUTATION_LAYOUT = 1
_VARINT, _FIXED64, _LENGTH_DELIMITED, _FIXED32 = 0, 1, 2, 5


def module_with_config(module: bytes) -> bytes:
    """The HloModuleProtoWithConfig of a serialised HloModuleProto, with the layout of its entry computation."""
    layout = next((value for number, value in _fields(module) if number == _HOST_PROGRAM_SHAPE), b"")
    return _field(_HLO_MODULE, module) + _field(_CONFIG, _field(_ENTRY_COMPUTATION_LAYOUT, layout))


def _field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields of a message, by number; the others are passed over."""
    position = 0
    while position < len(message):
        tag, position = _read_varint(message, position)
        wire_type = tag & 7
        if wire_type == _LENGTH_DELIMITED:
            size, position = _read_varint(message, position)
            yield tag >> 3, message[position : position + size]
            position += size
        elif wire_type == _VARINT:
            _, position = _read_varint(message, position)
        else:
            position += {_FIXED64: 8, _FIXED32: 4}[wire_type]


def _read_varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[position]
        value |= (byte & 0x7F) << shift
        position += 1
        shift += 7
        if byte < 0x80:
            return value, position
