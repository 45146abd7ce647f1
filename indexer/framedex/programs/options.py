"""The compile options of a program, passed to a plug-in as a `CompileOptionsProto`.

Their names come from jaxlib (`scripts/make_option_names.py`). An unknown option is named by its number.
"""

from __future__ import annotations

import functools
import json
import struct
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any

from framedex.base.nativepart import protobuf
from framedex.programs.tables import DAMAGE_ERRORS

_ROOT = "CompileOptionsProto"
_DEVICES = "DeviceAssignmentProto"
_ENTRY = "Entry"  # the end of the type name of a map's entries
_MAX_VALUE_CHARACTERS = 200  # the maximum length of a value, in characters
_MAX_VALUES = 5_000  # the maximum number of values
_MAX_DEPTH = 8
_FLOAT_FORMATS = {"float": (4, "<f"), "double": (8, "<d")}  # in bytes


def read_options(data: bytes) -> dict[str, str]:
    """Return the options that are set, by their names (`xla_cpu_enable_fast_math`), as text.

    Damaged ones are omitted.
    """
    found: dict[str, list[str]] = {}
    overrides: dict[str, str] = {}
    for name, value, is_override in _read_fields(data, _ROOT, 0):
        if is_override:
            if len(overrides) < _MAX_VALUES or name in overrides:
                overrides[name] = value[:_MAX_VALUE_CHARACTERS]
        elif len(found) < _MAX_VALUES or name in found:
            found.setdefault(name, []).append(value)
    return {name: ", ".join(values)[:_MAX_VALUE_CHARACTERS] for name, values in found.items()} | overrides


@functools.cache
def read_option_types() -> Mapping[str, str]:
    """Return the types of jaxlib's options by their names: `bool`, `int`, `text` and so on."""
    names = {name: form for fields in _read_field_names().values() for name, form, *_ in fields.values()}
    return names | {"device_assignment": "int"}


def _read_fields(message: bytes, kind: str, depth: int) -> Iterator[tuple[str, str, bool]]:
    """Yield the name and value of each field of a message and of its nested messages, and whether it is a map entry.

    A map entry overrides a field of the same name.
    """
    if kind == _DEVICES:
        yield "device_assignment", _format_devices(message), False
        return
    names = _read_field_names().get(kind, {})
    try:
        for number, value, _ in protobuf.fields(message):
            name, form, message_type = (*names.get(str(number), (f"{kind}.{number}", "")), "")[:3]
            if form != "message" or not isinstance(value, bytes) or depth == _MAX_DEPTH:
                yield name, _format_value(value, form), False
            elif message_type.endswith(_ENTRY):
                yield from _read_map_entry(value, message_type, depth)
            elif message_type in _read_field_names():
                yield from _read_fields(value, message_type, depth + 1)
            else:
                yield name, _format_digest(value), False
    except DAMAGE_ERRORS:
        return


def _read_map_entry(message: bytes, kind: str, depth: int) -> Iterator[tuple[str, str, bool]]:
    """Yield the value of a map entry under its key."""
    parts = list(_read_fields(message, kind, depth + 1))
    if parts and parts[0][0] == "key":
        yield parts[0][1], ", ".join(value for _, value, _ in parts[1:]) or "empty", True


def _format_devices(message: bytes) -> str:
    """Return the ids of the devices for which a program is compiled."""
    try:
        of_each = [value for number, value, _ in protobuf.fields(message) if number == 3 and isinstance(value, bytes)]
        ids = [
            device
            for each in of_each
            for _, devices, _ in protobuf.fields(each)
            for device in (protobuf.packed(devices) if isinstance(devices, bytes) else [devices])
        ]
    except DAMAGE_ERRORS:
        return _format_digest(message)
    return ", ".join(map(str, ids))


def _format_value(value: int | bytes, form: str) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace") if form == "text" else _format_packed(value, form)
    if form == "bool":
        return "true" if value else "false"
    if form in _FLOAT_FORMATS:
        size, real = _FLOAT_FORMATS[form]  # a damaged value may have more bits
        return f"{struct.unpack(real, (value & ((1 << 8 * size) - 1)).to_bytes(size, 'little'))[0]:g}"
    return str(value - (1 << 64) if value >> 63 else value)


def _format_packed(value: bytes, form: str) -> str:
    """Return repeated numbers, which are packed in one field, or a digest of other bytes."""
    if form not in ("int", "bool"):
        return _format_digest(value)
    return ", ".join(_format_value(each, form) for each in protobuf.packed(value))


def _format_digest(value: bytes) -> str:
    return f"{len(value)} bytes {sha256(value).hexdigest()[:8]}"


@functools.cache
def _read_field_names() -> Mapping[str, Any]:
    """Return the name and the type of the fields of each message type, by their numbers."""
    text = files("framedex.programs").joinpath("option_names.json").read_text(encoding="utf-8")
    messages: Mapping[str, Any] = json.loads(text)["messages"]
    return messages
