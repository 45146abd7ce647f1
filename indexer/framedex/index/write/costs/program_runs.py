"""Pieces of device memory inside programs: temporaries while they run, and their code while they are loaded.

A device runs one program at a time. So the temporaries of a run count from its start to its last result, even if runs
are queued.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, replace

import numpy as np

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.write.bulk_rows import Integers
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

    A run uses the devices of its results, or the only device.
    """
    sizes = _read_sizes(connection, capture)
    if not sizes:
        return pieces
    code = read_columns(_iterate_code(connection, capture, pieces, sizes), _COLUMNS)
    runs = _find_temporaries(_read_runs(connection, capture, sizes), pieces)
    device, size, born, died, call, kind, program = (np.concatenate(pair) for pair in zip(code, runs, strict=True))
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


_COLUMNS = 7
_Row = tuple[int, int, int, int, int, int, int]
"""A piece: device, bytes, times of allocation and release, call, its kind, and the compile call of its program."""


def _read_runs(
    connection: sqlite3.Connection, capture: int, sizes: dict[int, _ProgramSizes]
) -> list[tuple[int, int, int, int, int, int]]:
    """Return the runs of programs with temporaries: call, kind, start, duration, temporaries and compile call.

    A kind of calls usually runs one executable. If it runs several, the arguments of each call are read.
    """
    successful = find_kinds_by_function(connection, capture, (EXECUTE_FUNCTION,))
    executables_of_kind: dict[int, set[int]] = {}
    query = "SELECT kind, executable FROM executions WHERE capture = ? AND calls > 0"
    for kind, executable in connection.execute(query, (capture,)):
        executables_of_kind.setdefault(kind, set()).add(executable)
    executables = Executables(connection, capture)
    runs = []
    for kind in successful.keys() & executables_of_kind.keys():
        of_kind = executables_of_kind[kind]
        known = [sizes[executable] for executable in of_kind if executable in sizes and sizes[executable].temporaries]
        if not known:
            continue
        arguments = "" if len(of_kind) == 1 else "JOIN arguments a ON a.id = c.arguments"
        query = (
            f"SELECT c.id, c.start, c.duration, {'a.json' if arguments else 'NULL'} FROM call_spans s"
            f" CROSS JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = s.kind {arguments}"
            " WHERE s.kind = ?"
        )
        for call, start, duration, text in connection.execute(query, (kind,)):
            program = known[0] if text is None else sizes.get(executables.find_run(text, start))
            if program is not None and program.temporaries:
                runs.append((call, kind, start, max(duration, 0), program.temporaries, program.compile_call))
    return runs


def _find_temporaries(runs: list[tuple[int, int, int, int, int, int]], pieces: MemoryPieces) -> list[Integers]:
    """Return the temporaries of runs in columns, as in `_Row`."""
    call, kind, start, duration, size, program = read_columns(runs, 6)
    order = np.argsort(pieces.allocated_by, kind="stable")
    allocated_by = pieces.allocated_by[order]
    begin, end = (np.searchsorted(allocated_by, call, side=side) for side in ("left", "right"))
    counts = end - begin
    # the results of all runs, one after another, each with the number of its run
    run = np.repeat(np.arange(len(call)), counts)
    result = order[np.arange(len(run)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(begin, counts)]
    last = start + duration
    np.maximum.at(last, run, pieces.allocated_at[result])
    places = run * len(pieces.devices) + pieces.device[result]
    if len(pieces.devices) == 1:  # also of the runs without a result
        places = np.arange(len(call))
    run, device = np.divmod(np.unique(places), len(pieces.devices))
    return [device, size[run], start[run], last[run] + 1, call[run], kind[run], program[run]]


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
    query = f"SELECT c.id, c.start, a.json FROM call_rows c JOIN arguments a ON a.id = c.arguments WHERE c.id {IN_JSON}"
    executables = Executables(connection, capture)
    compiled_by = dict(
        connection.execute(
            "SELECT executable, call FROM compilations WHERE capture = ? AND executable IS NOT NULL", (capture,)
        )
    )
    found = {}
    for call, start, text in connection.execute(query, (build_json_list(calls.tolist()),)):
        program = compiled_by.get(executables.find_run(text, start))
        if program is not None:
            found[call] = program
    return found
