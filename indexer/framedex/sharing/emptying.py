"""Empties all strings of a dataclass by the types of its fields, so a new field stays empty until a rule fills it."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Emptied = TypeVar("Emptied")


def empty_texts(value: Emptied) -> Emptied:
    """Copy a dataclass with all texts emptied, at any depth. Mappings become empty, since their keys are texts.

    Tuples keep their length. Numbers, flags and members of enumerations stay.
    """
    found: Emptied = _empty(type(value), value)
    return found


def _empty(kind: Any, value: Any) -> Any:
    if value is None or not _contains_text(kind):
        return value
    if isinstance(value, str):
        return ""
    if isinstance(value, tuple):
        inner = get_args(kind)
        kinds = (inner[0],) * len(value) if inner[-1] is Ellipsis else inner
        return tuple(map(_empty, kinds, value))
    if _is_dataclass(value):
        hints = _read_field_types(value.__class__)
        return replace(value, **{name: _empty(hint, getattr(value, name)) for name, hint in hints.items()})
    return {}


@cache
def _contains_text(kind: Any) -> bool:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType, tuple):
        return any(each is not Ellipsis and _contains_text(each) for each in get_args(kind))
    if origin is not None:
        return issubclass(origin, Mapping)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return False
    if _is_dataclass(kind):
        return any(map(_contains_text, _read_field_types(kind).values()))
    return kind not in (int, float, bool, type(None))


def _is_dataclass(value: Any) -> bool:
    """Whether a value or a class is a dataclass."""
    return is_dataclass(value)


@cache
def _read_field_types(kind: Any) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
