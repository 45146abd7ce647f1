"""Converts dataclasses to JSON lists of their fields, and validates those lists by the field types."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Packed = TypeVar("Packed")


def pack_value(value: Any, text: Callable[[str], str]) -> Any:
    """Convert a value to JSON values. `text` redacts every string except enumeration values."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return text(value)
    if is_dataclass(value):
        return [pack_value(getattr(value, field.name), text) for field in fields(value)]
    if isinstance(value, Mapping):
        return {text(key): pack_value(each, text) for key, each in value.items()}
    if isinstance(value, tuple):
        return [pack_value(each, text) for each in value]
    return value


def unpack_value(kind: type[Packed], value: Any) -> Packed:
    """Rebuild an instance of a class from its packed form. Raises ValueError if the form does not match the class."""
    found: Packed = _unpack(kind, value)
    return found


def _unpack(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else _unpack(get_args(kind)[0], value)
    if origin is tuple:
        return _unpack_tuple(get_args(kind), value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    if isinstance(kind, type) and is_dataclass(kind):
        return _build_value(kind, value)
    if origin is not None:  # a mapping of texts
        if not isinstance(value, dict):
            raise ValueError("a mapping is malformed")
        return {key: _unpack(get_args(kind)[1], each) for key, each in value.items()}
    if type(value) is not kind or (kind is int and not -(1 << 63) <= value < 1 << 63):
        raise ValueError(f"a value is not of type {kind.__name__}")
    return value


def _build_value(kind: Any, value: Any) -> Any:
    """Build a dataclass. Trailing fields that a file of an older framedex lacks get their defaults."""
    hints = _find_field_types(kind)
    if not isinstance(value, list) or not _count_required_fields(kind) <= len(value) <= len(hints):
        raise ValueError(f"{kind.__name__} is malformed")
    return kind(*map(_unpack, hints, value))


def _unpack_tuple(inner: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise ValueError("a list is malformed")
    if inner[-1] is Ellipsis:
        return tuple(_unpack(inner[0], each) for each in value)
    if len(value) != len(inner):
        raise ValueError("a list has the wrong length")
    return tuple(map(_unpack, inner, value))


@cache
def _count_required_fields(kind: type[Any]) -> int:
    """The number of fields without a default."""
    return sum(field.default is MISSING and field.default_factory is MISSING for field in fields(kind))


@cache
def _find_field_types(kind: type[Any]) -> tuple[Any, ...]:
    """The types of the fields of a class."""
    hints = get_type_hints(kind)
    return tuple(hints[field.name] for field in fields(kind))
