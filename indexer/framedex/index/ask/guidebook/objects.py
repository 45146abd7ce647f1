"""Uses of runtime objects by a capture's functions, and the ends of these objects.

Created, deleted and destroyed objects are counted as objects; uses are counted as calls.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.rows import Reader
from framedex.objects import Role, function_named

_AT_ONCE = 1 << 19  # calls per query


@dataclass(slots=True)
class ObjectUses:
    """Counts by object type and boundary function (its id): objects created, used, deleted and destroyed.

    `all` counts the objects of each type, `left` those not destroyed at the end of the recording.
    """

    made: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    used: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    deleted: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    destroyed: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    all: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)


def object_uses(reader: Reader, capture: int) -> ObjectUses:
    """Return the object counts of the capture."""
    found = ObjectUses()
    for kind, boundary, objects in reader.rows(
        "SELECT t.name, k.boundary, sum(o.objects) FROM object_types t JOIN created_objects o ON o.type = t.id"
        " JOIN call_kinds k ON k.id = o.kind WHERE t.capture = ? GROUP BY 1, 2",
        capture,
    ):
        found.made[kind][boundary] += objects
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
    for boundary, kind, calls in _given(reader, capture):
        found.used[kind][boundary] += calls
    return found


def _given(reader: Reader, capture: int) -> Iterator[tuple[int, str, int]]:
    """Yield (boundary function id, object type, calls) for functions that were passed objects to use."""
    rows = reader.rows("SELECT first_call, last_call FROM captures WHERE id = ? AND calls > 0", capture)
    if not rows:
        return
    first, last = rows[0]
    given = {
        boundary: _patterns(name)
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
    using = json_list(boundary for boundary, patterns in given.items() if patterns)
    for begin in range(first, last + 1, _AT_ONCE):
        for boundary, text, calls in reader.each(query, begin, min(begin + _AT_ONCE - 1, last), using):
            for kind, is_given in given[boundary].items():
                if is_given(text):
                    yield boundary, kind, calls


def _patterns(function: str) -> dict[str, Callable[[str], object]]:
    """Return, by used object type, a search for an object address in a function's recorded arguments.

    Arguments are searched as text: a capture may have millions, each a small JSON object from the recorder.
    """
    names: dict[str, list[str]] = {}
    for known in function_named(function).inputs:
        if known.role is Role.USES:
            value = r"\[[^\"]*" if known.is_list else ""
            names.setdefault(known.type, []).append(f'"{re.escape(known.name)}": {value}"0x')
    return {kind: re.compile("|".join(patterns)).search for kind, patterns in names.items()}
