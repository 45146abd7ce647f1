"""Gaps between the calls of a thread that may be unseen waits, by their times."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from framedex.index.file.schema import create_schema
from framedex.index.write.costs.activity import CaptureActivity
from framedex.index.write.costs.waits import PossibleWaits, find_unseen_waits
from framedex.index.write.programs import EXECUTE_FUNCTION

MS = 1_000_000
OTHER, RUN, DESTROY = 1, 2, 3
KINDS = {
    OTHER: ("PJRT_Buffer_Dimensions", 1),
    RUN: (EXECUTE_FUNCTION, 1),
    DESTROY: ("PJRT_Event_Destroy", 2),
}  # by thread
NONE = PossibleWaits(0, 0, 0)
Times = tuple[tuple[int, int], ...]  # kinds of calls, and their starts (ms): each takes 1 ms

CASES: dict[str, tuple[Times, PossibleWaits]] = {
    "the next call follows the end": (
        ((OTHER, 0), (RUN, 2), (DESTROY, 303), (OTHER, 304)),
        PossibleWaits(301 * MS, 1, 2),
    ),
    "calls while the program runs": (
        ((RUN, 0), (OTHER, 20), (DESTROY, 301), (OTHER, 302)),
        PossibleWaits(281 * MS, 1, 2),
    ),
    "the end is noticed late": (
        ((RUN, 0), (OTHER, 290), (DESTROY, 301), (OTHER, 330)),
        PossibleWaits(289 * MS, 1, 1),
    ),
    "the next call is long after the end": (((RUN, 0), (DESTROY, 101), (OTHER, 300)), NONE),
    "calls all the time": ((*((RUN if ms == 0 else OTHER, ms) for ms in range(0, 300, 5)), (DESTROY, 301)), NONE),
    "a program shorter than the threshold": (((RUN, 0), (DESTROY, 9), (OTHER, 30)), NONE),
    "an idle thread before a short program": (((OTHER, 0), (RUN, 41), (DESTROY, 57), (OTHER, 62)), NONE),
    "no next call": (((RUN, 0), (DESTROY, 301)), NONE),
}


@pytest.mark.parametrize(("calls", "expected"), CASES.values(), ids=CASES)
def test_a_gap_around_the_end_of_a_program_is_an_unseen_wait(
    tmp_path: Path, calls: Times, expected: PossibleWaits
) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        create_schema(connection)
        _write_calls(connection, tmp_path, calls)

        assert find_unseen_waits(CaptureActivity.read(connection, 1)) == expected


def _write_calls(connection: sqlite3.Connection, capture: Path, calls: Times) -> None:
    """Write calls of the `KINDS`, with the ids 1, 2, .... The call of DESTROY destroys the event of the call of RUN."""
    query = "INSERT INTO captures(id, path, first_call, last_call) VALUES (1, ?, 1, ?)"
    connection.execute(query, (str(capture), len(calls)))
    connection.execute("INSERT INTO nodes(id, parent, frame, user_node) VALUES (1, 0, 1, 1)")
    connection.execute("INSERT INTO stacks(id, leaf) VALUES (1, 1)")
    ids = {kind: [number for number, call in enumerate(calls, 1) if call[0] == kind] for kind in KINDS}
    for kind, (function, thread) in KINDS.items():
        connection.execute("INSERT INTO boundaries VALUES (?, 'pjrt', ?)", (kind, function))
        query = "INSERT INTO call_kinds(id, capture, boundary, thread, stack) VALUES (?1, 1, ?1, ?2, 1)"
        connection.execute(query, (kind, thread))
        span = min(ids[kind], default=None), max(ids[kind], default=None)
        connection.execute("INSERT INTO call_spans VALUES (?, coalesce(?, 0), coalesce(?, -1))", (kind, *span))
    connection.executemany(
        f"INSERT INTO call_rows(id, kind, start, duration) VALUES (?, ?, ?, {MS})",
        [(number, kind, start * MS) for number, (kind, start) in enumerate(calls, 1)],
    )
    connection.execute("INSERT INTO object_types VALUES (1, 1, 'event')")
    connection.execute("INSERT INTO object_ranges VALUES (1, 1, 1)")
    connection.execute(
        "INSERT INTO object_rows(id, type, address, born, created_call, destroyed_call) VALUES (1, 1, 64, 0, ?, ?)",
        (ids[RUN][0], ids[DESTROY][0]),
    )
