"""Number the runs in order of time, independent of the order in which captures are indexed and removed.

A run is numbered by the millisecond in which its earliest capture began, and within it by a hash. All captures of one
`framedex run`, which have one launch id, are one run. Any other capture is a run of its own.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Collection

from framedex.index.file.conventions import IN_JSON, build_json_list

_RUNS_PER_MS = 1 << 18
"""The number of run numbers for one millisecond."""

_MAX_START_MS = 1 << 44  # the year 2527; a damaged capture may contain any time


def find_run_number(
    connection: sqlite3.Connection, identity: str, started: float, launch: str | None
) -> tuple[int, bool]:
    """Return the number of a new capture's run, and whether it replaces the number of the run's other captures.

    `identity`, `started` (Unix time) and `launch` (its launch id) describe the capture. If the number replaces another
    one, the totals are stale.
    """
    first = _find_first_number(started)
    known = connection.execute("SELECT run FROM captures WHERE launch = ? LIMIT 1", (launch,)).fetchone()
    if known is not None and known[0] < first + _RUNS_PER_MS:
        return int(known[0]), False
    number = _find_free_number(connection, first, launch or identity)
    if known is not None:
        connection.execute("UPDATE captures SET run = ? WHERE launch = ?", (number, launch))
    return number, known is not None


def find_launches(connection: sqlite3.Connection, captures: Collection[int]) -> list[str]:
    """Return the launch ids of these captures."""
    query = f"SELECT DISTINCT launch FROM captures WHERE id {IN_JSON} AND launch IS NOT NULL ORDER BY launch"
    return [launch for (launch,) in connection.execute(query, (build_json_list(captures),))]


def renumber_runs(connection: sqlite3.Connection, launches: Collection[str]) -> None:
    """Number the runs of these launches again, after captures of them were removed. Totals may then be stale."""
    for launch in launches:
        query = "SELECT min(started), min(run) FROM captures WHERE launch = ?"
        started, run = connection.execute(query, (launch,)).fetchone()
        if run is not None and not 0 <= run - _find_first_number(started) < _RUNS_PER_MS:
            number = _find_free_number(connection, _find_first_number(started), launch)
            connection.execute("UPDATE captures SET run = ? WHERE launch = ?", (number, launch))


def _find_first_number(started: float) -> int:
    return min(max(int(started * 1e3), 1), _MAX_START_MS) * _RUNS_PER_MS


def _find_free_number(connection: sqlite3.Connection, first: int, key: str) -> int:
    """Return the number of a run in the millisecond with this first number, by the hash of its key."""
    place = zlib.crc32(key.encode()) % _RUNS_PER_MS
    while connection.execute("SELECT 1 FROM captures WHERE run = ?", (first + place,)).fetchone():
        place = (place + 1) % _RUNS_PER_MS
    return first + place
