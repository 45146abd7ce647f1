"""Totals per node, step, edge, function and line, so that readers never scan calls or stacks.

The unit is an *item*: one stack with one boundary function, standing for all calls that share both. A call is counted
once per node, pair, function or line, even if recursion repeats it in the stack. Totals therefore sum items over
*distinct* (item, key) pairs. They use numpy because a project may have 100,000 stacks of 50 frames.

Beside its sums over all captures, each total has the sums of the latest run with calls of it (the columns `run...`). A
total of several items belongs to the latest run among them and sums only the items of that run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from framedex.index.file.conventions import (
    CLIENT_CREATORS,
    IN_JSON,
    IS_CODE,
    IS_READABLE,
    MAX_SAMPLES,
    STATE_OF_LINE,
    json_list,
)
from framedex.index.write.tree import Integers, NodeColumns, read_nodes
from framedex.model import LinkEvidence

Flags = npt.NDArray[np.bool_]

_LOW_BITS = 0xFFFFFFFF
_LINE_TOTAL_COLUMNS = "file, line, version, boundary, calls, duration, latest_call, run, run_calls, run_duration"
_IS_LATER_CALL = "latest_call > excluded.latest_call"
_UPDATE_RUN_CALLS = (
    "run_calls = excluded.run_calls * (excluded.run >= run) + run_calls * (run >= excluded.run),"
    " run = max(run, excluded.run)"
)
_UPDATE_RUN_TOTALS = (
    "run_duration = excluded.run_duration * (excluded.run >= run) + run_duration * (run >= excluded.run),"
    f" {_UPDATE_RUN_CALLS}"
)
"""The end of an UPSERT of totals. Totals of an earlier run are replaced, and totals of the same run are added."""


@dataclass(frozen=True, slots=True)
class StackTotals:
    """Columns of equal length: a stack, its leaf nodes (0: none), a boundary function, and the totals of the calls.

    `latest_call` is the last call of the capture that began last, independent of the order of reading. `run` is the
    latest run that has calls of the item; `run_calls` and `run_duration` are the totals of that run.
    """

    stack: Integers
    leaf: Integers
    python_leaf: Integers
    site_leaf: Integers
    boundary: Integers
    calls: Integers
    duration: Integers
    latest_call: Integers
    run: Integers
    run_calls: Integers
    run_duration: Integers

    @classmethod
    def from_run_rows(cls, run: int, rows: Sequence[tuple[int, ...]]) -> StackTotals:
        """Return the items of one run from rows of the first eight columns."""
        columns = np.array(rows, np.int64).reshape(-1, 8).T
        run_columns = np.full(len(rows), run, np.int64), columns[5], columns[6]
        return cls(*np.concatenate([columns, run_columns]))


def read_items(connection: sqlite3.Connection) -> StackTotals:
    """Return the items of the whole index."""
    rows = connection.execute(
        "SELECT x.stack, s.leaf, s.python_leaf, s.site_leaf, x.boundary, x.calls, x.duration, x.latest_call,"
        " x.run, x.run_calls, x.run_duration FROM stack_calls x JOIN stacks s ON s.id = x.stack"
    ).fetchall()
    return StackTotals(*np.array(rows, np.int64).reshape(-1, 11).T)


def rebuild_totals(connection: sqlite3.Connection, nodes: NodeColumns) -> None:
    """Rebuild all totals from the totals of call kinds, after calls were removed."""
    for table in ("stack_calls", "capture_stacks", "steps", "code_steps", "edges", "code_edges"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("DELETE FROM stack_samples WHERE arguments NOT IN (SELECT id FROM arguments)")
    connection.execute(
        "UPDATE nodes SET calls = 0, longest = 0, makes_client = 0, run = 0, run_calls = 0, run_longest = 0"
    )
    connection.execute("UPDATE functions SET calls = 0, run = 0, run_calls = 0")
    connection.execute(
        "UPDATE programs SET run = (SELECT coalesce(max(p.run), 0) FROM compilations c JOIN captures p"
        " ON p.id = c.capture WHERE c.program = programs.id)"
    )
    connection.execute(
        "INSERT INTO capture_stacks(capture, stack, boundary, calls, duration, latest_call)"
        " SELECT capture, stack, boundary, sum(calls), sum(duration), max(latest_call) FROM call_kinds"
        " GROUP BY capture, stack, boundary"
    )
    compute_totals(connection, nodes)


def compute_totals(connection: sqlite3.Connection, nodes: NodeColumns) -> None:
    """Compute the totals from those by capture, into empty tables; then rebuild the totals of lines."""
    connection.execute(
        "INSERT INTO stack_calls(stack, boundary, calls, duration, latest_call, run, run_calls, run_duration)"
        " SELECT x.stack, x.boundary, x.calls, x.duration, x.latest_call, p.run, x.calls, x.duration"
        " FROM capture_stacks x JOIN captures p ON p.id = x.capture WHERE true ORDER BY p.run, p.started, p.id"
        f" {_upsert_clause('stack, boundary')}, {_UPDATE_RUN_TOTALS}"
    )
    add_totals(connection, read_items(connection), nodes)
    rebuild_line_totals(connection, nodes)


def add_stack_calls(
    connection: sqlite3.Connection, capture: int, items: StackTotals, samples: Iterable[tuple[int, int, int]]
) -> None:
    """Add calls of one capture to the totals per stack, with samples of arguments: (stack, boundary, arguments)."""
    rows = _to_rows(items.stack, items.boundary, items.calls, items.duration, items.latest_call)
    connection.executemany(
        "INSERT INTO capture_stacks(capture, stack, boundary, calls, duration, latest_call)"
        f" VALUES ({capture}, ?, ?, ?, ?, ?) {_upsert_clause('stack, capture, boundary', _IS_LATER_CALL)}",
        rows,
    )
    upsert = _upsert_clause("stack, boundary", _later_call_condition(connection, "stack_calls", capture))
    connection.executemany(
        "INSERT INTO stack_calls(stack, boundary, calls, duration, latest_call, run, run_calls, run_duration)"
        f" VALUES (?, ?, ?, ?, ?, ?, ?, ?) {upsert}, {_UPDATE_RUN_TOTALS}",
        _to_rows(
            *(items.stack, items.boundary, items.calls, items.duration, items.latest_call),
            *(items.run, items.run_calls, items.run_duration),
        ),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO stack_samples SELECT ?1, ?2, ?3"
        f" WHERE (SELECT count(*) FROM stack_samples WHERE stack = ?1 AND boundary = ?2) < {MAX_SAMPLES}",
        samples,
    )


def add_totals(connection: sqlite3.Connection, items: StackTotals, nodes: NodeColumns) -> None:
    """Add the items to the totals without frame locations: those of nodes, steps, edges and functions."""
    walk = _ChainNodes(nodes, items)
    _add_to_nodes(connection, items, walk)
    function = _read_column(connection, f"SELECT id, function FROM frames WHERE id {IN_JSON}", walk.frames_json())
    functions, *totals = _distinct_totals(walk.item, function[walk.frame], items)
    connection.executemany(
        "UPDATE functions SET calls = calls + ?1, run_calls = ?3 * (?2 >= run) + run_calls * (run >= ?2),"
        " run = max(run, ?2) WHERE id = ?4",
        _to_rows(*totals, functions),
    )
    is_code = _read_flags(connection, IS_CODE, walk.frames_json())
    for prefix, shown in (("", np.ones_like(is_code)), ("code_", is_code)):
        item, origin, target = walk.find_neighbours(shown)
        _add_pairs(connection, f"{prefix}steps", ("origin", "target"), items, item, origin, target)
        pairs = item, function[origin], function[target]
        _add_pairs(connection, f"{prefix}edges", ("caller", "callee"), items, *pairs)


def _add_to_nodes(connection: sqlite3.Connection, items: StackTotals, walk: _ChainNodes) -> None:
    query = "SELECT duration, run, run_duration FROM stack_calls WHERE stack = ? AND boundary = ?"
    found = [connection.execute(query, key).fetchone() for key in _to_rows(items.stack, items.boundary)]
    duration, run, run_duration = np.array(found, np.int64).reshape(-1, 3).T
    nodes, *totals = _distinct_totals(walk.item, walk.node, items)
    position = np.searchsorted(nodes, walk.node)
    # Restrict to the node's latest run among these items. A stack with calls of a later run is excluded, because its
    # nodes have that run, too.
    is_of_run = (run == items.run)[walk.item] & (items.run[walk.item] == totals[1][position])
    longest = np.zeros((2, len(nodes)), np.int64)
    np.maximum.at(longest[0], position, duration[walk.item])
    np.maximum.at(longest[1], position[is_of_run], run_duration[walk.item[is_of_run]])
    connection.executemany(
        "UPDATE nodes SET calls = calls + ?1, run_calls = ?3 * (?2 >= run) + run_calls * (run >= ?2),"
        " longest = max(longest, ?4), run_longest = max(?5 * (?2 >= run), run_longest * (run >= ?2)),"
        " run = max(run, ?2) WHERE id = ?6",
        _to_rows(*totals, *longest, nodes),
    )
    made = connection.execute(
        f"SELECT id FROM boundaries WHERE name {IN_JSON}", (json_list(CLIENT_CREATORS),)
    ).fetchall()
    makes_client = np.isin(items.boundary, np.array(made, np.int64).reshape(-1))
    passed = distinct(walk.node[makes_client[walk.item]])
    connection.executemany("UPDATE nodes SET makes_client = 1 WHERE id = ?", _to_rows(passed))


def add_line_totals(
    connection: sqlite3.Connection, items: StackTotals, nodes: NodeColumns, capture: int | None = None
) -> None:
    """Add the items to the totals that depend on frame locations.

    With a `capture`, all items must be of that capture.
    """
    walk = _ChainNodes(nodes, items)
    lines = _find_passed_lines(connection, walk)
    upsert = _upsert_clause("file, line, version, boundary", _later_call_condition(connection, "line_calls", capture))
    connection.executemany(
        f"INSERT INTO line_calls({_LINE_TOTAL_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        f" {upsert}, {_UPDATE_RUN_TOTALS}",
        _compute_line_totals(connection, items, lines, capture),
    )
    _add_samples(connection, items, lines)
    is_readable = _read_flags(connection, IS_READABLE, walk.frames_json())
    _add_pairs(connection, "readable_steps", ("origin", "target"), items, *walk.find_neighbours(is_readable))


def add_linked_line_totals(
    connection: sqlite3.Connection, nodes: NodeColumns, after: int = 0, capture: int | None = None
) -> None:
    """Add calls on other threads to the totals of the lines that caused them, from the links after the row `after`.

    With a `capture`, all these links must be of that capture. Candidates do not count, because only one of them is
    right.
    """
    for how in (LinkEvidence.HANDED_OVER, LinkEvidence.BETWEEN):
        rows = connection.execute(
            "SELECT 0, l.node, 0, 0, k.boundary, count(*), sum(max(c.duration, 0)), max(c.id),"
            " p.run, count(*), sum(max(c.duration, 0))"
            " FROM call_links l CROSS JOIN call_rows c ON c.id = l.call CROSS JOIN call_kinds k ON k.id = c.kind"
            " CROSS JOIN captures p ON p.id = k.capture"
            " WHERE l.rowid > ? AND l.how = ? GROUP BY l.node, k.boundary, p.run",
            (after, how.value),
        ).fetchall()
        items = StackTotals(*np.array(rows, np.int64).reshape(-1, 11).T)
        passed = _find_passed_lines(connection, _ChainNodes(nodes, items))
        is_later = _later_call_condition(connection, "line_links", capture)
        upsert = _upsert_clause("file, line, version, boundary, how", is_later)
        connection.executemany(
            f"INSERT INTO line_links({_LINE_TOTAL_COLUMNS}, how) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{how.value}')"
            f" {upsert}, {_UPDATE_RUN_TOTALS}",
            _compute_line_totals(connection, items, passed, capture),
        )


@dataclass(frozen=True, slots=True)
class _LinePassages:
    """Each item with each line of its chain, once. A line's key is its index in `states` << 32 | its number.

    `states` are pairs of a file and its separately counted state (0: none).
    """

    item: Integers
    key: Integers
    states: Sequence[tuple[int, int]]

    def unpack_key(self, key: int) -> tuple[int, int, int]:
        """Return file, line and state of a line."""
        file, version = self.states[key >> 32]
        return file, key & _LOW_BITS, version


def _find_passed_lines(connection: sqlite3.Connection, walk: _ChainNodes) -> _LinePassages:
    query = (
        f"SELECT fr.id, fr.line, fr.file, {STATE_OF_LINE} FROM frames fr"
        f" WHERE fr.file IS NOT NULL AND fr.line > 0 AND fr.id {IN_JSON}"
    )
    numbers: dict[tuple[int, int], int] = {}
    keys = np.full(_frame_id_count(connection), -1, np.int64)
    for frame, line, *state in connection.execute(query, (walk.frames_json(),)):
        keys[frame] = (numbers.setdefault((state[0], state[1]), len(numbers)) << 32) | line
    key = keys[walk.frame]
    return _LinePassages(*_distinct_pairs(walk.item[key >= 0], key[key >= 0]), list(numbers))


def _compute_line_totals(
    connection: sqlite3.Connection, items: StackTotals, passed: _LinePassages, capture: int | None
) -> list[tuple[int, ...]]:
    """Return rows of `_LINE_TOTAL_COLUMNS`. With a `capture`, all items must be of that capture."""
    item, line = passed.item, passed.key
    boundaries, boundary = np.unique(items.boundary[item], return_inverse=True)
    lines, position = np.unique(line, return_inverse=True)
    key, group = np.unique(position * max(len(boundaries), 1) + boundary, return_inverse=True)
    calls, duration = (
        _sum_by_group(group, items.calls[item], len(key)),
        _sum_by_group(group, items.duration[item], len(key)),
    )
    latest = _find_latest_calls(connection, group, items.latest_call[item], len(key), capture)
    places = np.array([passed.unpack_key(each) for each in lines.tolist()], np.int64).reshape(-1, 3)
    file, number, version = places[key // max(len(boundaries), 1)].T
    of_boundary = boundaries[key % max(len(boundaries), 1)]
    run, is_of_run = _latest_run(group, items.run[item], len(key))
    of_latest = (
        _sum_by_group(group[is_of_run], total[item[is_of_run]], len(key))
        for total in (items.run_calls, items.run_duration)
    )
    return _to_rows(file, number, version, of_boundary, calls, duration, latest, run, *of_latest)


def _upsert_clause(key: str, is_later: str = "false") -> str:
    """Return an UPSERT clause that adds the inserted totals to an existing row with this key.

    `is_later` is an SQL condition: `latest_call` began after the added calls.
    """
    return (
        f"ON CONFLICT({key}) DO UPDATE SET calls = calls + excluded.calls, duration = duration + excluded.duration,"
        f" latest_call = CASE WHEN {is_later} THEN latest_call ELSE excluded.latest_call END"
    )


def _later_call_condition(connection: sqlite3.Connection, table: str, capture: int | None) -> str:
    """Return the SQL condition that `latest_call` of the table began after the added calls of this capture."""
    if capture is None:
        return "false"
    query = "SELECT first_call, last_call FROM captures WHERE id = ?"
    first, last = connection.execute(query, (capture,)).fetchone()
    return (
        f"CASE WHEN latest_call BETWEEN {first} AND {last} THEN {_IS_LATER_CALL} ELSE (SELECT (p.run, p.started, p.id)"
        " > (o.run, o.started, o.id) FROM captures o, call_rows c JOIN call_kinds k ON k.id = c.kind"
        f" JOIN captures p ON p.id = k.capture WHERE o.id = {capture} AND c.id = {table}.latest_call) END"
    )


def _find_latest_calls(
    connection: sqlite3.Connection, group: Integers, calls: Integers, groups: int, capture: int | None
) -> Integers:
    """Return the latest call in each group. With a `capture`, all calls must be of that capture."""
    latest = np.zeros(groups, np.int64)
    if capture is not None:
        np.maximum.at(latest, group, calls)
        return latest
    captures = "SELECT first_call FROM captures WHERE first_call IS NOT NULL ORDER BY run, started, id"
    first = np.array(connection.execute(captures).fetchall(), np.int64).reshape(-1)
    by_id = np.argsort(first)  # the captures in the order of their calls' ids, as positions in time
    when = by_id[np.searchsorted(first[by_id], calls, side="right") - 1]
    in_time = np.lexsort((calls, when))
    latest[group[in_time]] = calls[in_time]  # numpy keeps the last of several values assigned to one index
    return latest


def rebuild_line_totals(connection: sqlite3.Connection, nodes: NodeColumns | None = None) -> None:
    """Rebuild the totals that depend on frame locations, after frames have moved to other lines."""
    nodes = nodes or read_nodes(connection)
    for table in ("line_calls", "line_samples", "line_links", "readable_steps"):
        connection.execute(f"DELETE FROM {table}")
    add_line_totals(connection, read_items(connection), nodes)
    add_linked_line_totals(connection, nodes)


def _add_samples(connection: sqlite3.Connection, items: StackTotals, passed: _LinePassages) -> None:
    """Store a few argument objects per line: first those with a shape, then those of the longest calls."""
    counted = "SELECT count(*) FROM line_samples WHERE file = ? AND line = ? AND version = ?"
    item, line = passed.item, passed.key
    lines = distinct(line)
    places = [passed.unpack_key(each) for each in lines.tolist()]
    room = [MAX_SAMPLES - connection.execute(counted, position).fetchone()[0] for position in places]
    is_open = np.array(room, np.int64)[np.searchsorted(lines, line)] > 0 if len(lines) else np.zeros(0, np.bool_)
    item, line = item[is_open], line[is_open]
    query = (
        "SELECT s.arguments, a.has_shape FROM stack_samples s JOIN arguments a ON a.id = s.arguments"
        " WHERE s.stack = ? AND s.boundary = ? ORDER BY s.arguments"
    )
    has_shape = np.zeros(len(items.stack), np.bool_)
    of_item: dict[int, list[int]] = {}
    for index in distinct(item).tolist():
        found = connection.execute(query, (int(items.stack[index]), int(items.boundary[index]))).fetchall()
        of_item[index] = [sample for sample, _ in found]
        has_shape[index] = any(shape for _, shape in found)
    order = np.lexsort((-items.duration[item], ~has_shape[item], line))
    item, line = item[order], line[order]
    best = rank_in_group(line) < MAX_SAMPLES
    of_line: dict[int, dict[int, None]] = {}
    for index, key in zip(item[best].tolist(), line[best].tolist(), strict=True):
        of_line.setdefault(key, {}).update(dict.fromkeys(of_item[index]))
    line_room = dict(zip(lines.tolist(), zip(places, room, strict=True), strict=True))
    rows = [
        (*line_room[key][0], sample)
        for key, samples in of_line.items()
        for sample in islice(samples, line_room[key][1])
    ]
    connection.executemany("INSERT OR IGNORE INTO line_samples VALUES (?, ?, ?, ?)", rows)


def rank_in_group(group: Integers) -> Integers:
    """Return the position of each element among its equals. Equal elements must be adjacent."""
    starts = np.flatnonzero(np.diff(group, prepend=group[:1] - 1))
    return np.arange(len(group)) - np.repeat(starts, np.diff(starts, append=len(group)))


def distinct(values: Integers) -> Integers:
    """Return the distinct values, sorted. numpy's `unique` hashes integers first and takes several times as long."""
    values = np.sort(values)
    unique: Integers = values[np.diff(values, prepend=values[:1] - 1) != 0]
    return unique


class _ChainNodes:
    """Every (item, node) of the items' chains as flat columns, with the node's frame."""

    def __init__(self, nodes: NodeColumns, items: StackTotals) -> None:
        all_rows = np.arange(len(items.leaf))
        item = np.concatenate([all_rows, all_rows, all_rows])
        node = np.concatenate([items.leaf, items.python_leaf, items.site_leaf])
        items_seen, nodes_seen = [], []
        while len(node):
            item, node = item[node > 0], node[node > 0]
            items_seen.append(item)
            nodes_seen.append(node)
            node = nodes.parent[node]
        self.item = np.concatenate([np.zeros(0, np.int64), *items_seen])
        self.node = np.concatenate([np.zeros(0, np.int64), *nodes_seen])
        self.frame = nodes.frame[self.node]
        # Only the nodes in these chains, including the root: an index may have a million other nodes.
        passed = distinct(np.concatenate([np.zeros(1, np.int64), self.node]))
        self._place = np.searchsorted(passed, self.node)
        self._caller = np.searchsorted(passed, nodes.parent[passed])
        self._frame = nodes.frame[passed]

    def frames_json(self) -> str:
        """Return the frames in the chains, as the parameter of `IN_JSON`."""
        return json_list(distinct(self._frame).tolist())

    def find_neighbours(self, shown: Flags) -> tuple[Integers, Integers, Integers]:
        """Return the item, the caller's frame and the callee's frame of adjacent `shown` frames."""
        visible = shown[self._frame]
        caller = self._caller.copy()
        while len(passed := np.flatnonzero(~visible[caller] & (caller > 0))):
            caller[passed] = self._caller[caller[passed]]
        pairs = visible[self._place] & (caller[self._place] > 0)
        return self.item[pairs], self._frame[caller[self._place[pairs]]], self.frame[pairs]


def _read_column(connection: sqlite3.Connection, query: str, frames: str) -> Integers:
    """Return a column indexed by frame id, from rows (id, value) of `frames`; 0 for a missing id."""
    rows = np.array(connection.execute(query, (frames,)).fetchall(), np.int64).reshape(-1, 2)
    column = np.zeros(_frame_id_count(connection), np.int64)
    column[rows[:, 0]] = rows[:, 1]
    return column


def _read_flags(connection: sqlite3.Connection, condition: str, frames: str) -> Flags:
    """Return a flag for each frame id: true if the frame is one of `frames` and meets the condition."""
    flags = np.zeros(_frame_id_count(connection), np.bool_)
    query = (
        f"SELECT fr.id FROM frames fr JOIN functions fn ON fn.id = fr.function WHERE fr.id {IN_JSON} AND {condition}"
    )
    flags[np.array(connection.execute(query, (frames,)).fetchall(), np.int64).reshape(-1)] = True
    return flags


def _frame_id_count(connection: sqlite3.Connection) -> int:
    highest: int = connection.execute("SELECT coalesce(max(id), 0) FROM frames").fetchone()[0]
    return highest + 1


def _distinct_totals(
    item: Integers, key: Integers, items: StackTotals
) -> tuple[Integers, Integers, Integers, Integers]:
    """Return the distinct keys with their calls, their latest run and its calls. Each item counts once per key."""
    item, key = _distinct_pairs(item, key)
    keys = distinct(key)
    group = np.searchsorted(keys, key)
    run, is_of_run = _latest_run(group, items.run[item], len(keys))
    run_calls = _sum_by_group(group[is_of_run], items.run_calls[item[is_of_run]], len(keys))
    return keys, _sum_by_group(group, items.calls[item], len(keys)), run, run_calls


def _latest_run(group: Integers, run: Integers, groups: int) -> tuple[Integers, Flags]:
    """Return the latest run in each group, and for each element whether it belongs to that run."""
    latest = np.zeros(groups, np.int64)
    np.maximum.at(latest, group, run)
    return latest, run == latest[group]


def _distinct_pairs(item: Integers, key: Integers) -> tuple[Integers, Integers]:
    """Return the distinct (item, key) pairs, as two columns."""
    keys = distinct(key)
    pairs = distinct(item * max(len(keys), 1) + np.searchsorted(keys, key))
    return pairs // max(len(keys), 1), keys[pairs % max(len(keys), 1)]


def _add_pairs(
    connection: sqlite3.Connection,
    table: str,
    ends: tuple[str, str],
    items: StackTotals,
    item: Integers,
    left: Integers,
    right: Integers,
) -> None:
    keys, *totals = _distinct_totals(item, (left << 32) | right, items)
    named = ", ".join(ends)
    connection.executemany(
        f"INSERT INTO {table}({named}, calls, run, run_calls) VALUES (?, ?, ?, ?, ?)"
        f" ON CONFLICT({named}) DO UPDATE SET calls = calls + excluded.calls, {_UPDATE_RUN_CALLS}",
        _to_rows(keys >> 32, keys & _LOW_BITS, *totals),
    )


def _sum_by_group(group: Integers, weight: Integers, groups: int) -> Integers:
    # Not bincount's weights: those are floats, and the nanoseconds of a long run do not fit into 53 bits.
    total = np.zeros(groups, np.int64)
    np.add.at(total, group, weight)
    return total


def _to_rows(*columns: Integers) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in columns), strict=True))
