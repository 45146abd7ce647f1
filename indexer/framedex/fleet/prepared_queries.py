"""Prepared SQL queries of a store. Each row refers to a capture, a call or a stack."""

from __future__ import annotations

from typing import NamedTuple

from framedex.model import TransferDirection
from framedex.programs.objects.moves import CALLBACK_RESULT, HOST_CALLBACKS, MOVES


class StoreQuery(NamedTuple):
    """A prepared query: a description of its result, and its SQL."""

    description: str
    sql: str


# Functions that move data. `is_timed`: the call lasts as long as the copy, unlike a host callback.
_MOVES = ", ".join(
    f"('{function}', '{direction.value}', {is_timed})"
    for function, direction, is_timed in (
        *((function, move.direction, True) for function, move in MOVES.items()),
        (CALLBACK_RESULT, TransferDirection.HOST_TO_DEVICE, True),
        *((function, TransferDirection.DEVICE_TO_HOST, False) for function in sorted(HOST_CALLBACKS)),
    )
)
# Functions that block until a result is available.
_WAITS = ", ".join(
    f"'{function}'"
    for function in (
        "PJRT_Event_Await",
        "PJRT_Buffer_UnsafePointer",
        *(name for name, move in MOVES.items() if move.direction is TransferDirection.DEVICE_TO_HOST),
    )
)

PREPARED_QUERIES = {
    "captures": StoreQuery(
        "all captures",
        "SELECT capture, day, job, rank, host, calls, command, path FROM captures ORDER BY started, capture",
    ),
    "slowest": StoreQuery(
        "the slowest lines of the latest seven days, compared with the seven days before",
        "WITH newest AS (SELECT max(day)::DATE AS day FROM captures WHERE day <= (today() + 1)::VARCHAR),"
        " of_week AS (SELECT *, (newest.day - l.day::DATE) // 7 AS week FROM lines_readable l, newest)"
        " SELECT path, line, function, sum(calls) FILTER (week = 0)::BIGINT AS calls,"
        " round(sum(microseconds) FILTER (week = 0) / sum(calls) FILTER (week = 0), 3) AS microseconds_each,"
        " round(sum(microseconds) FILTER (week = 1) / sum(calls) FILTER (week = 1), 3) AS week_before,"
        " round(sum(microseconds) FILTER (week = 0) / 1e3, 3) AS milliseconds,"
        " max_by(capture, microseconds) FILTER (week = 0) AS capture, max_by(stack, microseconds)"
        " FILTER (week = 0) AS stack FROM of_week WHERE week < 2 GROUP BY ALL HAVING calls > 0"
        " ORDER BY milliseconds DESC, path, line, function",
    ),
    "compiles": StoreQuery(
        "the lines that compile most, over all hosts",
        "SELECT path, line, function, sum(compiles)::BIGINT AS compiles, round(sum(milliseconds), 3) AS milliseconds,"
        " count(DISTINCT capture) AS captures, count(DISTINCT host) AS hosts, max_by(capture, milliseconds) AS capture,"
        " max_by(call, milliseconds) AS call, max_by(stack, milliseconds) AS stack FROM compiles_readable"
        " GROUP BY ALL ORDER BY milliseconds DESC, path, line",
    ),
    "transfers": StoreQuery(
        "the lines that move data between host and devices, over all hosts",
        f"WITH moves(function, direction, is_timed) AS (VALUES {_MOVES})"
        " SELECT u.path, u.line, u.function, m.direction, sum(k.calls)::BIGINT AS transfers,"
        " round(coalesce(sum(k.duration) FILTER (is_timed), 0) / 1e6, 3) AS milliseconds,"
        " count(DISTINCT k.capture) AS captures, max_by(k.capture, k.duration) AS capture,"
        " max_by(k.longest_call, k.longest) AS call, max_by(k.stack, k.duration) AS stack FROM call_kinds k"
        " JOIN moves m USING (function) LEFT JOIN user_lines_readable u ON u.stack = k.stack WHERE k.error = 0"
        " GROUP BY u.path, u.line, u.function, m.direction ORDER BY milliseconds DESC, u.path, u.line, m.direction",
    ),
    "waits": StoreQuery(
        "the lines that wait inside calls: for events, for copies to the host",
        "SELECT u.path, u.line, u.function, k.function AS waits_in, sum(k.calls)::BIGINT AS waits,"
        " round(sum(k.own_duration) / 1e6, 3) AS milliseconds, round(max(k.longest) / 1e6, 3) AS longest_milliseconds,"
        " count(DISTINCT k.capture) AS captures, max_by(k.capture, k.longest) AS capture,"
        " max_by(k.longest_call, k.longest) AS call, max_by(k.stack, k.longest) AS stack FROM call_kinds k"
        f" LEFT JOIN user_lines_readable u ON u.stack = k.stack WHERE k.function IN ({_WAITS})"
        " GROUP BY u.path, u.line, u.function, k.function ORDER BY milliseconds DESC, u.path, u.line, k.function",
    ),
    "changes": StoreQuery(
        "the lines with more calls or more time under the newest jaxlib than under the previous one",
        "WITH versions AS (SELECT capture, packages ->> 'jaxlib' AS jaxlib FROM captures),"
        " newest AS (SELECT jaxlib, count(*) AS captures, row_number() OVER (ORDER BY"
        " [coalesce(TRY_CAST(part AS BIGINT), -1) FOR part IN string_split(jaxlib, '.')] DESC, jaxlib DESC) AS place"
        " FROM versions WHERE jaxlib IS NOT NULL GROUP BY jaxlib),"
        " compared AS (SELECT l.*, n.place, n.captures AS of FROM lines_readable l JOIN versions v USING (capture)"
        " JOIN newest n ON n.jaxlib = v.jaxlib AND n.place < 3 AND (SELECT count(*) FROM newest) > 1)"
        " SELECT path, line, function, (SELECT jaxlib FROM newest WHERE place = 2) AS jaxlib_before,"
        " (SELECT jaxlib FROM newest WHERE place = 1) AS jaxlib,"
        " round(coalesce(sum(calls / of) FILTER (place = 2), 0), 1) AS calls_before,"
        " round(coalesce(sum(calls / of) FILTER (place = 1), 0), 1) AS calls,"
        " round(coalesce(sum(microseconds / of) FILTER (place = 2), 0) / 1e3, 3) AS milliseconds_before,"
        " round(coalesce(sum(microseconds / of) FILTER (place = 1), 0) / 1e3, 3) AS milliseconds,"
        " max_by(capture, (place = 1, microseconds)) AS capture, max_by(stack, (place = 1, microseconds)) AS stack"
        " FROM compared GROUP BY path, line, function"
        " ORDER BY abs(milliseconds - milliseconds_before) DESC, path, line, function",
    ),
    "functions": StoreQuery(
        "the functions that each JAX version calls",
        "SELECT p.packages ->> 'jax' AS jax, p.packages ->> 'jaxlib' AS jaxlib, k.boundary, k.function,"
        " sum(k.calls)::BIGINT AS calls, round(sum(k.duration) / sum(k.calls) / 1e3, 3) AS microseconds_each,"
        " count(DISTINCT k.capture) AS captures, max_by(k.capture, k.calls) AS capture,"
        " max_by(k.stack, k.calls) AS stack FROM call_kinds k JOIN captures p ON p.capture = k.capture"
        " GROUP BY ALL ORDER BY jax, jaxlib, calls DESC, function",
    ),
    "errors": StoreQuery(
        "failed calls and calls that never returned, by library",
        "SELECT e.plugin, k.function, k.error, u.path, u.line, sum(k.calls)::BIGINT AS calls,"
        " count(DISTINCT k.capture) AS captures, max_by(k.capture, k.calls) AS capture,"
        " max_by(k.longest_call, k.calls) AS call, max_by(k.stack, k.calls) AS stack FROM call_kinds k"
        " LEFT JOIN (SELECT s.id, f.module AS plugin FROM stacks s JOIN frames f ON f.id = s.frames[-1]"
        " AND f.depth = 0) e ON e.id = k.stack LEFT JOIN user_lines_readable u ON u.stack = k.stack WHERE k.error <> 0"
        " GROUP BY ALL ORDER BY calls DESC, k.function, k.error, u.path, u.line",
    ),
    "misuse": StoreQuery(
        "misused objects of the runtime, with counts",
        "SELECT m.kind, sum((p.misuse ->> m.kind)::BIGINT)::BIGINT AS times, count(*) AS captures,"
        " max_by(p.capture, (p.misuse ->> m.kind)::BIGINT) AS capture,"
        " max_by(p.path, (p.misuse ->> m.kind)::BIGINT) AS path"
        " FROM captures p, unnest(json_keys(p.misuse)) m(kind) GROUP BY m.kind ORDER BY times DESC, m.kind",
    ),
    "ranks": StoreQuery(
        "totals for each rank of a job",
        "SELECT p.job, p.rank, p.host, p.capture, p.calls, round(max(k.duration) / 1e6, 3) AS longest_milliseconds,"
        " round(sum(k.own_duration) / 1e6, 3) AS milliseconds, arg_max(k.stack, k.own_duration) AS stack"
        " FROM captures p JOIN call_kinds k ON k.capture = p.capture GROUP BY ALL ORDER BY p.job, p.rank, p.capture",
    ),
    "problems": StoreQuery(
        "captures with missing or doubtful data",
        "SELECT capture, job, rank, host, unnest(json_extract_string(problems, '$[*]')) AS problem, path FROM captures"
        " ORDER BY started, capture",
    ),
}
