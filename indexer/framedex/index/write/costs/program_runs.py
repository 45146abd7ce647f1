"""Pieces of device memory inside programs: temporaries while they run, and their code while they are loaded.

A device runs one program at a time, so the temporaries of a run are counted from its start to its last result, also
where runs are queued.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, replace

import numpy as np

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.write.costs.buffers import Executables
from framedex.index.write.costs.pieces import (
    END_CALL_JOIN,
    FOREVER,
    MAX_BYTES,
    OBJECTS_FROM,
    MemoryPieces,
    find_kinds_by_function,
    read_columns,
)
from framedex.index.write.programs import EXECUTE_FUNCTION
from framedex.index.write.tree import Integers


@dataclass(frozen=True, slots=True)
class _ProgramSizes:
    """The memory of the program of an executable in bytes, and the call that compiled or loaded it."""

    compile_call: int
    temporaries: int
    code: int


def _read_sizes(connection: sqlite3.Connection, capture: int) -> dict[int, _ProgramSizes]:
    """Return the reported sizes of a capture's programs, by executable."""
    query = (
        "SELECT executable, call, sizes FROM compilations"
        " WHERE capture = ? AND executable IS NOT NULL AND sizes IS NOT NULL"
    )
    found = {}
    for executable, call, text in connection.execute(query, (capture,)):
        sizes = json.loads(text)
        temporaries, code = (min(max(sizes.get(name, 0), 0), MAX_BYTES) for name in ("temporaries", "code"))
        if temporaries or code:
            found[executable] = _ProgramSizes(call, temporaries, code)
    return found


def add_program_pieces(connection: sqlite3.Connection, capture: int, pieces: MemoryPieces) -> MemoryPieces:
    """Add the temporaries of the runs and the code of the executables to the pieces of a capture.

    The devices of a run are those of its results, or the only device.
    """
    sizes = _read_sizes(connection, capture)
    if not sizes:
        return pieces
    rows = [*_iterate_runs(connection, capture, pieces, sizes), *_iterate_code(connection, capture, pieces, sizes)]
    if not rows:
        return pieces
    device, size, born, died, call, kind, program = read_columns(rows, 7)
    return replace(
        pieces,
        device=np.concatenate([pieces.device, device]),
        size=np.concatenate([pieces.size, size]),
        allocated_at=np.concatenate([pieces.allocated_at, born]),
        released_at=np.concatenate([pieces.released_at, died]),
        deleted_at=np.concatenate([pieces.deleted_at, died]),
        allocated_by=np.concatenate([pieces.allocated_by, call]),
        recorded_in=np.concatenate([pieces.recorded_in, call]),
        kind=np.concatenate([pieces.kind, kind]),
        program=np.concatenate([pieces.program, program]),
    )


_Row = tuple[int, int, int, int, int, int, int]


def _iterate_runs(
    connection: sqlite3.Connection, capture: int, pieces: MemoryPieces, sizes: dict[int, _ProgramSizes]
) -> list[_Row]:
    kinds = find_kinds_by_function(connection, capture, (EXECUTE_FUNCTION,))
    query = (
        "SELECT c.id, c.kind, c.start, c.duration, a.json FROM call_spans s"
        " CROSS JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = s.kind"
        f" CROSS JOIN arguments a ON a.id = c.arguments WHERE s.kind {IN_JSON} ORDER BY c.id"
    )
    executables = Executables(connection, capture)
    order = np.argsort(pieces.allocated_by, kind="stable")
    made = pieces.allocated_by[order]
    rows: list[_Row] = []
    for call, kind, start, duration, text in connection.execute(query, (json_list(kinds),)):
        known = sizes.get(executables.find(json.loads(text).get("executable"), start))
        if known is None or not known.temporaries:
            continue
        results = order[np.searchsorted(made, call) : np.searchsorted(made, call, side="right")]
        devices = np.unique(pieces.device[results]) if len(results) else np.arange(len(pieces.devices))
        if not len(results) and len(devices) > 1:
            continue
        end = max(start + max(duration, 0), int(np.max(pieces.allocated_at[results], initial=0))) + 1
        rows += [(device, known.temporaries, start, end, call, kind, known.compile_call) for device in devices.tolist()]
    return rows


def _iterate_code(
    connection: sqlite3.Connection, capture: int, pieces: MemoryPieces, sizes: dict[int, _ProgramSizes]
) -> list[_Row]:
    """Return the code of executables, on every device: the devices of one that never ran are unknown."""
    query = (
        f"SELECT o.id, o.born, coalesce(d.start, ?1), c.kind, c.id FROM {OBJECTS_FROM}"
        f" JOIN call_rows c ON c.id = o.created_call LEFT JOIN {END_CALL_JOIN}"
        " WHERE t.capture = ?2 AND t.name = 'loaded_executable'"
    )
    rows: list[_Row] = []
    for executable, born, died, kind, call in connection.execute(query, (int(FOREVER), capture)):
        known = sizes.get(executable)
        if known is not None and known.code:
            rows += [
                (device, known.code, born, died, call, kind, known.compile_call)
                for device in range(len(pieces.devices))
            ]
    return rows


def find_programs_of_runs(connection: sqlite3.Connection, capture: int, calls: Integers) -> dict[int, int]:
    """Return for each of these calls that runs an executable the call that compiled it, if known."""
    query = (
        "SELECT c.id, c.start, a.json FROM call_rows c JOIN arguments a ON a.id = c.arguments"
        f" WHERE c.id {IN_JSON} AND json_extract(a.json, '$.executable') IS NOT NULL"
    )
    executables = Executables(connection, capture)
    compiled_by = dict(
        connection.execute(
            "SELECT executable, call FROM compilations WHERE capture = ? AND executable IS NOT NULL", (capture,)
        )
    )
    found = {}
    for call, start, text in connection.execute(query, (json_list(calls.tolist()),)):
        program = compiled_by.get(executables.find(json.loads(text)["executable"], start))
        if program is not None:
            found[call] = program
    return found
