"""Questions about calls and captures: lists, filters, the call meant by a name, and the stack behind a call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from framedex.errors import FramedexError
from framedex.index.ask.call.links import dispatches
from framedex.index.ask.call.objects import calls_of_object, name_objects
from framedex.index.ask.ffi import origin
from framedex.index.read.rows import (
    CALL_COLUMNS,
    CALL_TABLES,
    CAPTURE_COLUMNS,
    IN_JSON,
    LATEST_FIRST,
    Reader,
    Row,
    call_row,
    capture_row,
    chain,
    frames_by_id,
    placeholders,
)
from framedex.model import CallFilter, CallRow, CaptureRow, FrameRow, MergeOutcome, Trace

_FILE_AND_LINE = re.compile(r"(?P<path>.+):(?P<line>\d+)")


def captures(reader: Reader) -> list[CaptureRow]:
    """Every capture, oldest first."""
    return [capture_row(row) for row in reader.rows(f"SELECT {CAPTURE_COLUMNS} FROM captures p ORDER BY started, id")]


def calls(reader: Reader, wanted: CallFilter, limit: int | None) -> list[CallRow]:
    """The calls that pass the filter, by start time, objects not yet named; with a limit the latest ones of them."""
    restriction, parameters = conditions(reader, wanted)
    found: list[Row] = []
    for first, last in call_ranges(reader, wanted.capture):
        found.extend(
            reader.rows(
                f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.id BETWEEN ? AND ?{restriction}"
                " ORDER BY c.id DESC LIMIT ?",
                first,
                last,
                *parameters,
                -1 if limit is None else limit - len(found),
            )
        )
        if limit is not None and len(found) >= limit:
            break
    return [call_row(row) for row in reversed(found)]


def calls_with_stacks(reader: Reader, stacks: Iterable[int], capture: int | None, limit: int) -> list[CallRow]:
    """The calls with one of the stacks, the latest first, objects not yet named: `limit` of each stack, and in all."""
    ranges = list(call_ranges(reader, capture))
    found: dict[int, list[Row]] = {}
    for stack in stacks:
        left = limit
        for order, (first, last) in enumerate(ranges):
            rows = reader.rows(
                f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.stack = ? AND c.id BETWEEN ? AND ?"
                " ORDER BY c.id DESC LIMIT ?",
                stack,
                first,
                last,
                left,
            )
            found.setdefault(order, []).extend(rows)
            left -= len(rows)
            if left <= 0:
                break
    latest = (row for order in sorted(found) for row in sorted(found[order], key=lambda row: -row[0]))
    return [call_row(row) for row in islice(latest, limit)]


def count_calls(reader: Reader, wanted: CallFilter) -> int:
    """How many calls pass the filter."""
    restriction, parameters = conditions(reader, wanted)
    if not restriction:
        return sum(last - first + 1 for first, last in call_ranges(reader, wanted.capture))
    query = f"SELECT count(*) FROM calls c WHERE c.id BETWEEN ? AND ?{restriction}"
    return sum(
        reader.rows(query, first, last, *parameters)[0][0] for first, last in call_ranges(reader, wanted.capture)
    )


def call(reader: Reader, call_id: int) -> CallRow | None:
    """The call with this id."""
    row = reader.row(f"SELECT {CALL_COLUMNS} FROM {CALL_TABLES} WHERE c.id = ?", call_id)
    return None if row is None else name_objects(reader, [call_row(row)])[0]


def latest_call(reader: Reader, name: str) -> CallRow | None:
    """The latest call of a boundary function, by exact name or by a part of it that fits one name only.

    Raises FramedexError that lists the names where several fit.
    """
    fitting = _boundaries_like(reader, name)
    counts: dict[str, int] = {}
    for _, fitting_name, made in fitting:
        counts[fitting_name] = counts.get(fitting_name, 0) + made
    if len(counts) > 1:
        listed = "\n".join(f"{made:>8,}  {each}" for each, made in sorted(counts.items(), key=lambda item: -item[1]))
        raise FramedexError(
            f"Several functions that were called match '{name}':\n{listed}", "Give more of the name you mean."
        )
    boundaries = placeholders([row[0] for row in fitting])
    for first, last in call_ranges(reader, None):
        row = reader.row(
            f"SELECT max(id) FROM calls WHERE boundary {IN_JSON} AND id BETWEEN ? AND ?", boundaries, first, last
        )
        if row is not None and row[0] is not None:
            return call(reader, row[0])
    return None


def trace(reader: Reader, call_id: int) -> Trace | None:
    """The call and every frame of its stack, outermost first; None where there is no such call."""
    found = call(reader, call_id)
    if found is None:
        return None
    stack = reader.row("SELECT leaf, python_leaf, outcome, is_truncated FROM stacks WHERE id = ?", found.stack)
    capture = reader.row(f"SELECT {CAPTURE_COLUMNS} FROM captures p WHERE id = ?", found.capture)
    if stack is None or capture is None:
        return None
    leaf, python_leaf, outcome, is_truncated = stack
    native, python = chain(reader, leaf), chain(reader, python_leaf)
    frames = frames_by_id(reader, {*native, *python})
    return Trace(
        call=found,
        capture=capture_row(capture),
        frames=tuple(frames[frame] for frame in native),
        python=tuple(frames[frame] for frame in python),
        outcome=MergeOutcome(outcome),
        is_truncated=bool(is_truncated),
        origin=origin(reader, found.id),
        dispatched=dispatches(reader, found),
    )


def stack_trace(reader: Reader, stack_id: int) -> Trace | None:
    """The trace of the latest call with this stack."""
    row = reader.row(
        "SELECT c.id FROM stack_calls x JOIN calls c ON c.id = x.latest_call JOIN captures p ON p.id = c.capture"
        f" WHERE x.stack = ? ORDER BY {LATEST_FIRST} LIMIT 1",
        stack_id,
    )
    return None if row is None else trace(reader, row[0])


def stack_chains(reader: Reader, stack_id: int) -> list[tuple[FrameRow, ...]]:
    """The chains of frames of a stack, outermost first: the merged one, that of Python where it stands apart, and that
    of the `ffi_call` which it was run for."""
    row = reader.row("SELECT leaf, python_leaf, site_leaf FROM stacks WHERE id = ?", stack_id)
    chains = [chain(reader, leaf) for leaf in row or () if leaf]
    frames = frames_by_id(reader, {frame for each in chains for frame in each})
    return [tuple(frames[frame] for frame in each) for each in chains]


def call_ranges(reader: Reader, capture: int | None) -> Iterator[tuple[int, int]]:
    """The first and last call id of each capture that has calls, the latest capture first."""
    for identifier, first, last in reader.rows(
        "SELECT id, first_call, last_call FROM captures WHERE calls > 0 ORDER BY started DESC, id DESC"
    ):
        if capture is None or identifier == capture:
            yield first, last


def conditions(reader: Reader, wanted: CallFilter) -> tuple[str, list[object]]:
    """The filter as SQL that continues a WHERE clause over `calls c`, and its parameters."""
    parts: list[str] = []
    parameters: list[object] = []

    def require(condition: str, *values: object) -> None:
        parts.append(f" AND {condition}")
        parameters.extend(values)

    if wanted.function is not None:
        require(f"c.boundary {IN_JSON}", placeholders(_boundaries_meant(reader, wanted.function)))
    if wanted.thread is not None:
        threads = reader.rows(
            "SELECT id FROM threads WHERE instr(lower(name), lower(?1)) > 0 OR CAST(tid AS TEXT) = ?1"
            " OR lower(label) = lower(?1)",
            wanted.thread,
        )
        require(f"c.thread {IN_JSON}", placeholders([thread for (thread,) in threads]))
    if wanted.after is not None:
        require("c.start >= ?", wanted.after)
    if wanted.before is not None:
        require("c.start <= ?", wanted.before)
    if wanted.through is not None:
        require(f"c.stack {IN_JSON}", placeholders(_stacks_containing(reader, wanted.through)))
    if wanted.errors_only:
        require("c.error > 0")
    if wanted.slower_than is not None:
        require("(c.duration > ? OR c.duration < 0)", wanted.slower_than)
    if wanted.object is not None:
        condition, values = calls_of_object(reader, wanted.object, wanted.capture)
        require(condition, *values)
    return "".join(parts), parameters


def _boundaries_meant(reader: Reader, names: str) -> list[int]:
    """The ids of the boundary functions meant by names, parts of names and patterns, with commas between."""
    found: set[int] = set()
    for name in filter(None, (part.strip() for part in names.split(","))):
        if any(character in name for character in "*?["):
            found.update(row[0] for row in reader.rows("SELECT id FROM boundaries WHERE name GLOB ?", name))
        else:
            found.update(row[0] for row in _boundaries_like(reader, name))
    return sorted(found)


def _boundaries_like(reader: Reader, name: str) -> list[Row]:
    """(id, name, calls) of the called boundary functions of exactly this name, else of those that contain it."""
    called = "SELECT b.id, b.name, sum(x.calls) FROM boundaries b JOIN stack_calls x ON x.boundary = b.id"
    exact = reader.rows(f"{called} WHERE b.name = ? GROUP BY b.id", name)
    return exact or reader.rows(
        f"{called} WHERE instr(lower(b.name), lower(?)) > 0 GROUP BY b.id ORDER BY b.name", name
    )


def _stacks_containing(reader: Reader, text: str) -> list[int]:
    """The stacks with a frame whose function or file contains the text, or that stands at FILE:LINE."""
    at = _FILE_AND_LINE.fullmatch(text)
    rows = reader.rows(
        "WITH RECURSIVE wanted(frame) AS ("
        " SELECT fr.id FROM frames fr JOIN functions fn ON fn.id = fr.function"
        " WHERE instr(lower(fn.name), lower(?1)) > 0 OR instr(lower(fn.symbol), lower(?1)) > 0"
        " UNION SELECT fr.id FROM frames fr JOIN files f ON f.id = fr.file WHERE instr(lower(f.path), lower(?1)) > 0"
        " UNION SELECT fr.id FROM frames fr JOIN files f ON f.id = fr.file"
        " WHERE fr.line = ?3 AND instr(lower(f.path), lower(?2)) > 0"
        "), under(node) AS ("
        " SELECT id FROM nodes WHERE frame IN wanted"
        " UNION SELECT n.id FROM under u JOIN nodes n ON n.parent = u.node"
        ") SELECT id FROM stacks WHERE leaf IN under OR python_leaf IN under OR site_leaf IN under",
        text,
        at["path"] if at else None,
        int(at["line"]) if at else None,
    )
    return [stack for (stack,) in rows]
