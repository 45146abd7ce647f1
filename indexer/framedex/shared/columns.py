"""Encodes batches of calls: a JSON head, then columns of integers, each with the smallest sufficient width.

The length of the head comes first, in 4 bytes. The head has the new kinds, arguments and chains, and the width and
length of each column. Integers are little-endian. Starts are stored as differences.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from framedex.base.untrusted import grows_too_large, parse_json
from framedex.model import CallBatch, CallKind, KindTotals, ObjectColumns
from framedex.shared.archive import too_large_error

Integers = npt.NDArray[np.int64]

_LENGTH = 4  # bytes
_CALL_COLUMNS = ("kind", "inside", "start", "duration", "argument")
_TABLES = {"samples": 2, "spans": 3, "durations": 4, "changed": 4, "numbers": 2, "violations": 4, "links": 4}
_TOTALS = tuple(field.name for field in fields(KindTotals))
_OBJECTS = tuple(field.name for field in fields(ObjectColumns))
_WIDTHS = (1, 2, 4, 8)
_MAX_VALUES = 1 << 26  # in all columns of a batch, at 8 bytes in memory; a batch has 262,144 calls
_MAX_ARGUMENT_DEPTH = 64  # levels of nesting in arguments; recorded arguments have a few
_COLUMNS = len(_CALL_COLUMNS) + len(_TOTALS) + len(_TABLES) + len(_OBJECTS)

NO_OBJECT = -(1 << 63)
"""Marks a missing value in a column of objects."""


@dataclass(frozen=True, slots=True)
class DefinitionCounts:
    """The numbers of definitions of each kind: the bounds of references in calls."""

    boundaries: int
    threads: int
    stacks: int
    frames: int


def encode_batch(batch: CallBatch, arguments: Callable[[str], str], text: Callable[[str], str]) -> bytes:
    """Encode a batch. `arguments` redacts the JSON of arguments; `text` then redacts every text.

    Raises FramedexError if the batch is too large to share.
    """
    columns = [_narrow(column) for column in _iter_columns(batch)]
    head = {
        "first": batch.first,
        "kinds": [[kind.function, kind.thread, kind.stack, kind.error] for kind in batch.kinds],
        "arguments": [text(arguments(each)) for each in batch.arguments],
        "types": list(map(text, batch.types)),
        "chains": [list(map(int, chain)) for chain in batch.chains],
        "columns": [[column.itemsize, len(column)] for column in columns],
    }
    head_bytes = json.dumps(head, separators=(",", ":")).encode()
    if grows_too_large(head_bytes):
        raise too_large_error()
    return b"".join(
        [len(head_bytes).to_bytes(_LENGTH, "little"), head_bytes, *(column.tobytes() for column in columns)]
    )


def _iter_columns(batch: CallBatch) -> Iterator[Integers]:
    for name in _CALL_COLUMNS:
        column = getattr(batch, name)
        yield np.diff(column, prepend=0) if name == "start" else column
    for name in _TOTALS:
        yield getattr(batch.totals, name)
    for name in _TABLES:
        yield getattr(batch, name).reshape(-1)
    for name in _OBJECTS:
        yield getattr(batch.objects, name)


def _narrow(column: Integers) -> npt.NDArray[Any]:
    least, most = (int(np.min(column)), int(np.max(column))) if len(column) else (0, 0)
    width = next(width for width in _WIDTHS if -(1 << (8 * width - 1)) <= least and most < 1 << (8 * width - 1))
    return column.astype(f"<i{width}")


class BatchDecoder:
    """Decodes the batches of a capture in order. Raises ValueError if a batch is malformed."""

    def __init__(self, bounds: DefinitionCounts) -> None:
        self._bounds = bounds
        self._rows = self._kinds = self._arguments = self._chains = self._objects = 0

    def decode(self, data: bytes) -> CallBatch:
        """Decode the next batch."""
        head, columns = _split_batch(data)
        kinds = tuple(CallKind(*_parse_integers(kind, 4)) for kind in head["kinds"])
        arguments, types = _parse_strings(head["arguments"]), _parse_strings(head["types"])
        for text in arguments:
            _check_arguments(text)
        chains = tuple(tuple(_parse_integers(chain, None)) for chain in head["chains"])
        taken = iter(columns)
        calls = dict(zip(_CALL_COLUMNS, taken, strict=False))
        calls["start"] = np.cumsum(calls["start"])
        totals = KindTotals(**dict(zip(_TOTALS, taken, strict=False)))
        tables = {name: next(taken).reshape(-1, width) for name, width in _TABLES.items()}
        objects = ObjectColumns(**dict(zip(_OBJECTS, taken, strict=False)))
        if head["first"] != self._rows:
            raise ValueError("its batches of calls are not consecutive")
        batch = CallBatch(
            self._rows, kinds, arguments, totals=totals, types=types, objects=objects, chains=chains, **calls, **tables
        )
        self._check(batch)
        self._rows += len(batch)
        return batch

    def _check(self, batch: CallBatch) -> None:
        """Raise ValueError if a batch refers to anything that does not exist."""
        bounds, rows = self._bounds, self._rows + len(batch)
        self._kinds += len(batch.kinds)
        self._arguments += len(batch.arguments)
        self._chains += len(batch.chains)
        for kind in batch.kinds:
            ends = (bounds.boundaries, bounds.threads, bounds.stacks)
            numbers = (kind.function, kind.thread, kind.stack)
            if not all(0 <= number < end for number, end in zip(numbers, ends, strict=True)):
                raise ValueError("a kind of calls refers to a missing definition")
        for chain in batch.chains:
            _check_range(np.array(chain, np.int64), 0, bounds.frames)
        for name in _CALL_COLUMNS:
            _check_length(getattr(batch, name), len(batch))
        _check_range(batch.kind, 0, self._kinds)
        _check_range(batch.argument, 0, self._arguments)
        _check_range(batch.start, 0, 1 << 62)
        _check_range(batch.duration, -1, 1 << 62)
        if np.any(batch.inside < 0) or np.any(batch.inside > np.arange(self._rows, rows)):
            raise ValueError("a call has a missing parent")
        self._check_totals(batch, rows)
        self._check_objects(batch, rows)
        _check_range(batch.links[:, 0], 0, rows)
        _check_range(batch.links[:, 1], 0, bounds.threads)
        _check_range(batch.links[:, 2], 0, self._chains)
        _check_range(batch.links[:, 3], 0, 4)

    def _check_totals(self, batch: CallBatch, rows: int) -> None:
        totals = batch.totals
        for name in _TOTALS:
            _check_length(getattr(totals, name), len(totals.kind))
        _check_range(totals.kind, 0, self._kinds)
        for column in (totals.calls, totals.duration, totals.own_duration, totals.longest):
            _check_range(column, -(1 << 60), 1 << 60)
        made = np.bincount(batch.kind, minlength=self._kinds)
        head_bytes = np.zeros(self._kinds, np.int64)
        np.add.at(head_bytes, totals.kind, totals.calls)  # an imported sample may count several calls
        if np.any(totals.calls < 0) or np.any(head_bytes < made):
            raise ValueError("its totals do not match its calls")
        for column in (totals.longest_call, totals.first_call, totals.latest_call, batch.changed[:, 0]):
            _check_range(column, 0, rows)
        for column in (batch.samples[:, 0], batch.spans[:, 0], batch.changed[:, 1]):
            _check_range(column, 0, self._kinds)
        for column in (batch.samples[:, 1], batch.changed[:, 3]):
            _check_range(column, 0, self._arguments)
        _check_range(batch.spans[:, 1:], 0, rows)
        _check_range(batch.durations[:, 0], 0, self._bounds.boundaries)
        _check_range(batch.durations[:, 1], 0, self._bounds.threads)
        _check_range(batch.durations[:, 2:], 0, 1 << 60)

    def _check_objects(self, batch: CallBatch, rows: int) -> None:
        objects = batch.objects
        for name in _OBJECTS:
            _check_length(getattr(objects, name), len(objects.place))
        _check_range(objects.place, 0, self._objects + len(objects.place))
        self._objects = max(self._objects, int(np.max(objects.place, initial=-1)) + 1)
        _check_range(objects.type, 0, len(batch.types))
        for column in (objects.created_call, objects.first_call, objects.last_call):
            _check_range(column[column != NO_OBJECT], 0, rows)
        for column in (objects.deleted_call, objects.destroyed_call):
            _check_range(column[column != NO_OBJECT], 0, rows)
        _check_range(objects.client[objects.client != NO_OBJECT], 0, self._objects)
        _check_range(objects.created_kind[objects.created_kind != NO_OBJECT], 0, self._kinds)
        _check_range(batch.numbers[:, 0], 0, self._objects)
        _check_range(batch.violations[:, 1], 0, self._objects)
        _check_range(batch.violations[:, 2], 0, rows)


def _split_batch(data: bytes) -> tuple[dict[str, Any], list[Integers]]:
    """Split a batch into its head and its columns."""
    at = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    head = parse_json(data[_LENGTH:at])
    if not isinstance(head, dict) or len(head["columns"]) != _COLUMNS:
        raise ValueError("the head of a batch is malformed")
    columns, held = [], 0
    for width, length in (_parse_integers(column, 2) for column in head["columns"]):
        if width not in _WIDTHS or not 0 <= length <= (len(data) - at) // width:
            raise ValueError("a column is truncated")
        held += length
        if held > _MAX_VALUES:
            raise ValueError("its columns are longer than a shared capture allows")
        columns.append(np.frombuffer(data, f"<i{width}", length, at).astype(np.int64))
        at += width * length
    if at != len(data):
        raise ValueError("a batch has data after its columns")
    return head, columns


def _parse_integers(values: object, length: int | None) -> list[int]:
    if not isinstance(values, list) or length not in (None, len(values)):
        raise ValueError("a list of integers is malformed")
    if not all(type(value) is int and -(1 << 63) <= value < 1 << 63 for value in values):
        raise ValueError("a value is not a 64-bit integer")
    return values


def _parse_strings(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("a list of strings is malformed")
    return tuple(values)


def _check_arguments(text: str) -> None:
    """Raise ValueError or RecursionError if the arguments of a call are not a JSON object of limited depth."""
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("the arguments of a call are not a JSON object")
    if text.count("[") + text.count("{") <= _MAX_ARGUMENT_DEPTH:
        return
    inner: list[Any] = [value]
    for _ in range(_MAX_ARGUMENT_DEPTH):
        values = [each for of in inner for each in (of.values() if isinstance(of, dict) else of)]
        inner = [each for each in values if isinstance(each, dict | list)]
    if inner:
        raise ValueError("the arguments of a call are nested too deeply")


def _check_length(column: Integers, length: int) -> None:
    if len(column) != length:
        raise ValueError("its columns differ in length")


def _check_range(column: Integers, least: int, end: int) -> None:
    if column.size and (int(np.min(column)) < least or int(np.max(column)) >= end):
        raise ValueError("a reference is out of range")
