"""Observations as JSON, so that a site can be built from earlier observations or those of another machine.

Repeated values, such as a location or the end of a stack path, are stored once. `parts` has every value except numbers,
each after its own parts. A text is a string. A dataclass is a list of its class name and its fields. A field holds a
number, the position of a part, or a list of these.
"""

from __future__ import annotations

import json
import types
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from framedex.base.errors import FramedexError
from framedex.base.regularfile import read_regular
from framedex.model import guidebook
from framedex.model.guidebook import Observations

FORMAT = "framedex-observations"
VERSION = 2

_MAX_DEPTH = 180
"""Maximum nesting of parts. A stack path has a level per frame; a page shows fewer frames."""

_MAX_BYTES = 1 << 27
"""Maximum size of observations, with shared parts counted once per use: thirty times the size of our own."""

_NUMBER_LIMIT = 1 << 63

_CLASSES: dict[str, type[Any]] = {
    name: each
    for name, each in vars(guidebook).items()
    if isinstance(each, type) and is_dataclass(each) and each.__module__ == guidebook.__name__
}


def format_observations(observations: Observations) -> str:
    """Return the observations as JSON."""
    parts = _PartsCollector()
    parts.position(observations)
    return json.dumps({"format": FORMAT, "version": VERSION, "parts": list(parts.found)}, separators=(",", ":"))


def read_observation_file(path: Path) -> Observations:
    """Read observations from a file. Raises FramedexError if it is unreadable, foreign, damaged or newer."""
    try:
        document = json.loads(read_regular(path, _MAX_BYTES))
    except OSError as error:
        raise FramedexError(f"{path} cannot be read: {error.strerror or error}.", "Check the path.") from error
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FramedexError(
            f"{path} contains no observations.",
            "Name a file that `framedex guidebook --observations FILE` wrote, or a folder of captures.",
        )
    if document.get("version") != VERSION:
        raise FramedexError(
            f"{path} was written by another version of framedex.",
            "Create it again from its captures with this version.",
        )
    try:
        return _PartsParser().read(document.get("parts"))
    except (TypeError, ValueError, LookupError) as error:
        raise FramedexError(
            f"{path} is damaged.", "Create it again from its captures: `framedex guidebook --observations FILE`."
        ) from error


class _PartsCollector:
    """Collects the parts; equal parts share a position."""

    def __init__(self) -> None:
        self.found: dict[Any, int] = {}

    def position(self, value: Any) -> int:
        """Return the position of a text or a dataclass, adding it if new."""
        if isinstance(value, str):
            return self._add(str(value))
        members = (self._member(getattr(value, field.name)) for field in fields(value))
        return self._add((type(value).__name__, *members))

    def _member(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(self._member, value))
        return value if value is None or isinstance(value, int) else self.position(value)

    def _add(self, part: Any) -> int:
        return self.found.setdefault(part, len(self.found))


class _PartsParser:
    """Parses the parts. Raises TypeError, ValueError or LookupError if malformed."""

    def __init__(self) -> None:
        self._found: list[Any] = []
        self._depths: list[int] = []
        self._sizes: list[int] = []
        # The greatest depth, and the sum of the sizes, of the parts that the current part refers to.
        self._deepest = 0
        self._size = 0

    def read(self, parts: Any) -> Observations:
        """Return the value of the last part."""
        for part in parts:
            self._deepest = self._size = 0
            self._found.append(part if isinstance(part, str) else self._build(*part))
            self._depths.append(self._deepest + 1)
            self._sizes.append(self._size + 1)
            if self._deepest >= _MAX_DEPTH or self._size >= _MAX_BYTES:
                raise ValueError
        observations = self._found[-1]
        if type(observations) is not Observations:
            raise TypeError
        _check_runs(observations)
        return observations

    def _build(self, name: str, *members: Any) -> Any:
        return _CLASSES[name](*(self._read_value(*each) for each in zip(_field_types(name), members, strict=True)))

    def _read_value(self, kind: Any, value: Any) -> Any:
        if get_origin(kind) is tuple:
            inner = get_args(kind)
            if not isinstance(value, list):
                raise TypeError
            kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
            return tuple(self._read_value(*each) for each in zip(kinds, value, strict=True))
        if get_origin(kind) in (Union, types.UnionType):
            return None if value is None else self._read_value(get_args(kind)[0], value)
        if type(value) is not int or value < 0:
            raise TypeError
        if kind is int:
            if value >= _NUMBER_LIMIT:
                raise ValueError
            return value
        if not isinstance(self._found[value], kind):
            raise TypeError
        self._deepest = max(self._deepest, self._depths[value])
        self._size += self._sizes[value]
        return self._found[value]


def _check_runs(observations: Observations) -> None:
    """Raise LookupError if an observation has an unknown run, ValueError if two runs have the same key."""
    keys = {run.key for run in observations.runs}
    if len(keys) < len(observations.runs):
        raise ValueError
    used_runs = {each.run for each in observations.functions} | {each.run for each in observations.objects}
    if not used_runs | {each.run for each in observations.tasks} <= keys:
        raise LookupError


@cache
def _field_types(name: str) -> tuple[Any, ...]:
    """Return the field types of a class."""
    kind = _CLASSES[name]
    hints = get_type_hints(kind)
    return tuple(hints[field.name] for field in fields(kind))
