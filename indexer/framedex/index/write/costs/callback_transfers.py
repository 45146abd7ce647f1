"""Write the transfers of host callbacks: their operands to the host, and their results to the device."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable

import numpy as np

from framedex.index.file.conventions import IN_JSON, OTHER_PLUGINS, build_json_list
from framedex.index.write.bulk_rows import Integers
from framedex.index.write.costs.pieces import MAX_BYTES, read_arguments
from framedex.index.write.costs.timeline import CallColumns, KindColumns
from framedex.index.write.programs import EXECUTE_FUNCTION
from framedex.model import TransferDirection
from framedex.programs.objects.moves import CALLBACK_RESULT, HOST_CALLBACKS

_UNKNOWN_SIZE = -1
_UNSEEN_CALLBACK = "callback"
_INSERT = (
    "INSERT INTO transfers(kind, capture, direction, how, is_implicit, calls, duration, sized, bytes, first_call,"
    " latest_call) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)"
)
_BUFFER_TYPE = re.compile(r"(token|pred|[a-z]+(\d{1,3})\w*)\[((?:\d{1,18}(?:,\d{1,18})*)?)\]")


def write_callback_transfers(connection: sqlite3.Connection, capture: int, kinds: KindColumns) -> None:
    """Write the transfers of the host callbacks of a capture, replacing the stored ones.

    Callbacks are not recorded without `framedex run` or with other plug-ins, and then results have no line. The
    operands that a program may send are then transfers of unknown size by the calls that run the program.
    """
    callback_kinds, runs = kinds.find_kinds(HOST_CALLBACKS | {CALLBACK_RESULT}), kinds.find_kinds({EXECUTE_FUNCTION})
    written = build_json_list([*callback_kinds.tolist(), *runs.tolist()])
    connection.execute(f"DELETE FROM transfers WHERE kind {IN_JSON}", (written,))
    calls = CallColumns.read_calls_of_kinds(connection, capture, callback_kinds)
    if not _records_all(connection, capture):
        _write_unrecorded_operands(connection, capture, runs, _count_operands(connection, calls, kinds))
    if not len(calls):
        return
    calls = calls[np.lexsort((calls.id, kinds.thread[calls.kind]))]
    is_result = np.isin(calls.kind, kinds.find_kinds({CALLBACK_RESULT}))
    size = _read_sizes(connection, calls)
    cause = np.where(is_result, _find_causing_callbacks(is_result, kinds.thread[calls.kind]), np.arange(len(calls)))
    duration = np.where(is_result, np.maximum(calls.end - calls.start, 0), 0)
    for direction, is_moved in (
        (TransferDirection.DEVICE_TO_HOST, ~is_result & (size != 0)),
        (TransferDirection.HOST_TO_DEVICE, is_result & (size != 0)),
    ):
        moved = np.flatnonzero(is_moved)
        for kind in np.unique(calls.kind[cause[moved]]).tolist():
            of_kind = moved[calls.kind[cause[moved]] == kind]
            known = of_kind[size[of_kind] >= 0]
            ids = calls.id[cause[of_kind]]
            function = kinds.functions[kinds.function[kind]]
            how = function if function in HOST_CALLBACKS else _UNSEEN_CALLBACK
            sums = (len(of_kind), int(duration[of_kind].sum()), len(known), int(size[known].sum()))
            row = (kind, capture, direction.value, how, *sums, int(np.min(ids)), int(np.max(ids)))
            connection.execute(_INSERT, row)


def _records_all(connection: sqlite3.Connection, capture: int) -> bool:
    """Return whether each callback that ran is recorded: `framedex run` also writes JAX's notes on programs.

    A program that sends more has callbacks in a branch that it did not take.
    """
    query = (
        "SELECT is_on_mock AND EXISTS (SELECT 1 FROM compilations WHERE capture = c.id AND noted IS NOT NULL)"
        f" AND NOT EXISTS ({OTHER_PLUGINS}) FROM captures c WHERE id = ?"
    )
    (found,) = connection.execute(query, (capture,)).fetchone()
    return bool(found)


def _count_operands(connection: sqlite3.Connection, calls: CallColumns, kinds: KindColumns) -> int:
    """Return the number of operands of all recorded callbacks."""
    known, counts = np.unique(
        calls.arguments[np.isin(calls.kind, kinds.find_kinds(HOST_CALLBACKS))], return_counts=True
    )
    arguments = read_arguments(connection, known)
    texts = [str(arguments.get(number, {}).get("arguments", "")) for number in known.tolist()]
    return sum(
        sum(dtype != "token" for dtype, _, _ in _BUFFER_TYPE.findall(text)) * count
        for text, count in zip(texts, counts.tolist(), strict=True)
    )


def _write_unrecorded_operands(connection: sqlite3.Connection, capture: int, runs: Integers, recorded: int) -> None:
    """Write the sends beyond the `recorded` operands, as transfers by the calls of the kinds `runs`."""
    query = (
        "SELECT c.kind, sum(json_extract(a.json, '$.\"options.num_send_ops\"')) AS sent, min(c.id), max(c.id)"
        " FROM captures p JOIN call_rows c ON c.id BETWEEN p.first_call AND p.last_call"
        f" JOIN arguments a ON a.id = c.arguments WHERE p.id = ? AND c.kind {IN_JSON}"
        " AND a.json LIKE '%\"options.num_send_ops\": %' AND a.json NOT LIKE '%\"options.num_send_ops\": 0,%'"
        " GROUP BY c.kind HAVING sent > 0 ORDER BY sent DESC"
    )
    rows = connection.execute(query, (capture, build_json_list(runs.tolist()))).fetchall()
    unrecorded = sum(sent for _, sent, _, _ in rows) - recorded
    for kind, sent, first, last in rows:
        if (count := min(sent, unrecorded)) > 0:
            row = (kind, capture, TransferDirection.DEVICE_TO_HOST.value, _UNSEEN_CALLBACK, count, 0, 0, 0, first, last)
            connection.execute(_INSERT, row)
            unrecorded -= count


def _find_causing_callbacks(is_result: np.ndarray[tuple[int], np.dtype[np.bool_]], thread: Integers) -> Integers:
    """Return for each call the last callback before it on its thread, else the call itself.

    The calls must be grouped by thread.
    """
    position = np.arange(len(is_result))
    last = np.maximum.accumulate(np.where(is_result, -1, position))
    is_same = (last >= 0) & (thread[np.maximum(last, 0)] == thread)
    found: Integers = np.where(is_same, last, position)
    return found


def _read_sizes(connection: sqlite3.Connection, calls: CallColumns) -> Integers:
    """Return the bytes that each call moved; `_UNKNOWN` if it does not record them."""
    known, position = np.unique(calls.arguments, return_inverse=True)
    arguments = read_arguments(connection, known)
    sizes = [_parse_size(arguments.get(number, {})) for number in known.tolist()]
    return np.array(sizes, np.int64)[position]


def _parse_size(arguments: dict[str, object]) -> int:
    size, operands = arguments.get("chunk.size"), arguments.get("arguments")
    if isinstance(operands, str):
        size = _sum_buffer_sizes(operands)
    return size if isinstance(size, int) and 0 <= size <= MAX_BYTES else _UNKNOWN_SIZE


def _sum_buffer_sizes(text: str) -> int:
    """Return the total bytes of buffers in the notation of a handler run: `f32[512,512], token[]`."""
    if "..." in text or len(_BUFFER_TYPE.findall(text)) != text.count("["):
        return _UNKNOWN_SIZE
    return sum(_compute_buffer_size(*found) for found in _BUFFER_TYPE.findall(text))


def _compute_buffer_size(dtype: str, bits: str, lengths: str) -> int:
    if dtype == "token":
        return 0
    return max(int(bits or 8) // 8, 1) * math.prod(_parse_numbers(lengths.split(",")))


def _parse_numbers(texts: Iterable[str]) -> Iterable[int]:
    return (int(text) for text in texts if text)
