"""Reads speedscope profiles, as py-spy, austin and others write them (speedscope, src/lib/file-format-spec.ts)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from framedex.imports.building import ProfileBuilder
from framedex.imports.jsonstream import read_members
from framedex.imports.names import build_imported_frame, parse_frame, parse_thread_id, parse_thread_label
from framedex.imports.source import Source
from framedex.imports.values import ValueType, WeightRules
from framedex.model import ImportedFrame

_SCHEMA = b"speedscope.app/file-format-schema.json"
_SCALE = 1_000_000_000  # seconds may have fractions; the index stores whole nanoseconds
_UNITS = {"seconds": _SCALE, "milliseconds": 1_000_000, "microseconds": 1_000, "nanoseconds": 1}
_THREAD = re.compile(r'(?:Process (?P<pid>\d+) )?Thread (?P<tid>(?:0x)?[\da-f]+)(?: "(?P<name>.*)")?$')


def matches(head: bytes) -> bool:
    """Whether the first bytes name speedscope's schema, or have its shared frames."""
    if not head.lstrip().startswith(b"{"):
        return False
    return _SCHEMA in head or re.search(rb'"shared"\s*:\s*\{\s*"frames"\s*:', head) is not None


def read(source: Source, builder: ProfileBuilder) -> None:
    """Read the profiles. Raises ValueError as `ImportFormat.read` does."""
    profiles = _ProfileReader(builder)
    for shared in (True, False):  # frames may come after the profiles that refer to them
        for key, value in read_members(source):
            if shared and key == "shared":
                profiles.read_frames(value)
            elif shared and key == "profiles":
                profiles.read_begin(value)
            elif not shared and key == "profiles":
                profiles.add(value)


class _ProfileReader:
    """Reads the profiles of a file. They share frames, and all have one unit or are all times."""

    def __init__(self, builder: ProfileBuilder) -> None:
        self._builder = builder
        self._frames: list[ImportedFrame] = []
        self._numbers: dict[int, int] = {}
        self._threads: set[int] = set()  # frames that py-spy writes for threads and processes
        self._value: ValueType | None = None
        self._begin: float | None = None  # earliest begin of all profiles, in ns

    def read_frames(self, shared: Any) -> None:
        """Read the shared frames."""
        for each in _check_list(_read_field(shared, "frames")):
            name, file, line = _check_text(_read_field(each, "name")), each.get("file"), each.get("line")
            is_told = isinstance(file, str) and file
            if not is_told and parse_thread_label(name) is not None:
                self._threads.add(len(self._frames))
            number = line if type(line) is int and 0 < line < 1 << 31 else 0
            self._frames.append(build_imported_frame(name, file, number) if is_told else parse_frame(name))

    def read_begin(self, profile: Any) -> None:
        """Note the begin of a profile, if its unit is a time."""
        scale = _UNITS.get(_check_text(_read_field(profile, "unit")))
        if scale is not None:
            begin = _check_number(profile.get("startValue", 0)) * scale
            self._begin = begin if self._begin is None else min(self._begin, begin)

    def add(self, profile: Any) -> None:
        """Add the samples of one profile."""
        unit = _check_text(_read_field(profile, "unit"))
        value = ValueType("time", "nanoseconds") if unit in _UNITS else ValueType("weight", unit)
        if self._value is None:
            self._value = value
            # A weight in time has no count: each counts as one sample.
            self._builder.set_weight_rules(WeightRules([value], self._builder.wanted))
        if value != self._value:
            self._builder.count_skipped("profile", f"in another unit than '{self._value.unit}'")
            return
        match = _THREAD.match(str(profile.get("name", "")))
        name = (match["name"] or "") if match else str(profile.get("name", ""))
        thread = self._builder.add_thread(parse_thread_id(match["tid"]) if match else 0, name)
        scale = _UNITS.get(unit, 1)
        of_type = {"sampled": self._sampled_spans, "evented": self._event_spans}.get(profile.get("type"))
        if of_type is None:
            raise ValueError(f"it has a profile of type {profile.get('type')!r}")
        for stack, start, weight in of_type(profile):
            first = 0
            while first < len(stack) and type(stack[first]) is int and stack[first] in self._threads:
                first += 1
            frames = [self._check_frame_number(frame) for frame in reversed(stack[first:])]
            start_ns = round(start * scale - (self._begin or 0)) if unit in _UNITS else 0
            if 0 < weight * scale <= 0.5:
                self._builder.count_skipped("sample", "whose weight rounds to zero")
                continue
            self._builder.add_sample(frames, thread, [round(weight * scale)], start=start_ns)

    def _sampled_spans(self, profile: Any) -> Iterator[tuple[list[Any], float, float]]:
        samples, weights = _check_list(_read_field(profile, "samples")), _check_list(_read_field(profile, "weights"))
        if len(samples) != len(weights):
            raise ValueError(f"it has {len(samples)} samples but {len(weights)} weights")
        at = _check_number(profile.get("startValue", 0))
        for stack, weight in zip(samples, weights, strict=True):
            yield _check_list(stack), at, _check_number(weight)
            at += weight

    def _event_spans(self, profile: Any) -> Iterator[tuple[list[Any], float, float]]:
        """The open frames between two events, outermost first, with start and duration."""
        stack: list[Any] = []
        before: float | None = None
        for event in _check_list(_read_field(profile, "events")):
            at, frame, kind = _check_number(_read_field(event, "at")), _read_field(event, "frame"), event.get("type")
            if before is not None and at < before:
                raise ValueError("its events are not ordered by time")
            if stack and before is not None and at > before:
                yield stack, before, at - before
            before = at
            if kind == "O":
                stack.append(frame)
            elif kind == "C" and stack and stack[-1] == frame:
                stack.pop()
            else:
                raise ValueError("an event closes a frame that is not the innermost frame")
        if stack and before is not None and (end := _check_number(profile.get("endValue", before))) > before:
            yield stack, before, end - before

    def _check_frame_number(self, number: object) -> int:
        if type(number) is not int or not 0 <= number < len(self._frames):
            raise ValueError(f"it refers to frame {number!r} of {len(self._frames)}")
        found = self._numbers.get(number)
        if found is None:
            found = self._numbers[number] = self._builder.add_frame(self._frames[number])
        return found


def _read_field(value: Any, key: str) -> Any:
    if not isinstance(value, dict) or key not in value:
        raise ValueError(f"it has an object without '{key}'")
    return value[key]


def _check_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("it has another value instead of a list")
    return value


def _check_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("it has another value instead of a string")
    return value


def _check_number(value: Any) -> float:
    if type(value) not in (int, float) or not -(1 << 62) < value < 1 << 62:
        raise ValueError("it has another value instead of a number")
    return value  # type: ignore[no-any-return]
