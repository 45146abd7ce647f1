"""The run of a capture: a number that captures of one `framedex run` share, and that is greater for later runs."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from framedex.model.metadata import Metadata

if TYPE_CHECKING:
    from framedex.index.write.records import CaptureRecord


def run_of(connection: sqlite3.Connection, record: CaptureRecord, known: int | None) -> int:
    """Return the number of the run: its beginning (ms since 1970), or the next free number.

    A capture that was recorded without `framedex run` is a run of its own. A capture `known` by its id keeps its run.
    """
    if known is not None:
        (run,) = connection.execute("SELECT run FROM captures WHERE id = ?", (known,)).fetchone()
        return int(run)
    launch = record.capture.metadata.launch
    if launch is not None and launch.run:
        query = "SELECT run, metadata FROM captures WHERE instr(metadata, ?)"
        for run, metadata in connection.execute(query, (launch.run,)):
            of_other = Metadata.parse(metadata).launch
            if of_other is not None and of_other.run == launch.run:
                return int(run)
    wanted = max(int(record.started * 1e3), 1)
    taken = {run for (run,) in connection.execute("SELECT run FROM captures WHERE run >= ? ORDER BY run", (wanted,))}
    return next(run for run in range(wanted, wanted + len(taken) + 1) if run not in taken)
