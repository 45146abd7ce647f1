"""Example calls with a capture's arguments, results and errors."""

from __future__ import annotations

import re
from collections.abc import Iterable

from framedex.calltext import values_by_name
from framedex.errorcodes import error_name
from framedex.index.ask.call.objects import name_objects
from framedex.index.ask.guidebook.places import PublicPlaces
from framedex.index.ask.guidebook.stacks import lines_of_stacks
from framedex.index.ask.guidebook.withoutpaths import without_paths
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.rows import CALL_COLUMNS, CALL_TABLES, Reader, call_row
from framedex.model import CallRow
from framedex.model.guidebook.observed import Example, SeenError

MOST_EXAMPLES = 3
_MOST_LOOKED_AT = 24  # limit of calls read per function
_LONGEST_MESSAGE = 2_000  # characters
_NUMBERS = re.compile(r"0x[0-9a-f]+|#\d+")
"""Parts that differ between similar calls: addresses and object numbers."""


def examples_of_functions(reader: Reader, capture: int, places: PublicPlaces) -> dict[int, tuple[Example, ...]]:
    """Return examples by boundary function (its id): the first calls whose values differ beyond object identity."""
    rows = reader.rows(
        "SELECT boundary, call FROM (SELECT boundary, first_call AS call, calls FROM call_kinds"
        " WHERE capture = ?1 AND calls > 0 AND error = 0 UNION SELECT boundary, latest_call, calls FROM call_kinds"
        " WHERE capture = ?1 AND calls > 1 AND error = 0) ORDER BY boundary, calls DESC, call",
        capture,
    )
    chosen: dict[int, list[int]] = {}
    for boundary, call in rows:
        of_boundary = chosen.setdefault(boundary, [])
        if len(of_boundary) < _MOST_LOOKED_AT:
            of_boundary.append(call)
    calls = _calls(reader, (call for of_boundary in chosen.values() for call in of_boundary))
    lines = lines_of_stacks(reader, {call.stack for call in calls.values()}, places)
    found = {}
    for boundary, of_boundary in chosen.items():
        distinct: dict[tuple[tuple[str, str], ...], Example] = {}
        for call in sorted(of_boundary):
            values = tuple((name, without_paths(text)) for name, text in values_by_name(calls[call]))
            kind = tuple((name, _NUMBERS.sub("", text)) for name, text in values)
            distinct.setdefault(kind, Example(values, lines.get(calls[call].stack)))
        found[boundary] = tuple(distinct.values())[:MOST_EXAMPLES]
    return found


def errors_of_functions(reader: Reader, capture: int) -> dict[int, tuple[SeenError, ...]]:
    """Return the errors of calls by boundary function (its id), most calls first."""
    rows = reader.rows(
        "SELECT boundary, error, sum(calls), min(first_call) FROM call_kinds"
        " WHERE capture = ? AND calls > 0 AND error > 0 GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2",
        capture,
    )
    calls = _calls(reader, (call for *_, call in rows))
    found: dict[int, tuple[SeenError, ...]] = {}
    for boundary, error, count, call in rows:
        message = without_paths(str(calls[call].arguments.get("error_message") or ""))[:_LONGEST_MESSAGE]
        found[boundary] = (*found.get(boundary, ()), SeenError(error_name(error), message, count))
    return found


def _calls(reader: Reader, wanted: Iterable[int]) -> dict[int, CallRow]:
    rows = reader.rows(f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.id {IN_JSON}", json_list(wanted))
    return {call.id: call for call in name_objects(reader, list(map(call_row, rows)))}
