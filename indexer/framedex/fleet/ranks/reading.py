"""The calls of a job's ranks that are compared, as arrays of numbers; what a number stands for is told once.

Compared are calls that do work (they compile, load or run programs, or move data) and that a line of Python made,
each as what it is on any host: the line, the function, shapes, and of a program a check of what was compiled.
Addresses, devices and times are none of that. A rank's calls come from the one of its threads that runs most
programs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from framedex import words
from framedex.objects.table import load_boundary_functions

if TYPE_CHECKING:
    from framedex.fleet.asking import Asking
    from framedex.fleet.ranks.members import Members

Integers = npt.NDArray[np.int64]

EXECUTE = "PJRT_LoadedExecutable_Execute"
_COMPILES = ("PJRT_Client_Compile", "PJRT_Compile")
_LOADS = ("PJRT_Executable_DeserializeAndLoad", "PJRT_Client_Load")
OBTAINS = frozenset((*_COMPILES, *_LOADS))
"""What gives a program that can be run. Who finds it in a cache does not compile it."""

MOST_CALLS = 40_000_000
"""Calls that are compared at most, of all ranks together: some 3 GB of memory."""

_NEVER = (1 << 63) - 1  # ns since 1970

# What is read of a call: the object of a program, what that is, and the values that are the same wherever it is made.
_PATHS = [
    *("$.executable", "$.loaded_executable", '$."program.kept"'),
    *("$.type", "$.dims", "$.dst_size", "$.transfer_size", "$.num_args"),
]


@dataclass(frozen=True, slots=True)
class Token:
    """What calls have in common that are the same: a line of Python, a function, a shape, a program.

    `program` is the check of what was compiled, empty where it is none or not known; `place` tells the line on every
    host.
    """

    path: str
    line: int
    place: str
    function: str
    shape: str
    program: str

    @property
    def obtains(self) -> bool:
        """Whether it compiles or loads a program."""
        return self.function in OBTAINS

    @property
    def at(self) -> tuple[str, str]:
        """The line and the function."""
        return self.place, "" if self.obtains else self.function


@dataclass(frozen=True, slots=True)
class RankCalls:
    """The calls of a rank in their order: what each is (a number of `Calls.tokens`), its own number, its start since
    1970 in ns, and its duration in ns (-1: it never returned).

    `done` is when what a call had begun was over, in ns since 1970, where that was before the next call: JAX waits for
    a result in no call of its own. -1: it was over later, or nobody knows.
    """

    token: Integers
    call: Integers
    start: Integers
    duration: Integers
    done: Integers


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of all ranks, in the order of the members.

    `beside` has what threads did beside those: how often a rank made each call, as rows (rank's place, token, calls,
    first call). `notes` are sentences.
    """

    tokens: Sequence[Token]
    sequences: tuple[RankCalls, ...]
    beside: Integers
    notes: tuple[str, ...]


def calls_of(asking: Asking, members: Members) -> Calls:
    """The calls of the ranks. Raises FramedexError where the store cannot be read."""
    works = sorted(name for name, function in load_boundary_functions().items() if function.works)
    captures = [member.capture for member in members.members]
    asking.rows(
        "CREATE OR REPLACE TEMP TABLE ranks AS SELECT unnest(?::VARCHAR[]) AS capture, unnest(range(?)) AS place",
        [captures, len(captures)],
    )
    asking.rows(_WORKS.format(calls=asking.rows_of("calls", captures)), [_PATHS, works])
    notes = []
    ((every,),) = asking.rows("SELECT count(*) FROM works")
    if every > MOST_CALLS:
        most = MOST_CALLS // len(captures)
        asking.rows("DELETE FROM works WHERE nth > ?", [most])
        many = words.count(most, "call")
        notes.append(f"Of each rank {many} of those that do work are compared, its first: there are {every:,} in all.")
    programs, said = _what_programs_are(asking)
    notes += said
    asking.rows(_THREADS)
    asking.rows(_KNOWN.format(program=programs), [sorted(OBTAINS)])
    tokens = [
        Token(path, line, place, function, shape, program)
        for path, line, place, function, shape, program in asking.rows(_TOKENS)
    ]
    asking.rows(_EVENTS.format(calls=asking.rows_of("calls", captures)))
    sequences = tuple(
        RankCalls(token, call, start, duration, _done(call, start, *told))
        for (token, call, start, duration), told in zip(
            _by_rank(asking, _CALLS, ("token", "call", "start", "duration"), len(captures)),
            _by_rank(asking, _READY.format(never=_NEVER), ("call", "ready", "is_main"), len(captures)),
            strict=True,
        )
    )
    rows = asking.columns(_BESIDE)
    beside = np.stack([_integers(rows[name]) for name in ("place", "token", "calls", "call")], axis=1)
    return Calls(tokens, sequences, beside, tuple(notes))


def _by_rank(asking: Asking, query: str, names: Sequence[str], ranks: int) -> Iterator[list[Integers]]:
    """What a query gives in columns of these names, rank by rank."""
    columns = asking.columns(query)
    begins = np.searchsorted(columns["place"], np.arange(ranks + 1))
    for first, last in pairwise(begins.tolist()):
        yield [_integers(columns[name][first:last]) for name in names]


def _done(call: Integers, start: Integers, asked: Integers, ready: Integers, is_main: Integers) -> Integers:
    """When all that each call had begun was over, before the next one began: see `RankCalls`.

    The calls with the numbers `asked` had the runtime tell when an event is `ready`, which is of the call before. What
    the thread itself let go of later (`is_main`) it had kept beside an array: when that was ready it does not tell.
    """
    done = np.full(len(call), -1, np.int64)
    until = np.append(start[1:], _NEVER)
    of_call = np.searchsorted(call, asked) - 1
    is_told = of_call >= 0
    is_told[is_told] = (is_main[is_told] == 0) | (ready[is_told] < until[of_call[is_told]])
    np.maximum.at(done, of_call[is_told], ready[is_told])
    return np.where(done < until, done, -1)


def _integers(column: npt.NDArray[np.generic]) -> Integers:
    return np.asarray(column).astype(np.int64)


def _what_programs_are(asking: Asking) -> tuple[str, list[str]]:
    """SQL that tells what a program is, and why that is less than what was compiled.

    The bytes that are compiled name the files that they come from, and what comes from a cache is known by nothing.
    """
    ((loaded,),) = asking.rows("SELECT count(*) FROM works WHERE list_contains(?, function)", [list(_LOADS)])
    if loaded:
        return "''", ["Some programs were loaded and not compiled: which they are is not compared."]
    ((paths,),) = asking.rows(
        "SELECT coalesce(max(paths), 0) FROM (SELECT count(DISTINCT path) AS paths FROM works"
        " WHERE list_contains(?, function) AND NOT is_installed GROUP BY at_line)",
        [list(_COMPILES)],
    )
    if paths > 1:
        return "''", ["The program lies elsewhere on some hosts: which programs it compiles is not compared."]
    return "program", []


# The calls that are compared, with the values that are. What is no JSON tells nothing.
_WORKS = """
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
# A program is run by the address of its object, which is the one that was made there last.
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
# JAX has itself called when an event is ready, and destroys it then, on whatever thread that is.
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
_BESIDE = """
SELECT place, token, count(*) AS calls, min(call) AS call FROM known WHERE NOT is_main GROUP BY place, token
ORDER BY token, place
"""
