"""Write the phases of a capture, which framedex's hooks in Python timed, with their Python stacks."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from framedex.index.file.values import to_storable
from framedex.index.write.interning import intern_frames
from framedex.index.write.records import PhaseRecord
from framedex.index.write.tree import StackTree
from framedex.index.write.versions import ProgramFileVersions


class PhaseWriter:
    """Writes the phases of one capture. `frames` are the ids of the frames of their stacks."""

    def __init__(
        self, connection: sqlite3.Connection, tree: StackTree, capture: int, versions: ProgramFileVersions
    ) -> None:
        self._connection = connection
        self._tree = tree
        self._capture = capture
        self._versions = versions
        self.frames: set[int] = set()

    def write(self, phases: Sequence[PhaseRecord]) -> None:
        """Write the phases after those already written, in the caller's transaction."""
        query = "SELECT count(*) FROM phases WHERE capture = ?"
        (known,) = self._connection.execute(query, (self._capture,)).fetchone()
        added = phases[known:]
        records = [frame for phase in added for frame in phase.frames]
        self._versions.add(records)
        ids = intern_frames(self._connection, records, self._versions.by_path)
        self.frames.update(ids)
        flat = iter(ids)
        rows = [(phase, self._tree.intern_leaf([next(flat) for _ in phase.frames])) for phase in added]
        self._tree.write()
        self._connection.executemany(
            "INSERT INTO phases(capture, thread, kind, name, start, duration, node, is_last)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    *(self._capture, phase.thread, phase.kind.value, to_storable(phase.name)),
                    *(phase.start, phase.duration, node, phase.is_last),
                )
                for phase, node in rows
            ],
        )


def delete_phases(connection: sqlite3.Connection, capture: int) -> None:
    """Delete the phases of a capture."""
    connection.execute("DELETE FROM phases WHERE capture = ?", (capture,))
