"""Reads an imported profile as a stream of calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from framedex.captures import foreign_file, read_metadata
from framedex.imports.building import ProfileBuilder
from framedex.imports.reading import read_profile
from framedex.index.file.conventions import MAX_SAMPLES, SPAN_SIZE
from framedex.index.file.values import convert_duration_to_bucket
from framedex.model import CallBatch, CallKind, Calls, Capture, KindTotals, Metadata, ObjectColumns, StopReasons

Integers = npt.NDArray[np.int64]

_NO_NUMBERS = np.zeros(0, np.int64)
_WITHOUT_OBJECTS: dict[str, Any] = {
    "changed": _NO_NUMBERS.reshape(0, 4),
    "types": (),
    "objects": ObjectColumns(*([_NO_NUMBERS] * 14)),
    "numbers": _NO_NUMBERS.reshape(0, 2),
    "violations": _NO_NUMBERS.reshape(0, 4),
    "chains": (),
    "links": _NO_NUMBERS.reshape(0, 4),
}
"""The empty parts of a batch without objects, causes and FFI runs."""


class ForeignStream:
    """Streams the samples of an imported file as calls, with the interface of `CaptureStream`.

    Each sample is a row. The totals of its kind hold its weight: a number of calls, or a time.
    """

    def __init__(self, path: Path) -> None:
        """Read the file in the capture folder `path`. Raises FramedexError if it is malformed."""
        metadata = read_metadata(path)
        assert metadata.foreign is not None
        self._fill(read_profile(foreign_file(path), metadata.foreign), path, metadata)

    def _fill(self, builder: ProfileBuilder, path: Path, metadata: Metadata) -> None:
        self._rows = builder.table()
        self._kinds = builder.kinds
        self._arguments = builder.arguments
        self.row = 0
        weighing = builder.weighing
        if builder.started_unix_ns is not None:
            metadata = replace(metadata, started_unix_ns=builder.started_unix_ns)
        self.capture = Capture(
            path=path,
            metadata=metadata,
            modules=tuple(builder.modules),
            codes=(),
            frames=builder.frames,
            stacks=builder.stacks,
            functions=(weighing.function,) if weighing is not None else (),
            threads=builder.threads,
            calls=Calls.empty(),
            problems=(),
            stops=StopReasons(),
        )
        self.problems = builder.problems

    @property
    def calls(self) -> int:
        """The number of samples."""
        return len(self._rows)

    def next(self, limit: int) -> CallBatch:
        """Return up to `limit` samples, in order of start; an empty batch at the end."""
        first = self.row
        kind, start, duration, calls, argument = np.array(self._rows[first : first + limit]).reshape(-1, 5).T
        self.row += len(kind)
        is_first = first == 0
        return CallBatch(
            first=first,
            kinds=tuple(CallKind(0, thread, stack, 0) for stack, thread in self._kinds) if is_first else (),
            arguments=self._arguments if is_first else (),
            kind=kind,
            inside=np.zeros(len(kind), np.int64),
            start=start,
            duration=duration,
            argument=argument,
            totals=_sum_kinds(first, kind, duration, calls),
            samples=_sample_arguments(kind, argument),
            spans=_find_spans(first, kind),
            durations=self._count_durations(kind, duration),
            **_WITHOUT_OBJECTS,
        )

    def callbacks(self) -> Integers:
        """Return no rows: samples register no callbacks."""
        return _NO_NUMBERS.reshape(0, 2)

    def _count_durations(self, kind: Integers, duration: Integers) -> Integers:
        """Count the samples by thread and duration: rows (function, thread, bucket, samples)."""
        thread = np.array([thread for _, thread in self._kinds], np.int64)[kind]
        pairs, count = np.unique(np.stack([thread, duration], axis=1), axis=0, return_counts=True)
        counted: Counter[tuple[int, int]] = Counter()
        for (of_thread, each), samples in zip(pairs.tolist(), count.tolist(), strict=True):
            counted[of_thread, convert_duration_to_bucket(each)] += samples
        rows = [(0, of_thread, bucket, samples) for (of_thread, bucket), samples in counted.items()]
        return np.array(rows, np.int64).reshape(-1, 4)


def _sum_kinds(first: int, kind: Integers, duration: Integers, calls: Integers) -> KindTotals:
    """Sum the weights of a batch by kind, and find the longest, first and last sample of each."""
    order = np.lexsort((np.arange(len(kind)), duration, kind))
    is_last = np.append(kind[order][1:] != kind[order][:-1], True) if len(kind) else np.zeros(0, np.bool_)
    longest = order[is_last]
    kinds, first_row, of_row = np.unique(kind, return_index=True, return_inverse=True)
    sums = np.zeros((2, len(kinds)), np.int64)
    np.add.at(sums[0], of_row, calls)
    np.add.at(sums[1], of_row, duration)
    latest = np.zeros(len(kinds), np.int64)
    latest[of_row] = np.arange(len(kind))
    rows = (first + longest, first + first_row, first + latest)
    return KindTotals(kinds, sums[0], sums[1], sums[1], duration[longest], *rows)


def _sample_arguments(kind: Integers, argument: Integers) -> Integers:
    """Return up to MAX_SAMPLES arguments of each kind: rows (kind, argument)."""
    pairs = np.unique(np.stack([kind, argument], axis=1), axis=0)
    begin = np.concatenate([[True], pairs[1:, 0] != pairs[:-1, 0]])[: len(pairs)]
    rank = np.arange(len(pairs)) - np.maximum.accumulate(np.where(begin, np.arange(len(pairs)), 0))
    return np.asarray(pairs[rank < MAX_SAMPLES], np.int64)


def _find_spans(first: int, kind: Integers) -> Integers:
    """Return the first and last row of each kind within each `SPAN_SIZE` rows: rows (kind, first, last)."""
    row = first + np.arange(len(kind))
    order = np.lexsort((row, row // SPAN_SIZE, kind))
    kind, row = kind[order], row[order]
    is_first = np.ones(len(kind), np.bool_)
    is_first[1:] = (kind[1:] != kind[:-1]) | (row[1:] // SPAN_SIZE != row[:-1] // SPAN_SIZE)
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(kind))[: len(starts)] - 1
    return np.stack([kind[starts], row[starts], row[ends]], axis=1)
