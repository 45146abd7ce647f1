"""The contents of one capture: its boundary functions and pages of their calls, all or filtered by a text.

Without a filter only totals and the requested pages are read, regardless of the number of calls. A filter reads every
call of the capture, and the tree of its stacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from framedex.calltext import arguments_in_brief
from framedex.errors import FramedexError
from framedex.index.ask.call.objects import calls_of_object, name_objects
from framedex.index.ask.capture.tree import capture_tree
from framedex.index.file.conventions import IN_JSON, Row, json_list
from framedex.index.read.asked import AskedCapture
from framedex.index.read.rows import CALL_COLUMNS, CALL_TABLES, Reader, arguments, call_row
from framedex.index.read.spans import KIND_TABLES, Ids, calls_in
from framedex.model import BoundaryTotals, CallRow

MOST_CALLS = 50

_NOTHING = (0, -1)
"""An empty range of ids."""

_OBJECT = re.compile(r"[a-z_]+#\d{1,18}")


def boundary_totals(asked: AskedCapture, text: str = "") -> list[BoundaryTotals]:
    """Return the boundary functions of the capture, longest total duration first; a text restricts their calls.

    A call passes if its boundary function, an argument, or a function or file of its stack contains the text.
    """
    reader, capture = asked.reader, asked.capture
    if text:
        rows = _totals_of_passing(reader, capture, _Passing.of(reader, capture, text))
    else:
        rows = reader.rows(
            "SELECT b.id, b.name, b.boundary, sum(x.calls), sum(x.duration), max(x.latest_call)"
            " FROM capture_stacks x JOIN boundaries b ON b.id = x.boundary WHERE x.capture = ? GROUP BY b.id",
            capture,
        )
    return sorted((BoundaryTotals(*row) for row in rows), key=lambda each: (-each.duration, -each.calls, each.function))


def _totals_of_passing(reader: Reader, capture: int, passing: _Passing) -> list[Row]:
    """Return rows for `BoundaryTotals`: stored totals of passing kinds, and single calls of the others."""
    first, last = _calls_of(reader, capture)
    of_kind = f"(k.boundary {IN_JSON} OR k.stack {IN_JSON})"
    kinds = json_list(sorted(passing.boundaries)), passing.stacks
    return reader.rows(
        "SELECT b.id, b.name, b.boundary, sum(x.calls), sum(x.duration), max(x.latest) FROM ("
        " SELECT k.boundary, k.calls, k.duration, k.latest_call AS latest FROM call_kinds k"
        f" WHERE k.capture = ? AND k.calls > 0 AND {of_kind}"
        " UNION ALL SELECT k.boundary, count(*), sum(max(c.duration, 0)), max(c.id)"
        " FROM call_rows c CROSS JOIN call_kinds k ON k.id = c.kind"
        f" WHERE c.id BETWEEN ? AND ? AND {passing.condition} AND NOT {of_kind} GROUP BY k.boundary"
        ") x JOIN boundaries b ON b.id = x.boundary GROUP BY b.id",
        capture,
        *kinds,
        *(passing.first or first, passing.last or last),
        *passing.parameters,
        *kinds,
    )


def calls_of_boundary(
    asked: AskedCapture,
    boundary: int,
    text: str = "",
    *,
    longest_first: bool = False,
    limit: int = MOST_CALLS,
    offset: int = 0,
) -> list[CallRow]:
    """Return a page of the calls of a boundary function (`BoundaryTotals.id`) that pass the text, by start time.

    `longest_first` sorts by duration, which reads all of them. Objects are named.
    """
    reader, capture = asked.reader, asked.capture
    passing = _Passing.of(reader, capture, text) if text else None
    if passing is not None and boundary in passing.boundaries:
        passing = None
    of_boundary = "SELECT id FROM call_kinds WHERE capture = ? AND +boundary = ? AND calls > 0"
    kinds = [kind for (kind,) in reader.rows(of_boundary, capture, boundary)]
    condition, parameters = "", list[object]()
    if passing is not None:
        condition = f" AND (k.stack {IN_JSON} OR {passing.condition})"
        parameters = [passing.stacks, *passing.parameters]
    if longest_first:
        # SQLite keeps only `offset + limit` rows while it sorts.
        rows = reader.rows(
            f"SELECT c.id FROM {KIND_TABLES} WHERE k.id {IN_JSON}{condition}"
            " ORDER BY c.duration DESC, c.id LIMIT ? OFFSET ?",
            json_list(kinds),
            *parameters,
            limit,
            offset,
        )
    else:
        first, last = _calls_of(reader, capture)
        calls = calls_in(reader, "c.id", kinds, Ids(first, first, last), condition, parameters, backwards=False)
        rows = list(islice(calls, offset, offset + limit))
    ids = [call for (call,) in rows]
    query = f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.id {IN_JSON}"
    found = {row[0]: call_row(row) for row in reader.rows(query, json_list(ids))}
    return name_objects(reader, [found[call] for call in ids])


@dataclass(frozen=True, slots=True)
class _Passing:
    """The parts of a capture that contain a text: boundary functions, stacks and arguments.

    `stacks` is JSON for `IN_JSON`. `condition` covers further calls, is on `call_rows c` and `call_kinds k`, and takes
    `parameters`. If `first` and `last` are not 0, only calls between them fulfil it.
    """

    boundaries: frozenset[int]
    stacks: str
    condition: str
    parameters: list[object]
    first: int = 0
    last: int = 0

    @staticmethod
    def of(reader: Reader, capture: int, text: str) -> _Passing:
        rows = reader.rows("SELECT id FROM boundaries WHERE instr(lower(name), lower(?)) > 0", text)
        named = frozenset(each for (each,) in rows)
        if _OBJECT.fullmatch(text):
            try:
                found = calls_of_object(reader, text, capture)
            except FramedexError:  # the capture has no such object
                return _Passing(named, "[]", "0", [])
            condition = f"(c.id BETWEEN ? AND ? AND {found.condition})"
            within = found.first, found.last
            return _Passing(named, "[]", condition, [*within, *found.parameters], *within)
        stacks, texts = reader.memory.recall(
            ("passing", capture, text),
            lambda: (json_list(_stacks(reader, capture, text)), json_list(_arguments(reader, capture, text))),
        )
        return _Passing(named, stacks, f"c.arguments {IN_JSON}" if texts != "[]" else "0", [texts] * (texts != "[]"))


def _stacks(reader: Reader, capture: int, text: str) -> list[int]:
    """Return the stacks of a capture with a frame whose function or file contains the text."""
    rows = reader.rows(
        "SELECT fr.id FROM frames fr JOIN functions fn ON fn.id = fr.function"
        " WHERE instr(lower(fn.name), lower(?1)) > 0 OR instr(lower(fn.symbol), lower(?1)) > 0"
        " UNION SELECT fr.id FROM frames fr JOIN files f ON f.id = fr.file WHERE instr(lower(f.path), lower(?1)) > 0",
        text,
    )
    wanted = {frame for (frame,) in rows}
    tree = capture_tree(reader, capture)
    passed: set[int] = set()
    for node, parent, frame in tree.nodes:
        if frame in wanted or parent in passed:
            passed.add(node)
    return [end.stack for end in tree.ends if end.leaf in passed or end.python_leaf in passed]


def _arguments(reader: Reader, capture: int, text: str) -> list[int]:
    """Return the arguments of a capture that contain the text, as recorded or with readable shapes (`F32[2,3]`)."""
    is_shape = "[" in text
    rows = reader.rows(
        "SELECT id, json FROM arguments WHERE capture = ?"
        f" AND (instr(lower(json), lower(?)) > 0{' OR has_shape' if is_shape else ''})",
        capture,
        text,
    )
    wanted = text.casefold()
    return [
        each
        for each, json in rows
        if not is_shape or wanted in json.casefold() or wanted in arguments_in_brief(arguments(json)).casefold()
    ]


def _calls_of(reader: Reader, capture: int) -> tuple[int, int]:
    row = reader.row("SELECT first_call, last_call FROM captures WHERE id = ? AND calls > 0", capture)
    return _NOTHING if row is None else (int(row[0]), int(row[1]))
