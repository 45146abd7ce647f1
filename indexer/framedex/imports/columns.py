"""Computes the side tables of a batch of calls: spans and sample arguments of each kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from framedex.index.file.conventions import MAX_SAMPLES, SPAN_SIZE
from framedex.model import ObjectColumns

Integers = npt.NDArray[np.int64]

_NO_NUMBERS = np.zeros(0, np.int64)
WITHOUT_OBJECTS: dict[str, Any] = {
    "changed": _NO_NUMBERS.reshape(0, 4),
    "types": (),
    "objects": ObjectColumns(*([_NO_NUMBERS] * 14)),
    "numbers": _NO_NUMBERS.reshape(0, 2),
    "violations": _NO_NUMBERS.reshape(0, 4),
    "chains": (),
    "links": _NO_NUMBERS.reshape(0, 4),
}
"""The empty parts of a batch without objects, causes and FFI runs."""


def samples_of(kind: Integers, argument: Integers) -> Integers:
    """Return up to MAX_SAMPLES arguments of each kind: rows (kind, argument)."""
    pairs = np.unique(np.stack([kind, argument], axis=1), axis=0)
    begin = np.concatenate([[True], pairs[1:, 0] != pairs[:-1, 0]])[: len(pairs)]
    rank = np.arange(len(pairs)) - np.maximum.accumulate(np.where(begin, np.arange(len(pairs)), 0))
    return np.asarray(pairs[rank < MAX_SAMPLES], np.int64)


def spans_of(first: int, kind: Integers) -> Integers:
    """Return the first and last row of each kind within each `SPAN_SIZE` rows: rows (kind, first, last)."""
    row = first + np.arange(len(kind))
    order = np.lexsort((row, row // SPAN_SIZE, kind))
    kind, row = kind[order], row[order]
    is_first = np.ones(len(kind), np.bool_)
    is_first[1:] = (kind[1:] != kind[:-1]) | (row[1:] // SPAN_SIZE != row[:-1] // SPAN_SIZE)
    starts = np.flatnonzero(is_first)
    ends = np.append(starts[1:], len(kind))[: len(starts)] - 1
    return np.stack([kind[starts], row[starts], row[ends]], axis=1)
