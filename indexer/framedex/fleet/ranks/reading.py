"""Read the compared calls of a job's ranks, as arrays of token numbers.

Compared calls compile, load or run programs, or move data, and come from a line of Python. A token has what is equal on
all hosts: the line, the function, shapes, and a checksum of the compiled program. Addresses, devices and times are not
part of it. A rank's calls are those of the thread that runs most programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from framedex.base import words
from framedex.programs.objects.table import load_boundary_functions

if TYPE_CHECKING:
    from framedex.fleet.ranks.members import Members
    from framedex.fleet.store_queries import StoreConnection

Integers = npt.NDArray[np.int64]

EXECUTE = "PJRT_LoadedExecutable_Execute"
_COMPILES = ("PJRT_Client_Compile", "PJRT_Compile")
_LOADS = ("PJRT_Executable_DeserializeAndLoad", "PJRT_Client_Load")
PROGRAM_SOURCES = frozenset((*_COMPILES, *_LOADS))
"""Functions that return an executable. A rank with a cache loads a program where others compile it."""

MAX_CALLS = 40_000_000
"""Most compared calls of all ranks together: some 3 GB of memory."""

_MAX_TIME_NS = (1 << 63) - 1  # ns since the Unix epoch

# JSON paths of arguments: the program's object, the program's checksum, and values that are equal on all hosts.
_PATHS = [
    *("$.executable", "$.loaded_executable", '$."program.kept"'),
    *("$.type", "$.dims", "$.dst_size", "$.transfer_size", "$.num_args"),
]


@dataclass(frozen=True, slots=True)
class CallToken:
    """The identity of a call for comparisons: a line of Python, a function, a shape and a program.

    `program` is the checksum of the compiled program, empty if there is none or it is unknown. `line_key` identifies
    the line on all hosts.
    """

    path: str
    line: int
    line_key: str
    function: str
    shape: str
    program: str

    @property
    def creates_program(self) -> bool:
        """Whether it compiles or loads a program."""
        return self.function in PROGRAM_SOURCES

    @property
    def key(self) -> tuple[str, str]:
        """The line and the function."""
        return self.line_key, "" if self.creates_program else self.function


@dataclass(frozen=True, slots=True)
class RankCalls:
    """The calls of a rank in order. `token` is an index into `JobCalls.tokens`, `call` the number of the call.

    `start` is in ns since the Unix epoch, `duration` in ns (-1: the call never returned). `done` is the end of the work
    that the call started, in ns since the Unix epoch. It is -1 if the work ended after the next call began, or if the
    end is unknown. JAX waits for results outside of calls.
    """

    token: Integers
    call: Integers
    start: Integers
    duration: Integers
    done: Integers


@dataclass(frozen=True, slots=True)
class JobCalls:
    """The calls of all ranks, in the order of the members.

    `other_threads` has the calls on other threads: rows (rank's place, token, number of calls, first call). `notes` are
    sentences.
    """

    tokens: Sequence[CallToken]
    sequences: tuple[RankCalls, ...]
    other_threads: Integers
    notes: tuple[str, ...]


def read_job_calls(connection: StoreConnection, members: Members) -> JobCalls:
    """Return the calls of the ranks. Raises FramedexError if the store cannot be read."""
    works = sorted(name for name, function in load_boundary_functions().items() if function.does_work)
    captures = [member.capture for member in members.members]
    connection.rows(
        "CREATE OR REPLACE TEMP TABLE ranks AS SELECT unnest(?::VARCHAR[]) AS capture, unnest(range(?)) AS place",
        [captures, len(captures)],
    )
    connection.rows(_CREATE_CALL_TABLE.format(calls=connection.build_rows_sql("calls", captures)), [_PATHS, works])
    notes = []
    ((every,),) = connection.rows("SELECT count(*) FROM works")
    if every > MAX_CALLS:
        most = MAX_CALLS // len(captures)
        connection.rows("DELETE FROM works WHERE nth > ?", [most])
        many = words.count(most, "call")
        notes.append(f"Only the first {many} of each rank are compared: all ranks together have {every:,}.")
    programs, program_notes = _build_program_identity_sql(connection)
    notes += program_notes
    connection.rows(_THREADS)
    connection.rows(_KNOWN.format(program=programs), [sorted(PROGRAM_SOURCES)])
    tokens = [
        CallToken(path, line, place, function, shape, program)
        for path, line, place, function, shape, program in connection.rows(_TOKENS)
    ]
    connection.rows(_EVENTS.format(calls=connection.build_rows_sql("calls", captures)))
    sequences = tuple(
        RankCalls(token, call, start, duration, _compute_completion_times(call, start, *events))
        for (token, call, start, duration), events in zip(
            _read_columns_by_rank(connection, _CALLS, ("token", "call", "start", "duration"), len(captures)),
            _read_columns_by_rank(
                connection, _READY.format(never=_MAX_TIME_NS), ("call", "ready", "is_main"), len(captures)
            ),
            strict=True,
        )
    )
    rows = connection.columns(_COUNT_OTHER_THREADS)
    other_threads = np.stack([_convert_to_integers(rows[name]) for name in ("place", "token", "calls", "call")], axis=1)
    return JobCalls(tokens, sequences, other_threads, tuple(notes))


def _read_columns_by_rank(
    connection: StoreConnection, query: str, names: Sequence[str], ranks: int
) -> Iterator[list[Integers]]:
    """Yield the columns of a query, one list for each rank."""
    columns = connection.columns(query)
    begins = np.searchsorted(columns["place"], np.arange(ranks + 1))
    for first, last in pairwise(begins.tolist()):
        yield [_convert_to_integers(columns[name][first:last]) for name in names]


def _compute_completion_times(
    call: Integers, start: Integers, registered: Integers, ready: Integers, is_main: Integers
) -> Integers:
    """Return when the work of each call was finished, if that was before the next call: see `RankCalls`.

    `registered` are the numbers of calls that registered a callback for an event of the previous call. `ready` are the
    times when these events became ready. If the main thread destroyed an event after the next call (`is_main`), an
    array kept the event, so its time does not count.
    """
    done = np.full(len(call), -1, np.int64)
    until = np.append(start[1:], _MAX_TIME_NS)
    of_call = np.searchsorted(call, registered) - 1
    is_told = of_call >= 0
    is_told[is_told] = (is_main[is_told] == 0) | (ready[is_told] < until[of_call[is_told]])
    np.maximum.at(done, of_call[is_told], ready[is_told])
    return np.where(done < until, done, -1)


def _convert_to_integers(column: npt.NDArray[np.generic]) -> Integers:
    return np.asarray(column).astype(np.int64)


def _build_program_identity_sql(connection: StoreConnection) -> tuple[str, list[str]]:
    """Return SQL for the checksum of a program, and notes if checksums cannot be compared.

    Compiled bytes contain source paths, which may differ between hosts. A program from a cache has no checksum.
    """
    ((loaded,),) = connection.rows("SELECT count(*) FROM works WHERE list_contains(?, function)", [list(_LOADS)])
    if loaded:
        return "''", ["Some programs were loaded and not compiled: programs are not compared."]
    ((paths,),) = connection.rows(
        "SELECT coalesce(max(paths), 0) FROM (SELECT count(DISTINCT path) AS paths FROM works"
        " WHERE list_contains(?, function) AND NOT is_installed GROUP BY at_line)",
        [list(_COMPILES)],
    )
    if paths > 1:
        return "''", ["The script has different paths on some hosts: compiled programs are not compared."]
    return "program", []


# The calls to compare, with the argument values used for comparison (none if the arguments are not JSON).
_CREATE_CALL_TABLE = """
CREATE OR REPLACE TEMP TABLE works AS
SELECT r.place, c.call, c.start, coalesce(c.duration, -1) AS duration, c.thread, c.function, c.error,
    coalesce(u.path, '') AS path, coalesce(u.line, 0) AS line,
    regexp_extract(coalesce(u.path, ''), '[^/]*$') || ':' || coalesce(u.line, 0) AS at_line,
    regexp_matches(coalesce(u.path, ''), '/(site|dist)-packages/|/lib(64)?/python3\\.|^<') AS is_installed,
    CASE WHEN json_valid(c.arguments) THEN json_extract_string(c.arguments, ?::VARCHAR[]) END AS told,
    row_number() OVER (PARTITION BY r.place ORDER BY c.call) AS nth
FROM ({calls}) c JOIN ranks r ON r.capture = c.capture JOIN user_lines_readable u ON u.stack = c.stack
WHERE c.boundary = 'pjrt' AND list_contains(?::VARCHAR[], c.function)
"""
# The thread of each rank that runs most programs.
_THREADS = """
CREATE OR REPLACE TEMP TABLE threads AS
SELECT place, arg_max(thread, (runs, many, thread)) AS thread FROM (
    SELECT place, thread, count(*) AS many, count(*) FILTER (function = 'PJRT_LoadedExecutable_Execute') AS runs
    FROM works GROUP BY place, thread
) GROUP BY place
"""
# A run names its program by address: it is the latest program created at that address.
_KNOWN = """
CREATE OR REPLACE TEMP TABLE known AS
WITH obtained AS (
    SELECT place, call, coalesce(told[2], told[1]) AS object, coalesce(told[3], '') AS program FROM works
    WHERE list_contains(?::VARCHAR[], function) AND coalesce(told[2], told[1]) IS NOT NULL
), of_run AS (
    SELECT w.place, w.call, o.program FROM works w
    ASOF JOIN obtained o ON o.place = w.place AND o.object = w.told[1] AND w.call > o.call
    WHERE w.function = 'PJRT_LoadedExecutable_Execute'
), told AS (
    SELECT w.* REPLACE (
            if(w.function = 'PJRT_Executable_DeserializeAndLoad', 'PJRT_Client_Compile', w.function) AS function
        ),
        coalesce(o.program, w.told[3], '') AS program, w.thread = t.thread AS is_main,
        concat_ws(
            ' ', w.told[4] || coalesce(w.told[5], ''), w.told[6] || ' bytes', w.told[7] || ' bytes',
            w.told[8] || ' arguments'
        ) AS shape
    FROM works w JOIN threads t ON t.place = w.place LEFT JOIN of_run o ON o.place = w.place AND o.call = w.call
)
SELECT place, call, start, duration, is_main, path, line, at_line, function, shape, {program} AS program,
    dense_rank() OVER (ORDER BY at_line, function, shape, {program}) - 1 AS token
FROM told
"""
_TOKENS = """
SELECT min(path), any_value(line), any_value(at_line), any_value(function), any_value(shape), any_value(program)
FROM known GROUP BY token ORDER BY token
"""
_CALLS = "SELECT place, token, call, start, duration FROM known WHERE is_main ORDER BY place, call"
# JAX registers a callback for an event, which destroys the event, on any thread, when it is ready.
_EVENTS = """
CREATE OR REPLACE TEMP TABLE events AS
SELECT r.place, c.call, c.start, c.function = 'PJRT_Event_OnReady' AS is_asked, c.thread = t.thread AS is_main,
    hash(json_extract_string(c.arguments, '$.event')) AS event
FROM ({calls}) c JOIN ranks r ON r.capture = c.capture JOIN threads t ON t.place = r.place
WHERE c.boundary = 'pjrt' AND c.function IN ('PJRT_Event_OnReady', 'PJRT_Event_Destroy') AND json_valid(c.arguments)
"""
_READY = """
SELECT o.place, o.call, coalesce(d.start, {never}) AS ready, coalesce(d.is_main, false) AS is_main
FROM (SELECT * FROM events WHERE is_asked AND is_main) o
ASOF LEFT JOIN (SELECT * FROM events WHERE NOT is_asked) d
    ON d.place = o.place AND d.event = o.event AND o.call < d.call
ORDER BY o.place, o.call
"""
_COUNT_OTHER_THREADS = """
SELECT place, token, count(*) AS calls, min(call) AS call FROM known WHERE NOT is_main GROUP BY place, token
ORDER BY token, place
"""
