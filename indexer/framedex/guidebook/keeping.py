"""Observations as JSON: a site can be made of what was observed elsewhere, or before.

What is said many times, a place or the end of a road, is there once: `parts` has every value that is no number, each
after those that it consists of. A text is a string; a list holds the class of a dataclass and its fields. Of a field
that is no number the position of its part is kept, of several a list of such.
"""

from __future__ import annotations

import json
import types
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from framedex.errors import FramedexError
from framedex.model.guidebook import observed
from framedex.model.guidebook.observed import Observations
from framedex.regularfile import read_regular

FORMAT = "framedex-observations"
VERSION = 1

_DEEPEST = 180
"""How deep parts may consist of one another: more than the frames that are shown of a road, each of which is one."""

_LARGEST = 1 << 27
"""How much observations may hold, with what is there once counted as often as it is said: thirty times our own."""

_BEYOND_NUMBERS = 1 << 63

_CLASSES: dict[str, type[Any]] = {
    name: each
    for name, each in vars(observed).items()
    if isinstance(each, type) and is_dataclass(each) and each.__module__ == observed.__name__
}


def kept(observations: Observations) -> str:
    """The observations as JSON."""
    parts = _Parts()
    parts.position(observations)
    return json.dumps({"format": FORMAT, "version": VERSION, "parts": list(parts.found)}, separators=(",", ":"))


def read_kept(path: Path) -> Observations:
    """The observations in a file. Raises FramedexError where it cannot be read, is foreign, damaged or newer."""
    try:
        told = json.loads(read_regular(path, _LARGEST))
    except OSError as error:
        raise FramedexError(f"{path} cannot be read: {error.strerror or error}.", "Check the path.") from error
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise FramedexError(
            f"{path} contains no observations.",
            "Name a file that `framedex guidebook --observations FILE` wrote, or a folder of captures.",
        )
    if told.get("version") != VERSION:
        raise FramedexError(
            f"{path} was written by another version of framedex.",
            "Create it again from its captures with this version.",
        )
    try:
        return _Reading().read(told.get("parts"))
    except (TypeError, ValueError, LookupError) as error:
        raise FramedexError(
            f"{path} is damaged.", "Create it again from its captures: `framedex guidebook --observations FILE`."
        ) from error


class _Parts:
    """The parts while they are collected; equal ones have one position."""

    def __init__(self) -> None:
        self.found: dict[Any, int] = {}

    def position(self, value: Any) -> int:
        """Where a text or a dataclass is."""
        if isinstance(value, str):
            return self._of(str(value))
        members = (self._member(getattr(value, field.name)) for field in fields(value))
        return self._of((type(value).__name__, *members))

    def _member(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._member, value))
        return value if value is None or isinstance(value, int) else self.position(value)

    def _of(self, part: Any) -> int:
        return self.found.setdefault(part, len(self.found))


class _Reading:
    """The parts while they are read. Raises TypeError, ValueError or LookupError where they are none."""

    def __init__(self) -> None:
        self._found: list[Any] = []
        self._depths: list[int] = []
        self._sizes: list[int] = []
        # Of the parts that the one being read consists of.
        self._deepest = 0
        self._size = 0

    def read(self, parts: Any) -> Observations:
        """What the last part is."""
        for part in parts:
            self._deepest = self._size = 0
            self._found.append(part if isinstance(part, str) else self._made(*part))
            self._depths.append(self._deepest + 1)
            self._sizes.append(self._size + 1)
            if self._deepest >= _DEEPEST or self._size >= _LARGEST:
                raise ValueError
        observations = self._found[-1]
        if type(observations) is not Observations:
            raise TypeError
        _check_runs(observations)
        return observations

    def _made(self, name: str, *members: Any) -> Any:
        return _CLASSES[name](*(self._value(*each) for each in zip(_types_of(name), members, strict=True)))

    def _value(self, kind: Any, value: Any) -> Any:
        if get_origin(kind) is tuple:
            inner = get_args(kind)
            if not isinstance(value, list):
                raise TypeError
            kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
            return tuple(self._value(*each) for each in zip(kinds, value, strict=True))
        if get_origin(kind) in (Union, types.UnionType):
            return None if value is None else self._value(get_args(kind)[0], value)
        if type(value) is not int or value < 0:
            raise TypeError
        if kind is int:
            if value >= _BEYOND_NUMBERS:
                raise ValueError
            return value
        if not isinstance(self._found[value], kind):
            raise TypeError
        self._deepest = max(self._deepest, self._depths[value])
        self._size += self._sizes[value]
        return self._found[value]


def _check_runs(observations: Observations) -> None:
    """Raise LookupError where something is said of a run that there is not, ValueError where two have the same key."""
    keys = {run.key for run in observations.runs}
    if len(keys) < len(observations.runs):
        raise ValueError
    named = {each.run for each in observations.functions} | {each.run for each in observations.objects}
    if not named | {each.run for each in observations.tasks} <= keys:
        raise LookupError


@cache
def _types_of(name: str) -> tuple[Any, ...]:
    """The types of the fields of a class."""
    kind = _CLASSES[name]
    hints = get_type_hints(kind)
    return tuple(hints[field.name] for field in fields(kind))
