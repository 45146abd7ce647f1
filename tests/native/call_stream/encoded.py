"""Captures in the form of the call stream: encoded values, so that C++ reads the same data as Python."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np

from framedex.captures import CaptureStream
from framedex.captures.reader import object_table
from framedex.model import Capture, ObjectColumns
from framedex.programs.objects import ViolationKind
from framedex.programs.objects.table import BoundaryFunction, load_boundary_functions
from framedex_native import _call_stream
from framedex_native._call_stream import CallColumns
from tests.oracle.lifetimes import Lifetimes, RecordedObject, Violation

# ValueKind of native/recorder/format/capture_format.h.
_INTEGER, _REAL, _ADDRESS, _TEXT, _INTEGERS, _ADDRESSES, _SMALL, _MORE, _TRUTH, _LISTS = 1, 2, 4, 5, 6, 7, 10, 9, 11, 12


@dataclass(frozen=True, slots=True)
class Encoded:
    """The functions of a capture (name, names of the values) and its calls."""

    functions: list[tuple[str, list[str]]]
    calls: CallColumns


def encoded(capture: Capture) -> Encoded:
    """The calls of a capture with their values as recorded: one half with the start, one with the return."""
    names: list[list[str]] = [[] for _ in capture.functions]
    known = [load_boundary_functions().get(function.name, BoundaryFunction()) for function in capture.functions]
    columns = CallColumns()
    calls = capture.calls
    for row, text in enumerate(calls.arguments):
        function = int(calls.function[row])
        values, results = _halves(text, names[function], known[function].outputs)
        columns.add(
            int(calls.thread[row]),
            function,
            int(calls.stack[row]),
            int(calls.start[row]),
            int(calls.duration[row]),
            int(calls.error[row]),
            values,
            results,
        )
    columns.finish()
    return Encoded([(function.name, names[place]) for place, function in enumerate(capture.functions)], columns)


class Following:
    """Objects as C++ tracks them, with the rows taken so far."""

    def __init__(self, functions: list[tuple[str, list[str]]]) -> None:
        table = object_table()
        self._types = table.types
        self._lifetimes = _call_stream.Lifetimes(table)
        for name, values in functions:
            self._lifetimes.add_function(name, values)
        self._objects: dict[int, RecordedObject] = {}
        self._violations: list[Violation] = []

    def add(self, calls: CallColumns, begin: int, end: int) -> None:
        """Process the calls of these rows, then take the object rows."""
        self._lifetimes.add(calls, begin, end)
        self._take()

    def returned(self, calls: CallColumns, row: int) -> None:
        """Report that an earlier call has returned."""
        self._lifetimes.returned(calls, row)

    def finish(self) -> Lifetimes:
        """The final rows."""
        self._lifetimes.finish()
        self._take()
        numbers = self._lifetimes.take_numbers()
        for place, number in zip(numbers["object"].tolist(), numbers["number"].tolist(), strict=True):
            self._objects[place].number = number
        objects = (self._objects[place] for place in range(len(self._objects)))
        return Lifetimes(tuple(objects), tuple(self._violations))

    def _take(self) -> None:
        self._objects |= _objects(self._lifetimes, self._types)
        self._violations += _violations(self._lifetimes)


def followed(encoded: Encoded, batch: int = 1 << 62) -> Lifetimes:
    """C++'s object rows, taken after this many calls each."""
    following = Following(encoded.functions)
    for begin in range(0, len(encoded.calls), batch):
        following.add(encoded.calls, begin, begin + batch)
    return following.finish()


def _objects(lifetimes: _call_stream.Lifetimes, types: list[str]) -> Iterator[tuple[int, RecordedObject]]:
    rows = lifetimes.take_objects()
    columns = {name: cast("np.ndarray", column).tolist() for name, column in rows.items()}
    assert columns["object"] == sorted(set(columns["object"])), "rows come once, in the order of birth"
    for place, object_ in enumerate(columns["object"]):
        row = {name: column[place] for name, column in columns.items() if name != "object"}
        row = {name: None if value == _call_stream.NONE else value for name, value in row.items()}
        row |= {"type": types[row["type"]], "is_foreign": bool(row["is_foreign"])}
        yield object_, RecordedObject(**row)


def _violations(lifetimes: _call_stream.Lifetimes) -> Iterable[Violation]:
    rows = lifetimes.take_violations()
    columns = (rows["kind"], rows["object"].tolist(), rows["call"].tolist(), rows["earlier_call"].tolist())
    for kind, place, call, earlier in zip(*columns, strict=True):
        yield Violation(ViolationKind(kind), place, call, None if earlier == _call_stream.NONE else earlier)


def _halves(text: str, names: list[str], outputs: frozenset[str]) -> tuple[bytes, bytes]:
    """The values of a call: inputs and outputs. Empty unless they are a JSON object."""
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = None
    halves = [b"", b""]
    for name, value in (arguments if isinstance(arguments, dict) else {}).items():
        if name not in names:
            names.append(name)
        halves[name in outputs] += _encoded(names.index(name), name, value)
    return halves[0], halves[1]


def _encoded(field: int, name: str, value: object) -> bytes:
    if name == "more_values_not_recorded":
        return _header(field, _MORE)
    if value is None:
        return _words(field, _ADDRESS, [0])
    if isinstance(value, bool):
        return _header(field, _TRUTH, int(value))
    if isinstance(value, int):
        return _header(field, _SMALL, value) if 0 <= value < 1 << 32 else _words(field, _INTEGER, [value])
    if isinstance(value, float):
        return _header(field, _REAL) + struct.pack("<d", value)
    if isinstance(value, str):
        return _text(field, value)
    assert isinstance(value, list)
    if value and isinstance(value[0], list):
        flat = [_address(element) for inner in value for element in inner]
        return _words(field, _LISTS, [len(value[0]), *flat])
    if all(isinstance(element, int) for element in value):
        return _words(field, _INTEGERS, value)
    return _words(field, _ADDRESSES, [_address(element) for element in value])


def _address(value: object) -> int:
    return int(value, 16) if isinstance(value, str) else 0


def _text(field: int, value: str) -> bytes:
    try:
        return _words(field, _ADDRESS, [int(value, 16)]) if value.startswith("0x") else _bytes(field, value)
    except ValueError:
        return _bytes(field, value)


def _bytes(field: int, value: str) -> bytes:
    text = value.encode("utf-8", "surrogatepass")
    return _header(field, _TEXT, len(text)) + text + b"\0" * (-len(text) % 8)


def _words(field: int, kind: int, words: list[int]) -> bytes:
    return _header(field, kind, len(words)) + b"".join((word & (1 << 64) - 1).to_bytes(8, "little") for word in words)


def _header(field: int, kind: int, count: int = 0) -> bytes:
    return struct.pack("<HBBI", field, kind, 0, count)


def streamed(stream: CaptureStream, at_once: int) -> Lifetimes:
    """The objects of a capture from its stream, this many calls at a time."""
    objects: dict[int, RecordedObject] = {}
    violations: list[Violation] = []
    while stream.row < stream.calls:
        batch = stream.next(at_once)
        columns = batch.objects
        known = zip(
            *(getattr(columns, name).tolist() for name in ObjectColumns.__dataclass_fields__),
            strict=True,
        )
        for row in known:
            place, kind, number, address, born, created, first, last, deleted, destroyed, uses, client, size, _ = row
            objects[place] = RecordedObject(
                type=batch.types[kind],
                address=address % (1 << 64),
                born=born,
                created_call=_or_none(created),
                first_call=first,
                last_call=last,
                number=number,
                uses=uses,
                destroyed_call=_or_none(destroyed),
                deleted_call=_or_none(deleted),
                owner=_or_none(client),
                size=_or_none(size),
            )
        for place, number in batch.numbers.tolist():
            objects[place].number = number
        for kind, place, call, earlier in batch.violations.tolist():
            violations.append(Violation(list(ViolationKind)[kind], place, call, _or_none(earlier)))
    return Lifetimes(
        tuple(objects[place] for place in sorted(objects)), tuple(sorted(violations, key=lambda found: found.call))
    )


def _or_none(value: int) -> int | None:
    return None if value < 0 else value
