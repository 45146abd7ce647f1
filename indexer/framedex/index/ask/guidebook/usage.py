"""Count how a capture's functions use runtime objects, and the order in which they are called.

Created, deleted and destroyed objects are counted as objects; uses are counted as calls.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.rows import Reader
from framedex.programs.objects import ObjectRole, find_boundary_function

_USE_CALLS_PER_QUERY = 1 << 19  # calls per query


_ORDER_CALLS_PER_QUERY = 1 << 16  # calls per query

Numbers = NDArray[np.int64]


@dataclass(slots=True)
class ObjectUses:
    """Counts by object type and boundary function (its id): objects created, used, deleted and destroyed.

    `all` counts the objects of each type, `left` those not destroyed at the end of the recording.
    """

    created: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    used: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    deleted: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    destroyed: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    all: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)


def count_object_uses(reader: Reader, capture: int) -> ObjectUses:
    """Return the object counts of the capture."""
    found = ObjectUses()
    for kind, boundary, objects in reader.rows(
        "SELECT t.name, k.boundary, sum(o.objects) FROM object_types t JOIN created_objects o ON o.type = t.id"
        " JOIN call_kinds k ON k.id = o.kind WHERE t.capture = ? GROUP BY 1, 2",
        capture,
    ):
        found.created[kind][boundary] += objects
    for first, last in reader.rows("SELECT first_object, last_object FROM object_ranges WHERE capture = ?", capture):
        for kind, objects, left in reader.rows(
            "SELECT t.name, count(*), sum(o.destroyed_call IS NULL) FROM object_rows o"
            " JOIN object_types t ON t.id = o.type WHERE o.id BETWEEN ? AND ? GROUP BY 1",
            first,
            last,
        ):
            found.all[kind] += objects
            found.left[kind] += left
        for column, ended in (("deleted_call", found.deleted), ("destroyed_call", found.destroyed)):
            for kind, boundary, objects in reader.rows(
                f"SELECT t.name, k.boundary, count(*) FROM object_rows o JOIN object_types t ON t.id = o.type"
                f" JOIN call_rows c ON c.id = o.{column} JOIN call_kinds k ON k.id = c.kind"
                " WHERE o.id BETWEEN ? AND ? GROUP BY 1, 2",
                first,
                last,
            ):
                ended[kind][boundary] += objects
    for boundary, kind, calls in _iter_uses(reader, capture):
        found.used[kind][boundary] += calls
    return found


def _iter_uses(reader: Reader, capture: int) -> Iterator[tuple[int, str, int]]:
    """Yield (boundary function id, object type, calls) for functions that were passed objects to use."""
    rows = reader.rows("SELECT first_call, last_call FROM captures WHERE id = ? AND calls > 0", capture)
    if not rows:
        return
    first, last = rows[0]
    searches_of = {
        boundary: _build_address_searches(name)
        for boundary, name in reader.rows(
            "SELECT DISTINCT b.id, b.name FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
            " WHERE k.capture = ? AND k.calls > 0",
            capture,
        )
    }
    query = (
        "SELECT x.boundary, a.json, x.calls FROM ("
        " SELECT k.boundary, c.arguments, count(*) AS calls FROM call_rows c CROSS JOIN call_kinds k ON k.id = c.kind"
        f" WHERE c.id BETWEEN ? AND ? AND k.boundary {IN_JSON} GROUP BY 1, 2"
        ") x JOIN arguments a ON a.id = x.arguments"
    )
    using = build_json_list(boundary for boundary, patterns in searches_of.items() if patterns)
    for begin in range(first, last + 1, _USE_CALLS_PER_QUERY):
        for boundary, text, calls in reader.iter_rows(query, begin, min(begin + _USE_CALLS_PER_QUERY - 1, last), using):
            for kind, is_given in searches_of[boundary].items():
                if is_given(text):
                    yield boundary, kind, calls


def _build_address_searches(function: str) -> dict[str, Callable[[str], object]]:
    """Return, by used object type, a search for an object address in a function's recorded arguments.

    Arguments are searched as text: a capture may have millions, each a small JSON object from the recorder.
    """
    names: dict[str, list[str]] = {}
    for known in find_boundary_function(function).inputs:
        if known.role is ObjectRole.USES:
            value = r"\[[^\"]*" if known.is_list else ""
            names.setdefault(known.type, []).append(f'"{re.escape(known.name)}": {value}"0x')
    return {kind: re.compile("|".join(patterns)).search for kind, patterns in names.items()}


@dataclass(slots=True)
class CallOrders:
    """Counts of pairs of boundary functions (their ids): consecutive on a thread, and nested.

    `consecutive` is by (earlier, later) for outermost calls; `nested` is by (outer, inner).
    """

    consecutive: Counter[tuple[int, int]] = field(default_factory=Counter)
    nested: Counter[tuple[int, int]] = field(default_factory=Counter)


def count_call_orders(reader: Reader, capture: int) -> CallOrders:
    """Return the call orders of the capture's functions."""
    rows = reader.rows("SELECT first_call, last_call FROM captures WHERE id = ? AND calls > 0", capture)
    if not rows:
        return CallOrders()
    first, last = rows[0]
    kinds: dict[int, tuple[int, int]] = {
        kind: (boundary, thread)
        for kind, boundary, thread in reader.rows(
            "SELECT id, boundary, thread FROM call_kinds WHERE capture = ? AND calls > 0", capture
        )
    }
    numbers = {kind: number for number, kind in enumerate(kinds)}
    kind_of, inside = _read_columns(reader, first, last, numbers)
    boundaries = np.array([boundary for boundary, _ in kinds.values()], np.int64)
    threads = np.array([thread for _, thread in kinds.values()], np.int64)
    orders = CallOrders()
    is_call = kind_of >= 0
    nested = np.flatnonzero(is_call & (inside > 0))
    outer = kind_of[nested - inside[nested]]
    orders.nested = _count_pairs(boundaries[outer[outer >= 0]], boundaries[kind_of[nested[outer >= 0]]])
    outermost = kind_of[is_call & (inside == 0)]
    for thread in dict.fromkeys(threads.tolist()):
        called = boundaries[outermost[threads[outermost] == thread]]
        orders.consecutive += _count_pairs(called[:-1], called[1:])
    return orders


def _read_columns(
    reader: Reader, first: int, last: int, numbers: dict[int, int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return per id the number of the call's kind (-1: no call), and the distance to the enclosing call (0: none)."""
    kind_of = np.full(last - first + 1, -1, np.int32)
    inside = np.zeros(last - first + 1, np.int32)
    with reader.progress.expect_calls(last - first + 1):
        for begin in range(first, last + 1, _ORDER_CALLS_PER_QUERY):
            end = min(begin + _ORDER_CALLS_PER_QUERY - 1, last)
            rows = reader.rows("SELECT id, kind, inside FROM call_rows WHERE id BETWEEN ? AND ?", begin, end)
            if rows:
                ids, of_rows, outward = zip(*rows, strict=True)
                positions = np.array(ids, np.int64) - first
                kind_of[positions] = [numbers.get(kind, -1) for kind in of_rows]
                inside[positions] = [distance or 0 for distance in outward]
            reader.progress.advance(end - begin + 1)
    return kind_of, inside


def _count_pairs(left: Numbers, right: Numbers) -> Counter[tuple[int, int]]:
    """Return the number of occurrences of each pair."""
    if not left.size:
        return Counter()
    base = int(np.max(right)) + 1
    pairs, counts = np.unique(left * base + right, return_counts=True)
    found = zip(pairs.tolist(), counts.tolist(), strict=True)
    return Counter({divmod(pair, base): count for pair, count in found})
