"""The call order of a capture's functions: predecessors and successors on the same thread, and nesting.

Every call of the capture is read, and eight bytes per call are held in memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from framedex.index.read.rows import Reader

_AT_ONCE = 1 << 16  # calls per query

Numbers = NDArray[np.int64]


@dataclass(slots=True)
class Orders:
    """Counts of pairs of boundary functions (their ids): consecutive on a thread, and nested.

    `following` is by (earlier, later) for outermost calls; `inside` is by (outer, inner).
    """

    following: Counter[tuple[int, int]] = field(default_factory=Counter)
    inside: Counter[tuple[int, int]] = field(default_factory=Counter)


def call_orders(reader: Reader, capture: int) -> Orders:
    """Return the call orders of the capture's functions."""
    rows = reader.rows("SELECT first_call, last_call FROM captures WHERE id = ? AND calls > 0", capture)
    if not rows:
        return Orders()
    first, last = rows[0]
    kinds: dict[int, tuple[int, int]] = {
        kind: (boundary, thread)
        for kind, boundary, thread in reader.rows(
            "SELECT id, boundary, thread FROM call_kinds WHERE capture = ? AND calls > 0", capture
        )
    }
    numbers = {kind: number for number, kind in enumerate(kinds)}
    kind_of, inside = _columns(reader, first, last, numbers)
    boundaries = np.array([boundary for boundary, _ in kinds.values()], np.int64)
    threads = np.array([thread for _, thread in kinds.values()], np.int64)
    orders = Orders()
    is_call = kind_of >= 0
    nested = np.flatnonzero(is_call & (inside > 0))
    outer = kind_of[nested - inside[nested]]
    orders.inside = _counted(boundaries[outer[outer >= 0]], boundaries[kind_of[nested[outer >= 0]]])
    outermost = kind_of[is_call & (inside == 0)]
    for thread in dict.fromkeys(threads.tolist()):
        called = boundaries[outermost[threads[outermost] == thread]]
        orders.following += _counted(called[:-1], called[1:])
    return orders


def _columns(
    reader: Reader, first: int, last: int, numbers: dict[int, int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return per id the number of the call's kind (-1: no call), and the distance to the enclosing call (0: none)."""
    kind_of = np.full(last - first + 1, -1, np.int32)
    inside = np.zeros(last - first + 1, np.int32)
    with reader.looking.through(last - first + 1):
        for begin in range(first, last + 1, _AT_ONCE):
            end = min(begin + _AT_ONCE - 1, last)
            rows = reader.rows("SELECT id, kind, inside FROM call_rows WHERE id BETWEEN ? AND ?", begin, end)
            if rows:
                ids, of_rows, outward = zip(*rows, strict=True)
                at = np.array(ids, np.int64) - first
                kind_of[at] = [numbers.get(kind, -1) for kind in of_rows]
                inside[at] = [distance or 0 for distance in outward]
            reader.looking.passed(end - begin + 1)
    return kind_of, inside


def _counted(left: Numbers, right: Numbers) -> Counter[tuple[int, int]]:
    """Return the number of occurrences of each pair."""
    if not left.size:
        return Counter()
    base = int(np.max(right)) + 1
    pairs, counts = np.unique(left * base + right, return_counts=True)
    found = zip(pairs.tolist(), counts.tolist(), strict=True)
    return Counter({divmod(pair, base): count for pair, count in found})
