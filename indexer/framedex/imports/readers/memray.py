"""Reads the output of `memray transform`: CSV with a row for each allocation, and gprof2dot's JSON.

The reader of speedscope reads its third format. Stacks are innermost frame first.
"""

from __future__ import annotations

import csv
from typing import Any

from framedex.imports.building import ProfileBuilder
from framedex.imports.jsonstream import read_members
from framedex.imports.names import build_imported_frame
from framedex.imports.source import Source
from framedex.imports.values import ValueType, WeightRules

_COLUMNS = ["allocator", "num_allocations", "size", "tid", "thread_name", "stack_trace"]
_ALLOCATIONS, _BYTES = ValueType("allocations", "count"), ValueType("memory", "bytes")
_MAX_DIGITS = 18


def matches_csv(head: bytes) -> bool:
    """Whether the first line names memray's columns."""
    return head.startswith(",".join(_COLUMNS).encode())


def read_csv(source: Source, builder: ProfileBuilder) -> None:
    """Read the allocations. Raises ValueError as `ImportFormat.read` does."""
    builder.set_weight_rules(WeightRules([_ALLOCATIONS, _BYTES], builder.wanted))
    try:
        for number, row in enumerate(csv.reader(source.lines())):
            if number and row:
                _add_row(builder, row)
    except csv.Error as error:
        raise ValueError(str(error)) from error


def _add_row(builder: ProfileBuilder, row: list[str]) -> None:
    if len(row) != len(_COLUMNS):
        raise ValueError(f"one of its rows has {len(row)} columns instead of {len(_COLUMNS)}")
    allocator, allocations, size, tid, name, trace = row
    frames = []
    for part in filter(None, trace.split("|")):
        function, file, line = _split_frame(part)
        frames.append(builder.add_frame(build_imported_frame(function, file, line)))
    thread = builder.add_thread(_parse_number(tid), "" if name.startswith("0x") else name)
    builder.add_sample(frames, thread, [_parse_number(allocations), _parse_number(size)], {"allocator": allocator})


def _split_frame(part: str) -> tuple[str, str, int]:
    """Split a frame into function, file and line. The file may contain semicolons."""
    function, _, rest = part.partition(";")
    file, _, line = rest.rpartition(";")
    return function, file, _parse_number(line)


def _parse_number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise ValueError(f"it has {text[:40]!r} instead of a number")
    return int(text)


def matches_gprof2dot(head: bytes) -> bool:
    """Whether the JSON begins like gprof2dot's own format."""
    return head.lstrip().startswith(b'{"version": 0, "costs"')


def read_gprof2dot(source: Source, builder: ProfileBuilder) -> None:
    """Read the events. Raises ValueError as `ImportFormat.read` does."""
    functions: list[int] = []
    values: list[ValueType] = []
    for key, value in read_members(source):  # first pass: functions and costs come after the events
        if key == "functions":
            functions.append(
                builder.add_frame(
                    build_imported_frame(_parse_string_at(value, "name"), _parse_string_at(value, "module"))
                )
            )
        elif key == "costs":
            values.append(ValueType(_parse_string_at(value, "description").lower(), _parse_string_at(value, "unit")))
    if not values:
        raise ValueError("it has no costs")
    builder.set_weight_rules(WeightRules(values, builder.wanted))
    thread = builder.add_thread()
    for key, value in read_members(source):
        if key == "events":
            chain, cost = _parse_integers_at(value, "callchain"), _parse_integers_at(value, "cost")
            if len(cost) != len(values):
                raise ValueError("an event has the wrong number of costs")
            if not all(0 <= each < len(functions) for each in chain):
                raise ValueError(f"an event refers to a missing function: the file has {len(functions)}")
            builder.add_sample([functions[each] for each in chain], thread, cost)


def _parse_integers_at(event: Any, key: str) -> list[int]:
    numbers = event.get(key) if isinstance(event, dict) else None
    if not isinstance(numbers, list) or not all(type(each) is int for each in numbers):
        raise ValueError(f"an event has no list of integers in '{key}'")
    return numbers


def _parse_string_at(value: Any, key: str) -> str:
    text = value.get(key) if isinstance(value, dict) else None
    if not isinstance(text, str):
        raise ValueError(f"it has an object without a string in '{key}'")
    return text
