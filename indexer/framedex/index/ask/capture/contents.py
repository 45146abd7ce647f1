"""What one capture holds: its boundary functions and their calls in pages, all of them or those that a text filters.

Without a filter only totals and the pages themselves are read, however many calls there are. A filter looks at every
call of the capture, and at the tree of its stacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from framedex.calltext import arguments_in_brief
from framedex.errors import FramedexError
from framedex.index.ask.call.objects import calls_of_object, name_objects
from framedex.index.ask.capture.tree import capture_tree
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.asked import AskedCapture
from framedex.index.read.rows import CALL_COLUMNS, CALL_TABLES, Reader, arguments, call_row
from framedex.model import BoundaryTotals, CallRow

MOST_CALLS = 50

_NOTHING = (0, -1)
"""An empty range of ids."""

_OBJECT = re.compile(r"[a-z_]+#\d{1,18}")


def boundary_totals(asked: AskedCapture, text: str = "") -> list[BoundaryTotals]:
    """The boundary functions that the capture called, most time first; with a text only the calls that pass it.

    A call passes where its boundary function, an argument, or a function or file of its stack contains the text.
    """
    reader, capture = asked.reader, asked.capture
    if text:
        first, last = _calls_of(reader, capture)
        passing = _Passing.of(reader, capture, text)
        rows = reader.rows(
            "SELECT b.id, b.name, b.boundary, count(*), sum(max(c.duration, 0)), max(c.id)"
            " FROM calls c JOIN boundaries b ON b.id = c.boundary"
            f" WHERE c.id BETWEEN ? AND ? AND (c.boundary {IN_JSON} OR {passing.condition}) GROUP BY b.id",
            first,
            last,
            json_list(sorted(passing.boundaries)),
            *passing.parameters,
        )
    else:
        rows = reader.rows(
            "SELECT b.id, b.name, b.boundary, sum(x.calls), sum(x.duration), max(x.latest_call)"
            " FROM capture_stacks x JOIN boundaries b ON b.id = x.boundary WHERE x.capture = ? GROUP BY b.id",
            capture,
        )
    return sorted((BoundaryTotals(*row) for row in rows), key=lambda each: (-each.duration, -each.calls, each.function))


def calls_of_boundary(
    asked: AskedCapture,
    boundary: int,
    text: str = "",
    *,
    longest_first: bool = False,
    limit: int = MOST_CALLS,
    offset: int = 0,
) -> list[CallRow]:
    """A page of the calls of a boundary function (`BoundaryTotals.id`) that pass the text, by start time.

    With `longest_first`, those that took longest come first, which looks at all of them. Their objects are named.
    """
    reader, capture = asked.reader, asked.capture
    first, last = _calls_of(reader, capture)
    condition, parameters = "", []
    if text:
        passing = _Passing.of(reader, capture, text)
        if boundary not in passing.boundaries:
            condition, parameters = f" AND {passing.condition}", passing.parameters
    order = "c.duration DESC, c.id" if longest_first else "c.id"
    rows = reader.rows(
        f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.id IN (SELECT c.id FROM calls c"
        f" WHERE c.boundary = ? AND c.id BETWEEN ? AND ?{condition} ORDER BY {order} LIMIT ? OFFSET ?)"
        f" ORDER BY {order}",
        boundary,
        first,
        last,
        *parameters,
        limit,
        offset,
    )
    return name_objects(reader, [call_row(row) for row in rows])


@dataclass(frozen=True, slots=True)
class _Passing:
    """The parts of a capture that contain a text: boundary functions by name, stacks by functions and files, arguments.

    `condition` is on `calls c` and takes `parameters`.
    """

    boundaries: frozenset[int]
    condition: str
    parameters: list[object]

    @staticmethod
    def of(reader: Reader, capture: int, text: str) -> _Passing:
        named = reader.rows("SELECT id FROM boundaries WHERE instr(lower(name), lower(?)) > 0", text)
        if _OBJECT.fullmatch(text):
            return _Passing(frozenset(each for (each,) in named), *_with_object(reader, capture, text))
        found: tuple[str, str] = reader.memory.recall(
            ("passing", capture, text),
            lambda: (json_list(_stacks(reader, capture, text)), json_list(_arguments(reader, capture, text))),
        )
        condition = f"(c.stack {IN_JSON} OR c.arguments {IN_JSON})"
        return _Passing(frozenset(each for (each,) in named), condition, list(found))


def _with_object(reader: Reader, capture: int, name: str) -> tuple[str, list[object]]:
    """The calls that an object of the runtime is a value of, as a condition and its parameters."""
    try:
        condition, parameters = calls_of_object(reader, name, capture)
    except FramedexError:  # the capture has no such object
        return "0", []
    return f"({condition})", parameters


def _stacks(reader: Reader, capture: int, text: str) -> list[int]:
    """The stacks of a capture with a frame whose function or file contains the text."""
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
    """The argument objects of a capture that contain the text, as recorded or (`F32[2,3]`) as people read shapes."""
    first, last = _calls_of(reader, capture)
    is_shape = "[" in text
    rows = reader.rows(
        "SELECT id, json FROM arguments WHERE id IN (SELECT DISTINCT arguments FROM calls WHERE id BETWEEN ? AND ?)"
        f" AND (instr(lower(json), lower(?)) > 0{' OR has_shape' if is_shape else ''})",
        first,
        last,
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
