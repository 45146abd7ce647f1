"""The contents of one capture: its stack tree, its boundary functions and pages of their calls, filtered by a text.

Without a filter only totals and the requested pages are read, regardless of the number of calls. A filter reads every
call of the capture, and the tree of its stacks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from framedex.base.errors import FramedexError
from framedex.index.ask.call.objects import find_calls_of_object, name_objects
from framedex.index.file.conventions import IN_JSON, OTHER_PLUGINS, Row, build_json_list
from framedex.index.read.rows import CALL_COLUMNS, CALL_TABLES, Reader, build_call, decode_arguments
from framedex.index.read.spans import KIND_TABLES, IdRange, iter_calls
from framedex.index.read.subjects import CaptureQuery
from framedex.model import BoundaryTotals, CallRow
from framedex.texts.calls import format_arguments_briefly

PAGE_CALLS = 50

_EMPTY_RANGE = (0, -1)
"""An empty range of ids."""

_OBJECT = re.compile(r"[a-z_]+#\d{1,18}")


@dataclass(frozen=True, slots=True)
class StackEnd:
    """The calls of a capture with one stack and boundary function (its id), and the nodes at the stack's end.

    `duration` is in ns. `python_leaf` is 0, or the end of a Python stack that could not be merged.
    """

    stack: int
    boundary: int
    calls: int
    duration: int
    leaf: int
    python_leaf: int


@dataclass(frozen=True, slots=True)
class CaptureTree:
    """The tree; `nodes` are (node, parent or 0, frame), callers before their callees."""

    nodes: tuple[tuple[int, int, int], ...]
    ends: tuple[StackEnd, ...]


_MOCK_CAPTURES = """
SELECT k.capture FROM call_kinds k JOIN boundaries b ON b.id = k.boundary
LEFT JOIN call_rows c ON c.id = k.first_call LEFT JOIN arguments a ON a.id = c.arguments
WHERE k.calls > 0 AND (b.boundary IN ('mock_tpu', 'tpu_executor')
OR b.name = 'GetPjrtApi' AND json_extract(a.json, '$.plugin') = 'the mock TPU')
UNION SELECT id FROM captures WHERE is_on_mock
"""  # jaxlib 0.4.13's boundary, tpu_executor, exists only for the mock


def read_captures_with_plugins(reader: Reader) -> frozenset[int]:
    """Return the ids of captures that recorded another plug-in than the mock TPU, if their plug-ins are known."""
    query = f"SELECT c.id FROM captures c WHERE EXISTS ({OTHER_PLUGINS})"
    return frozenset(capture for (capture,) in reader.rows(query))


def read_captures_on_mock(reader: Reader) -> frozenset[int]:
    """Return the ids of captures that were recorded on the mock TPU."""
    return frozenset(capture for (capture,) in reader.rows(_MOCK_CAPTURES))


def read_capture_tree(reader: Reader, capture: int) -> CaptureTree:
    """Return the tree of a capture; empty if there is no such capture."""
    return reader.cache.get_or_compute(("tree", capture), lambda: _read_tree(reader, capture))


def read_nested_durations(reader: Reader, capture: int) -> dict[tuple[int, int], int]:
    """Return the time (ns) of nested boundary calls by the stack and boundary function of the enclosing call."""
    rows = reader.rows(
        "SELECT stack, boundary, sum(duration - own_duration) FROM call_kinds WHERE capture = ?"
        " GROUP BY stack, boundary",
        capture,
    )
    return {(stack, boundary): duration for stack, boundary, duration in rows}


def _read_tree(reader: Reader, capture: int) -> CaptureTree:
    ends = reader.rows(
        "SELECT x.stack, x.boundary, x.calls, x.duration, s.leaf, s.python_leaf"
        " FROM capture_stacks x JOIN stacks s ON s.id = x.stack WHERE x.capture = ?",
        capture,
    )
    nodes = reader.rows(
        "WITH RECURSIVE ends AS ("
        " SELECT s.leaf, s.python_leaf FROM capture_stacks x JOIN stacks s ON s.id = x.stack WHERE x.capture = ?"
        "), up(node) AS ("
        " SELECT leaf FROM ends UNION SELECT python_leaf FROM ends"
        " UNION SELECT n.parent FROM up JOIN nodes n ON n.id = up.node"
        ") SELECT n.id, n.parent, n.frame FROM up JOIN nodes n ON n.id = up.node ORDER BY n.depth, n.id",
        capture,
    )
    return CaptureTree(tuple(nodes), tuple(StackEnd(*row) for row in ends))


def read_boundary_totals(subject: CaptureQuery, text: str = "") -> list[BoundaryTotals]:
    """Return the boundary functions of the capture, longest total duration first; a text restricts their calls.

    A call contains the text if its boundary function, an argument, or a function or file of its stack contains the
    text.
    """
    reader, capture = subject.reader, subject.capture
    if text:
        rows = _sum_matching_calls(reader, capture, _TextMatches.find(reader, capture, text))
    else:
        rows = reader.rows(
            "SELECT b.id, b.name, b.boundary, sum(x.calls), sum(x.duration), max(x.latest_call)"
            " FROM capture_stacks x JOIN boundaries b ON b.id = x.boundary WHERE x.capture = ? GROUP BY b.id",
            capture,
        )
    return sorted((BoundaryTotals(*row) for row in rows), key=lambda each: (-each.duration, -each.calls, each.function))


def _sum_matching_calls(reader: Reader, capture: int, matches: _TextMatches) -> list[Row]:
    """Return rows for `BoundaryTotals`: stored totals of matching kinds, plus the matching calls of other kinds."""
    first, last = _find_call_range(reader, capture)
    of_kind = f"(k.boundary {IN_JSON} OR k.stack {IN_JSON})"
    kinds = build_json_list(sorted(matches.boundaries)), matches.stacks
    return reader.rows(
        "SELECT b.id, b.name, b.boundary, sum(x.calls), sum(x.duration), max(x.latest) FROM ("
        " SELECT k.boundary, k.calls, k.duration, k.latest_call AS latest FROM call_kinds k"
        f" WHERE k.capture = ? AND k.calls > 0 AND {of_kind}"
        " UNION ALL SELECT k.boundary, count(*), sum(max(c.duration, 0)), max(c.id)"
        " FROM call_rows c CROSS JOIN call_kinds k ON k.id = c.kind"
        f" WHERE c.id BETWEEN ? AND ? AND {matches.condition} AND NOT {of_kind} GROUP BY k.boundary"
        ") x JOIN boundaries b ON b.id = x.boundary GROUP BY b.id",
        capture,
        *kinds,
        *(matches.first or first, matches.last or last),
        *matches.parameters,
        *kinds,
    )


def read_calls_of_boundary(
    subject: CaptureQuery,
    boundary: int,
    text: str = "",
    *,
    longest_first: bool = False,
    limit: int = PAGE_CALLS,
    offset: int = 0,
) -> list[CallRow]:
    """Return a page of the calls of a boundary function (`BoundaryTotals.id`) that contain the text, by start time.

    `longest_first` sorts by duration, which reads all of them. Objects are named.
    """
    reader, capture = subject.reader, subject.capture
    matches = _TextMatches.find(reader, capture, text) if text else None
    if matches is not None and boundary in matches.boundaries:
        matches = None
    of_boundary = "SELECT id FROM call_kinds WHERE capture = ? AND +boundary = ? AND calls > 0"
    kinds = [kind for (kind,) in reader.rows(of_boundary, capture, boundary)]
    condition, parameters = "", list[object]()
    if matches is not None:
        condition = f" AND (k.stack {IN_JSON} OR {matches.condition})"
        parameters = [matches.stacks, *matches.parameters]
    if longest_first:
        # SQLite keeps only `offset + limit` rows while it sorts.
        rows = reader.rows(
            f"SELECT c.id FROM {KIND_TABLES} WHERE k.id {IN_JSON}{condition}"
            " ORDER BY c.duration DESC, c.id LIMIT ? OFFSET ?",
            build_json_list(kinds),
            *parameters,
            limit,
            offset,
        )
    else:
        first, last = _find_call_range(reader, capture)
        calls = iter_calls(reader, "c.id", kinds, IdRange(first, first, last), condition, parameters, backwards=False)
        rows = list(islice(calls, offset, offset + limit))
    ids = [call for (call,) in rows]
    query = f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.id {IN_JSON}"
    found = {row[0]: build_call(row) for row in reader.rows(query, build_json_list(ids))}
    return name_objects(reader, [found[call] for call in ids])


@dataclass(frozen=True, slots=True)
class _TextMatches:
    """The parts of a capture that contain a text: boundary functions, stacks and arguments.

    `stacks` is JSON for `IN_JSON`. `condition`, with its `parameters`, is SQL on `call_rows c` and `call_kinds k` that
    matches further calls. If `first` and `last` are not 0, only calls between these ids can match it.
    """

    boundaries: frozenset[int]
    stacks: str
    condition: str
    parameters: list[object]
    first: int = 0
    last: int = 0

    @staticmethod
    def find(reader: Reader, capture: int, text: str) -> _TextMatches:
        rows = reader.rows("SELECT id FROM boundaries WHERE instr(lower(name), lower(?)) > 0", text)
        named = frozenset(each for (each,) in rows)
        if _OBJECT.fullmatch(text):
            try:
                found = find_calls_of_object(reader, text, capture)
            except FramedexError:  # the capture has no such object
                return _TextMatches(named, "[]", "0", [])
            condition = f"(c.id BETWEEN ? AND ? AND {found.condition})"
            within = found.first, found.last
            return _TextMatches(named, "[]", condition, [*within, *found.parameters], *within)
        stacks, texts = reader.cache.get_or_compute(
            ("passing", capture, text),
            lambda: (
                build_json_list(_find_stacks(reader, capture, text)),
                build_json_list(_find_arguments(reader, capture, text)),
            ),
        )
        return _TextMatches(
            named, stacks, f"c.arguments {IN_JSON}" if texts != "[]" else "0", [texts] * (texts != "[]")
        )


def _find_stacks(reader: Reader, capture: int, text: str) -> list[int]:
    """Return the stacks of a capture with a frame whose function or file contains the text."""
    rows = reader.rows(
        "SELECT fr.id FROM frames fr JOIN functions fn ON fn.id = fr.function"
        " WHERE instr(lower(fn.name), lower(?1)) > 0 OR instr(lower(fn.symbol), lower(?1)) > 0"
        " UNION SELECT fr.id FROM frames fr JOIN files f ON f.id = fr.file WHERE instr(lower(f.path), lower(?1)) > 0",
        text,
    )
    wanted = {frame for (frame,) in rows}
    tree = read_capture_tree(reader, capture)
    passed: set[int] = set()
    for node, parent, frame in tree.nodes:
        if frame in wanted or parent in passed:
            passed.add(node)
    return [end.stack for end in tree.ends if end.leaf in passed or end.python_leaf in passed]


def _find_arguments(reader: Reader, capture: int, text: str) -> list[int]:
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
        if not is_shape
        or wanted in json.casefold()
        or wanted in format_arguments_briefly(decode_arguments(json)).casefold()
    ]


def _find_call_range(reader: Reader, capture: int) -> tuple[int, int]:
    row = reader.row("SELECT first_call, last_call FROM captures WHERE id = ? AND calls > 0", capture)
    return _EMPTY_RANGE if row is None else (int(row[0]), int(row[1]))
