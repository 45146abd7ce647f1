"""The options that a program is compiled with, which a plug-in is given as a `CompileOptionsProto`.

Their names are those that a jaxlib has (`scripts/make_option_names.py`); one that is not known goes by its number.
"""

from __future__ import annotations

import functools
import json
import struct
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any

from framedex.nativepart import protobuf
from framedex.programs.encoding import Damage

_ROOT = "CompileOptionsProto"
_DEVICES = "DeviceAssignmentProto"
_ENTRY = "Entry"  # ends the name of what holds an entry of a map
_LONGEST = 200  # characters of a value
_MOST = 5_000  # values
_DEEPEST = 8
_FLOATS = {"float": (4, "<f"), "double": (8, "<d")}  # in bytes


def read_options(data: bytes) -> dict[str, str]:
    """The options that are set, by their names (`xla_cpu_enable_fast_math`), as text. What is damaged is left out."""
    found: dict[str, list[str]] = {}
    overrides: dict[str, str] = {}
    for name, value, is_override in _read(data, _ROOT, 0):
        if is_override:
            if len(overrides) < _MOST or name in overrides:
                overrides[name] = value[:_LONGEST]
        elif len(found) < _MOST or name in found:
            found.setdefault(name, []).append(value)
    return {name: ", ".join(values)[:_LONGEST] for name, values in found.items()} | overrides


@functools.cache
def option_forms() -> Mapping[str, str]:
    """The forms of the options that a jaxlib has, by their names: `bool`, `int`, `text` and so on."""
    names = {name: form for fields in _names().values() for name, form, *_ in fields.values()}
    return names | {"device_assignment": "int"}


def _read(message: bytes, kind: str, depth: int) -> Iterator[tuple[str, str, bool]]:
    """The values of a message of a kind, and of those that it holds; whether each is of a map, which overrides."""
    if kind == _DEVICES:
        yield "device_assignment", _devices(message), False
        return
    names = _names().get(kind, {})
    try:
        for number, value, _ in protobuf.fields(message):
            name, form, held = (*names.get(str(number), (f"{kind}.{number}", "")), "")[:3]
            if form != "message" or not isinstance(value, bytes) or depth == _DEEPEST:
                yield name, _value(value, form), False
            elif held.endswith(_ENTRY):
                yield from _entry(value, held, depth)
            elif held in _names():
                yield from _read(value, held, depth + 1)
            else:
                yield name, _digest(value), False
    except Damage:
        return


def _entry(message: bytes, kind: str, depth: int) -> Iterator[tuple[str, str, bool]]:
    """An entry of a map: its key is a name."""
    parts = list(_read(message, kind, depth + 1))
    if parts and parts[0][0] == "key":
        yield parts[0][1], ", ".join(value for _, value, _ in parts[1:]) or "empty", True


def _devices(message: bytes) -> str:
    """The ids of the devices for which a program is compiled."""
    try:
        of_each = [value for number, value, _ in protobuf.fields(message) if number == 3 and isinstance(value, bytes)]
        ids = [
            device
            for each in of_each
            for _, devices, _ in protobuf.fields(each)
            for device in (protobuf.packed(devices) if isinstance(devices, bytes) else [devices])
        ]
    except Damage:
        return _digest(message)
    return ", ".join(map(str, ids))


def _value(value: int | bytes, form: str) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace") if form == "text" else _packed_or_digest(value, form)
    if form == "bool":
        return "true" if value else "false"
    if form in _FLOATS:
        size, real = _FLOATS[form]  # where damaged, the value may have more bits than it
        return f"{struct.unpack(real, (value & ((1 << 8 * size) - 1)).to_bytes(size, 'little'))[0]:g}"
    return str(value - (1 << 64) if value >> 63 else value)


def _packed_or_digest(value: bytes, form: str) -> str:
    """Repeated numbers are in one field."""
    if form not in ("int", "bool"):
        return _digest(value)
    return ", ".join(_value(each, form) for each in protobuf.packed(value))


def _digest(value: bytes) -> str:
    return f"{len(value)} bytes {sha256(value).hexdigest()[:8]}"


@functools.cache
def _names() -> Mapping[str, Any]:
    """Of each kind of message the name and the form of its fields, by their numbers."""
    text = files("framedex.programs").joinpath("option_names.json").read_text(encoding="utf-8")
    messages: Mapping[str, Any] = json.loads(text)["messages"]
    return messages
