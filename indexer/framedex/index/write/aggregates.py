"""Totals per node, step, edge, function and line, so that readers never scan calls or stacks.

The unit is an *item*: one stack with one boundary function, standing for all calls that share both. A call is counted
once per node, pair, function or line, even if recursion repeats it in the stack. The totals are summed along the tree
of nodes (`chain_totals.py`), because a project may have 100,000 stacks of 50 frames.

Beside its sums over all captures, each total has the sums of the latest run with calls of it (the columns `run...`). A
total of several items belongs to the latest run among them and sums only the items of that run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice

import numpy as np

from framedex.index.file.conventions import (
    CLIENT_CREATORS,
    IN_JSON,
    IS_CODE,
    IS_READABLE,
    MAX_SAMPLES,
    STATE_OF_LINE,
    build_json_list,
    json_item,
)
from framedex.index.write.bulk_rows import STAGED_ROWS, Integers, stage_rows
from framedex.index.write.chain_totals import (
    Flags,
    PathTree,
    StackTotals,
    find_passed_nodes,
    pack_pair,
    rank_in_group,
    unpack_pair,
)
from framedex.index.write.tree import NodeColumns, defer_node_indexes, find_distinct_values, read_nodes
from framedex.model import LinkEvidence

_ROWS_AT_ONCE = 1 << 14
_ITEMS_AT_ONCE = 1 << 14
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


class ChainTotals:
    """The totals of each node in the chains of items, by boundary function: columns of equal length.

    `place` are positions in `tree`. `latest` are positions in `calls_in_time`, the latest calls of the items in order
    of time. `longest` and `run_longest` are the longest stored totals of an item, and of an item in its latest run.
    """

    def __init__(
        self, connection: sqlite3.Connection, items: StackTotals, nodes: NodeColumns, capture: int | None = None
    ) -> None:
        """With a `capture`, all items must be of that capture, and may be added to stored ones."""
        self.items = items
        self.nodes = nodes
        self.tree = PathTree(nodes, items)
        order = _sort_in_time(connection, items.latest_call, capture)
        self.calls_in_time = items.latest_call[order]
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        longest, run, run_longest = _read_stored(connection, items)
        columns = (items.calls, items.duration, rank, longest, items.run, items.run_calls, items.run_duration)
        # Stacks with calls of a later run are excluded, because their nodes belong to that run, too.
        rows = self.tree.sum_items(items.boundary, np.stack([*columns, run_longest * (run == items.run)]))
        self.place, self.boundary, self.calls, self.duration, self.latest, self.longest = rows[:6]
        self.run, self.run_calls, self.run_duration, self.run_longest = rows[6:]

    def rows_of(self, key: Integers) -> Integers:
        """Return the rows that count for the key of their position; see `PathTree.find_outermost`."""
        return np.flatnonzero(self.tree.find_outermost(key)[self.place])

    def sum_by_key(self, key: Integers) -> tuple[Integers, Integers, Integers, Integers]:
        """Return the distinct keys of positions with their calls, their latest run and its calls."""
        rows = self.rows_of(key)
        of_row = key[self.place[rows]]
        keys = find_distinct_values(of_row)
        group = np.searchsorted(keys, of_row)
        run, is_of_run = _find_latest_run(group, self.run[rows], len(keys))
        run_calls = _sum_by_group(group[is_of_run], self.run_calls[rows[is_of_run]], len(keys))
        return keys, _sum_by_group(group, self.calls[rows], len(keys)), run, run_calls


def _encode_frames(tree: PathTree) -> str:
    """Return the frames in the chains, as the parameter of `IN_JSON`."""
    return build_json_list(find_distinct_values(tree.frame).tolist())


def _read_stored(connection: sqlite3.Connection, items: StackTotals) -> Integers:
    """Return the stored totals of each item, which may include earlier batches: duration, run and its duration."""
    rows = connection.execute(
        "SELECT coalesce(x.duration, 0), coalesce(x.run, 0), coalesce(x.run_duration, 0) FROM json_each(?) s"
        f" LEFT JOIN stack_calls x ON x.stack = {json_item(0)} AND x.boundary = {json_item(1)}",
        (build_json_list(_to_rows(items.stack, items.boundary)),),
    ).fetchall()
    return np.array(rows, np.int64).reshape(-1, 3).T


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
    with defer_node_indexes(connection, len(nodes.parent)):
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
    """Compute the totals from the totals by capture, into empty tables. Then rebuild the totals of lines."""
    connection.execute(
        "INSERT INTO stack_calls(stack, boundary, calls, duration, latest_call, run, run_calls, run_duration)"
        " SELECT x.stack, x.boundary, x.calls, x.duration, x.latest_call, p.run, x.calls, x.duration"
        " FROM capture_stacks x JOIN captures p ON p.id = x.capture WHERE true ORDER BY p.run, p.started, p.id"
        f" {_upsert_clause('stack, boundary')}, {_UPDATE_RUN_TOTALS}"
    )
    items = read_items(connection)
    with defer_node_indexes(connection, len(find_passed_nodes(nodes, items))):
        for totals in _sum_in_parts(connection, items, nodes):
            _add_frame_totals(connection, totals)
    rebuild_line_totals(connection, nodes)


def add_stack_calls(connection: sqlite3.Connection, capture: int, items: StackTotals, samples: Integers) -> None:
    """Add calls of one capture to the totals per stack. `samples` are columns of stacks, boundaries and arguments."""
    number = np.arange(len(items.stack))
    columns = [number, items.stack, items.boundary, items.calls, items.duration, items.latest_call]
    stage_rows(connection, [*columns, items.run, items.run_calls, items.run_duration])
    connection.execute(
        "INSERT INTO capture_stacks(capture, stack, boundary, calls, duration, latest_call)"
        f" SELECT {capture}, c1, c2, c3, c4, c5 FROM {STAGED_ROWS} WHERE true ORDER BY c0"
        f" {_upsert_clause('stack, capture, boundary', _IS_LATER_CALL)}"
    )
    upsert = _upsert_clause("stack, boundary", _build_later_call_condition(connection, "stack_calls", capture))
    connection.execute(
        "INSERT INTO stack_calls(stack, boundary, calls, duration, latest_call, run, run_calls, run_duration)"
        f" SELECT c1, c2, c3, c4, c5, c6, c7, c8 FROM {STAGED_ROWS} WHERE true ORDER BY c0"
        f" {upsert}, {_UPDATE_RUN_TOTALS}"
    )
    stage_rows(connection, [np.arange(samples.shape[1]), *samples])
    connection.execute(
        "INSERT INTO stack_samples SELECT stack, boundary, arguments FROM (SELECT c1 AS stack, c2 AS boundary,"
        " c3 AS arguments, row_number() OVER (PARTITION BY c1, c2 ORDER BY c3)"
        "  + (SELECT count(*) FROM stack_samples s WHERE s.stack = c1 AND s.boundary = c2) AS rank"
        f" FROM {STAGED_ROWS} WHERE NOT EXISTS (SELECT 1 FROM stack_samples s WHERE s.stack = c1 AND s.boundary = c2"
        f"  AND s.arguments = c3)) WHERE rank <= {MAX_SAMPLES}"
    )


def add_totals(connection: sqlite3.Connection, items: StackTotals, nodes: NodeColumns, capture: int) -> None:
    """Add the items, all of this capture, to the totals of nodes, steps, edges, functions and lines."""
    with defer_node_indexes(connection, len(find_passed_nodes(nodes, items))):
        for totals in _sum_in_parts(connection, items, nodes, capture):
            _add_frame_totals(connection, totals)
            _add_line_totals(connection, totals, capture)
    _add_samples(connection, items, nodes)


def _sum_in_parts(
    connection: sqlite3.Connection, items: StackTotals, nodes: NodeColumns, capture: int | None = None
) -> Iterator[ChainTotals]:
    """Yield the totals of a limited number of items at a time, because they take 10 KB an item.

    The parts are in order of time, so that the latest call of the last one is the latest of all.
    """
    order = _sort_in_time(connection, items.latest_call, capture)
    for first in range(0, len(order), _ITEMS_AT_ONCE):
        yield ChainTotals(connection, items[order[first : first + _ITEMS_AT_ONCE]], nodes, capture)


def _add_frame_totals(connection: sqlite3.Connection, totals: ChainTotals) -> None:
    """Add the items to the totals without frame locations: those of nodes, steps, edges and functions."""
    _add_to_nodes(connection, totals)
    frames, tree = _encode_frames(totals.tree), totals.tree
    function = _read_column(connection, f"SELECT id, function FROM frames WHERE id {IN_JSON}", frames)
    functions, *sums = totals.sum_by_key(function[tree.frame])
    connection.executemany(
        "UPDATE functions SET calls = calls + ?1, run_calls = ?3 * (?2 >= run) + run_calls * (run >= ?2),"
        " run = max(run, ?2) WHERE id = ?4",
        _to_rows(*sums, functions),
    )
    is_code = _read_flags(connection, IS_CODE, frames)
    for prefix, shown in (("", np.ones_like(is_code)), ("code_", is_code)):
        origin, target = tree.find_neighbours(shown)
        _add_pairs(connection, f"{prefix}steps", ("origin", "target"), totals, pack_pair(origin, target))
        functions = pack_pair(np.where(origin < 0, -1, function[origin]), function[target])
        _add_pairs(connection, f"{prefix}edges", ("caller", "callee"), totals, functions)


def _add_to_nodes(connection: sqlite3.Connection, totals: ChainTotals) -> None:
    node = totals.tree.node
    nodes, *sums = totals.sum_by_key(node)
    position = np.searchsorted(nodes, node[totals.place])
    is_of_run = totals.run == sums[1][position]
    longest = np.zeros((2, len(nodes)), np.int64)
    np.maximum.at(longest[0], position, totals.longest)
    np.maximum.at(longest[1], position[is_of_run], totals.run_longest[is_of_run])
    # In the order of the indexes: with many nodes, any other order takes twice the time.
    order = np.lexsort((longest[0], totals.nodes.frame[nodes]))
    connection.executemany(
        "UPDATE nodes SET calls = calls + ?1, run_calls = ?3 * (?2 >= run) + run_calls * (run >= ?2),"
        " longest = max(longest, ?4), run_longest = max(?5 * (?2 >= run), run_longest * (run >= ?2)),"
        " run = max(run, ?2) WHERE id = ?6",
        _to_rows(*(column[order] for column in (*sums, *longest, nodes))),
    )
    made = connection.execute(
        f"SELECT id FROM boundaries WHERE name {IN_JSON}", (build_json_list(CLIENT_CREATORS),)
    ).fetchall()
    makes_client = np.isin(totals.boundary, np.array(made, np.int64).reshape(-1))
    passed = find_distinct_values(node[totals.place[makes_client]])
    connection.executemany("UPDATE nodes SET makes_client = 1 WHERE id = ?", _to_rows(passed))


def _add_line_totals(connection: sqlite3.Connection, totals: ChainTotals, capture: int | None = None) -> None:
    """Add the items to the totals that depend on frame locations.

    With a `capture`, all items must be of that capture.
    """
    upsert = _upsert_clause(
        "file, line, version, boundary", _build_later_call_condition(connection, "line_calls", capture)
    )
    connection.executemany(
        f"INSERT INTO line_calls({_LINE_TOTAL_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        f" {upsert}, {_UPDATE_RUN_TOTALS}",
        _PassedLines(connection, totals.tree).compute_totals(totals),
    )
    is_readable = _read_flags(connection, IS_READABLE, _encode_frames(totals.tree))
    pairs = pack_pair(*totals.tree.find_neighbours(is_readable))
    _add_pairs(connection, "readable_steps", ("origin", "target"), totals, pairs)


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
        totals = ChainTotals(connection, items, nodes, capture)
        is_later = _build_later_call_condition(connection, "line_links", capture)
        upsert = _upsert_clause("file, line, version, boundary, how", is_later)
        connection.executemany(
            f"INSERT INTO line_links({_LINE_TOTAL_COLUMNS}, how) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{how.value}')"
            f" {upsert}, {_UPDATE_RUN_TOTALS}",
            _PassedLines(connection, totals.tree).compute_totals(totals),
        )


class _PassedLines:
    """The line of each position, as a key (-1: none): its index in `states` << 32 | its number.

    `states` are pairs of a file and its separately counted state (0: none).
    """

    def __init__(self, connection: sqlite3.Connection, tree: PathTree) -> None:
        query = (
            f"SELECT fr.id, fr.line, fr.file, {STATE_OF_LINE} FROM frames fr"
            f" WHERE fr.file IS NOT NULL AND fr.line > 0 AND fr.id {IN_JSON}"
        )
        states: dict[tuple[int, int], int] = {}
        of_frame = np.full(_count_frame_ids(connection), -1, np.int64)
        for frame, line, *state in connection.execute(query, (_encode_frames(tree),)):
            of_frame[frame] = (states.setdefault((state[0], state[1]), len(states)) << 32) | line
        self._states = list(states)
        self.key = of_frame[tree.frame]

    def unpack(self, key: int) -> tuple[int, int, int]:
        """Return file, line and state of a line."""
        state, line = divmod(key, 1 << 32)
        file, version = self._states[state]
        return file, line, version

    def compute_totals(self, totals: ChainTotals) -> Iterator[tuple[int, ...]]:
        """Return rows of `_LINE_TOTAL_COLUMNS`."""
        rows = totals.rows_of(self.key)
        boundaries, boundary = np.unique(totals.boundary[rows], return_inverse=True)
        lines, position = np.unique(self.key[totals.place[rows]], return_inverse=True)
        count = max(len(boundaries), 1)
        key, group = np.unique(position * count + boundary, return_inverse=True)
        latest = np.zeros(len(key), np.int64)
        np.maximum.at(latest, group, totals.latest[rows])
        places = np.array([self.unpack(each) for each in lines.tolist()], np.int64).reshape(-1, 3)
        run, is_of_run = _find_latest_run(group, totals.run[rows], len(key))
        calls, duration = (_sum_by_group(group, each[rows], len(key)) for each in (totals.calls, totals.duration))
        of_latest = (
            _sum_by_group(group[is_of_run], each[rows[is_of_run]], len(key))
            for each in (totals.run_calls, totals.run_duration)
        )
        latest_call = totals.calls_in_time[latest] if len(latest) else latest
        return _to_rows(*places[key // count].T, boundaries[key % count], calls, duration, latest_call, run, *of_latest)


def _upsert_clause(key: str, is_later: str = "false") -> str:
    """Return an UPSERT clause that adds the inserted totals to an existing row with this key.

    `is_later` is an SQL condition: `latest_call` began after the added calls.
    """
    return (
        f"ON CONFLICT({key}) DO UPDATE SET calls = calls + excluded.calls, duration = duration + excluded.duration,"
        f" latest_call = CASE WHEN {is_later} THEN latest_call ELSE excluded.latest_call END"
    )


def _build_later_call_condition(connection: sqlite3.Connection, table: str, capture: int | None) -> str:
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


def _sort_in_time(connection: sqlite3.Connection, calls: Integers, capture: int | None) -> Integers:
    """Return the positions of calls in order of time. With a `capture`, all calls must be of that capture."""
    if capture is not None:
        return np.argsort(calls, kind="stable")
    captures = "SELECT first_call FROM captures WHERE first_call IS NOT NULL ORDER BY run, started, id"
    first = np.array(connection.execute(captures).fetchall(), np.int64).reshape(-1)
    by_id = np.argsort(first)  # the captures in the order of their calls' ids, as positions in time
    return np.lexsort((calls, by_id[np.searchsorted(first[by_id], calls, side="right") - 1]))


def rebuild_line_totals(connection: sqlite3.Connection, nodes: NodeColumns | None = None) -> None:
    """Rebuild the totals that depend on frame locations, after frames have moved to other lines."""
    nodes = nodes or read_nodes(connection)
    for table in ("line_calls", "line_samples", "line_links", "readable_steps"):
        connection.execute(f"DELETE FROM {table}")
    items = read_items(connection)
    for totals in _sum_in_parts(connection, items, nodes):
        _add_line_totals(connection, totals)
    _add_samples(connection, items, nodes)
    add_linked_line_totals(connection, nodes)


def _add_samples(connection: sqlite3.Connection, items: StackTotals, nodes: NodeColumns) -> None:
    """Store a few argument objects per line: first those with a shape, then those of the longest calls."""
    tree = PathTree(nodes, items)
    lines = _PassedLines(connection, tree)
    counted = "SELECT count(*) FROM line_samples WHERE file = ? AND line = ? AND version = ?"
    places = {key: lines.unpack(key) for key in find_distinct_values(lines.key[lines.key > 0]).tolist()}
    room = {key: MAX_SAMPLES - connection.execute(counted, line).fetchone()[0] for key, line in places.items()}
    if not any(room.values()):
        return
    of_item: list[list[int]] = [[] for _ in items.stack]
    has_shape = np.zeros(len(items.stack), np.bool_)
    query = (
        f"SELECT s.key, t.arguments, a.has_shape FROM json_each(?) s JOIN stack_samples t ON t.stack = {json_item(0)}"
        f" AND t.boundary = {json_item(1)} JOIN arguments a ON a.id = t.arguments ORDER BY s.key, t.arguments"
    )
    for item, sample, shape in connection.execute(query, (build_json_list(_to_rows(items.stack, items.boundary)),)):
        of_item[item].append(sample)
        has_shape[item] |= bool(shape)
    by_rank = np.lexsort((-items.duration, ~has_shape))
    rank = np.empty_like(by_rank)
    rank[by_rank] = np.arange(len(by_rank))
    of_depths = []
    for place, best in tree.best_items(rank, MAX_SAMPLES):
        is_on_line = lines.key[place] > 0
        of_depths.append(np.stack([lines.key[place], best])[:, is_on_line])
    found = np.concatenate([np.zeros((2, 0), np.int64), *of_depths], axis=1)
    found = found[:, np.lexsort(found[::-1])]
    found = found[:, np.any(np.diff(found, prepend=-1), axis=0)]
    of_line: dict[int, dict[int, None]] = {}
    for key, item in zip(*found[:, rank_in_group(found[0]) < MAX_SAMPLES].tolist(), strict=True):
        of_line.setdefault(key, {}).update(dict.fromkeys(of_item[by_rank[item]]))
    rows = [(*places[key], sample) for key, samples in of_line.items() for sample in islice(samples, room[key])]
    connection.executemany("INSERT OR IGNORE INTO line_samples VALUES (?, ?, ?, ?)", rows)


def _read_column(connection: sqlite3.Connection, query: str, frames: str) -> Integers:
    """Return a column indexed by frame id, from rows (id, value) of `frames`; 0 for a missing id."""
    rows = np.array(connection.execute(query, (frames,)).fetchall(), np.int64).reshape(-1, 2)
    column = np.zeros(_count_frame_ids(connection), np.int64)
    column[rows[:, 0]] = rows[:, 1]
    return column


def _read_flags(connection: sqlite3.Connection, condition: str, frames: str) -> Flags:
    """Return a flag for each frame id: true if the frame is one of `frames` and meets the condition."""
    flags = np.zeros(_count_frame_ids(connection), np.bool_)
    query = (
        f"SELECT fr.id FROM frames fr JOIN functions fn ON fn.id = fr.function WHERE fr.id {IN_JSON} AND {condition}"
    )
    flags[np.array(connection.execute(query, (frames,)).fetchall(), np.int64).reshape(-1)] = True
    return flags


def _count_frame_ids(connection: sqlite3.Connection) -> int:
    highest: int = connection.execute("SELECT coalesce(max(id), 0) FROM frames").fetchone()[0]
    return highest + 1


def _find_latest_run(group: Integers, run: Integers, groups: int) -> tuple[Integers, Flags]:
    """Return the latest run in each group, and for each element whether it belongs to that run."""
    latest = np.zeros(groups, np.int64)
    np.maximum.at(latest, group, run)
    return latest, run == latest[group]


def _add_pairs(
    connection: sqlite3.Connection, table: str, ends: tuple[str, str], totals: ChainTotals, pair: Integers
) -> None:
    keys, *sums = totals.sum_by_key(pair)
    named = ", ".join(ends)
    connection.executemany(
        f"INSERT INTO {table}({named}, calls, run, run_calls) VALUES (?, ?, ?, ?, ?)"
        f" ON CONFLICT({named}) DO UPDATE SET calls = calls + excluded.calls, {_UPDATE_RUN_CALLS}",
        _to_rows(*unpack_pair(keys), *sums),
    )


def _sum_by_group(group: Integers, weight: Integers, groups: int) -> Integers:
    # `bincount` has float weights, but the nanoseconds of a long run do not fit into 53 bits.
    total = np.zeros(groups, np.int64)
    np.add.at(total, group, weight)
    return total


def _to_rows(*columns: Integers) -> Iterator[tuple[int, ...]]:
    """Yield rows instead of returning a list, because Python's integers take several times the memory of a column."""
    for first in range(0, len(columns[0]), _ROWS_AT_ONCE):
        yield from zip(*(column[first : first + _ROWS_AT_ONCE].tolist() for column in columns), strict=True)
