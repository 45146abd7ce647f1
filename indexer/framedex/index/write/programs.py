"""Write the programs that a capture's calls compiled, and the totals of the runs of their executables."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict

import numpy as np

from framedex.index.file.values import to_storable
from framedex.index.write.bulk_rows import Integers
from framedex.index.write.calls import CallWriter
from framedex.index.write.own_lines import find_own_lines
from framedex.index.write.program_frames import OPS_OF_PROGRAM, ProgramFrameWriter
from framedex.index.write.program_memory import delete_unused_memory, intern_program_memory, read_program_sizes
from framedex.index.write.records import CaptureRecord, StoredProgram
from framedex.model import CallBatch, Program, ProgramFrame, ProgramOp
from framedex.programs.objects.table import parse_address

COMPILE_FUNCTIONS = frozenset({"PJRT_Client_Compile", "PJRT_Compile"})
"""Functions that compile a program to an executable."""

LOAD_FUNCTIONS = frozenset({"PJRT_Executable_DeserializeAndLoad", "PJRT_Client_Load"})
"""Functions that create an executable without a program."""

EXECUTE_FUNCTION = "PJRT_LoadedExecutable_Execute"

MAX_ROWS = 20_000
"""The maximum number of stored lines and steps of one program: those with the most ops."""

_EXECUTABLE = "loaded_executable"
_NOT_KEPT_PREFIX = "not kept: "
EXECUTABLE_ADDRESS = re.compile(r'"executable": "(0x[0-9a-f]+)"')
_LOADED_PROBLEM = "it was loaded as an executable, from a compilation cache or a file, without its program"
_OLD_RECORDING_PROBLEM = "the recording has no programs"
_MISSING_FILE_PROBLEM = "its file in the capture is missing or was changed"


class ProgramWriter:
    """Writes the compilations of one capture and the runs of their executables. Its calls begin at the id `first`."""

    def __init__(self, connection: sqlite3.Connection, capture: int, first: int, record: CaptureRecord) -> None:
        self._connection = connection
        self._capture = capture
        self._first = first
        self._record = record
        self._function_names: list[str] = []  # the boundary function of each kind of the stream
        self._executable_addresses: dict[int, int] = {}  # executables by the number of a run's arguments
        self._argument_count = 0  # arguments of the stream so far
        self._text_ids: dict[str, int | None] = {}  # rows of `compile_texts`, by the name in the capture
        self._executables_by_address: dict[int, dict[int, int]] = {}  # address -> {creation time: object}
        self._frames = ProgramFrameWriter(connection, record)
        self._read_executables()

    def register_batch(self, batch: CallBatch) -> None:
        """Remember the kinds and arguments of a batch, because later batches refer to them."""
        self._function_names += [self._record.capture.functions[kind.function].name for kind in batch.kinds]
        self._register_arguments(batch)

    def extend(self, record: CaptureRecord) -> None:
        """Continue with a capture that has more functions."""
        self._record = record
        self._frames = ProgramFrameWriter(self._connection, record)

    def add(self, batch: CallBatch, kinds: Integers, calls: CallWriter) -> None:
        """Write the programs of a batch, whose calls and objects must be written.

        `kinds` are the kinds of its calls.
        """
        self.register_batch(batch)
        functions = np.array([_FUNCTION_ROLES.get(name, 0) for name in self._function_names], np.int64)
        of_call = functions[batch.kind]
        for row in np.flatnonzero(of_call == _COMPILING).tolist():
            self._add_compilation(self._first + batch.first + row, self._function_names[int(batch.kind[row])])
        self._register_executables(batch)
        self._add_runs(batch, kinds, np.flatnonzero(of_call == _RUNNING))
        for row, stream_kind, duration, argument in batch.changed.tolist():
            if functions[stream_kind] == _RUNNING:
                self._update_returned_run(self._first + row, calls.find_kind_id(stream_kind), duration, argument)

    # Compilations

    def _add_compilation(self, call: int, function: str) -> None:
        query = "SELECT a.json FROM call_rows c JOIN arguments a ON a.id = c.arguments WHERE c.id = ?"
        (arguments_json,) = self._connection.execute(query, (call,)).fetchone()
        program, problem = (None, _LOADED_PROBLEM) if function in LOAD_FUNCTIONS else self._find_program(arguments_json)
        options = self._intern_stored_text(
            _read_string_argument(arguments_json, "compile_options.kept"), self._record.options
        )
        note = self._intern_stored_text(_read_string_argument(arguments_json, "jax.kept"), self._record.note)
        self._connection.execute(
            "INSERT OR IGNORE INTO compilations(call, capture, program, executable, options, noted, problem, sizes,"
            " memory) VALUES (?, ?, ?, NULL, ?, ?, ?, ?, ?)",
            (
                *(call, self._capture, program, options, note, problem),
                read_program_sizes(_read_string_argument(arguments_json, "memory")),
                self._find_memory(arguments_json),
            ),
        )
        self._connection.execute(
            "UPDATE programs SET run = max(run, (SELECT run FROM captures WHERE id = ?)) WHERE id = ?",
            (self._capture, program),
        )

    def _find_memory(self, arguments_json: str) -> int | None:
        """Return the row of the memory inside the program that a call created; None if unknown."""
        name = _read_string_argument(arguments_json, "optimized.kept")
        kept = None if name is None else self._record.memory(name)
        return None if kept is None else intern_program_memory(self._connection, self._frames, kept)

    def _intern_stored_text(self, name: str | None, read: Callable[[str], str | None]) -> int | None:
        """Return the row of the text that the capture stores under this name; None if missing."""
        if name is None:
            return None
        if name not in self._text_ids:
            self._text_ids[name] = self._intern_text(read(name))
        return self._text_ids[name]

    def _intern_text(self, text: str | None) -> int | None:
        if text is None:
            return None
        self._connection.execute("INSERT OR IGNORE INTO compile_texts(text) VALUES (?)", (to_storable(text),))
        query = "SELECT id FROM compile_texts WHERE text = ?"
        return int(self._connection.execute(query, (to_storable(text),)).fetchone()[0])

    def _find_program(self, arguments_json: str) -> tuple[int | None, str]:
        """Return the row of the program passed to a call, or the reason why it is missing."""
        name = _read_string_argument(arguments_json, "program.kept")
        if name is None:
            return None, _OLD_RECORDING_PROBLEM
        if name.startswith(_NOT_KEPT_PREFIX):
            return None, f"it was {name}"
        kept_program = self._record.program(name)
        return (None, _MISSING_FILE_PROBLEM) if kept_program is None else (self._intern_program(kept_program), "")

    def _intern_program(self, kept_program: StoredProgram) -> int:
        known = self._connection.execute("SELECT id FROM programs WHERE digest = ?", (kept_program.digest,)).fetchone()
        if known is not None:
            self._frames.store_versions(OPS_OF_PROGRAM, int(known[0]))
            return int(known[0])
        program = kept_program.read()
        dropped = max(0, len({(op.frames[0], op.kind, op.name) for op in program.ops if op.frames}) - MAX_ROWS)
        problem = program.problem or (f"{dropped:,} of its lines with the fewest ops are left out" if dropped else "")
        row = self._connection.execute(
            "INSERT INTO programs(digest, name, function, defined, signature, size, ops, problem, run)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (
                kept_program.digest,
                to_storable(program.name),
                to_storable(program.function),
                to_storable(program.defined),
                None if program.signature is None else to_storable(json.dumps(asdict(program.signature))),
                kept_program.size,
                sum(program.ops.values()),
                problem,
            ),
        ).lastrowid
        assert row is not None
        self._add_lines(row, program)
        self._add_own_lines(row, program)
        self._frames.store_versions(OPS_OF_PROGRAM, row)
        return row

    def _add_lines(self, program: int, content: Program) -> None:
        lines: Counter[tuple[ProgramFrame, ProgramOp]] = Counter()
        steps: Counter[tuple[ProgramFrame, ProgramFrame]] = Counter()
        for op, count in content.ops.items():
            frames = op.frames
            if frames:
                lines[frames[0], ProgramOp(op.kind, op.name, ())] += count
            for pair in dict.fromkeys(zip(frames[1:], frames, strict=False)):
                steps[pair] += count
        most_lines, most_steps = lines.most_common(MAX_ROWS), steps.most_common(MAX_ROWS)
        frames_of = self._frames.intern(
            {frame for (frame, _), _ in most_lines} | {f for pair, _ in most_steps for f in pair}
        )
        ops = self._intern_ops({op for (_, op), _ in most_lines})
        self._connection.executemany(
            "INSERT OR IGNORE INTO program_lines(frame, program, op, ops) VALUES (?, ?, ?, ?)",
            [(frames_of[frame], program, ops[op], count) for (frame, op), count in most_lines],
        )
        self._connection.executemany(
            "INSERT OR IGNORE INTO program_steps(origin, target, program, ops) VALUES (?, ?, ?, ?)",
            [(frames_of[origin], frames_of[target], program, count) for (origin, target), count in most_steps],
        )

    def _add_own_lines(self, program: int, content: Program) -> None:
        lines = sorted(find_own_lines(content.ops), key=lambda line: -max(line.ops, line.repeated_ops))[:MAX_ROWS]
        frames_of = self._frames.intern({line.frame for line in lines})
        self._connection.executemany(
            "INSERT OR IGNORE INTO program_own_lines(frame, program, ops, repeats, repeated_ops)"
            " VALUES (?, ?, ?, ?, ?)",
            [(frames_of[line.frame], program, *line[1:]) for line in lines],
        )

    def _intern_ops(self, ops: Iterable[ProgramOp]) -> dict[ProgramOp, int]:
        keys = {op: (to_storable(op.name), to_storable(op.kind)) for op in ops}
        insert = "INSERT OR IGNORE INTO program_ops(name, kind) VALUES (?, ?)"
        self._connection.executemany(insert, sorted(set(keys.values())))
        query = "SELECT id FROM program_ops WHERE name = ? AND kind = ?"
        return {op: self._connection.execute(query, key).fetchone()[0] for op, key in keys.items()}

    # Executables and their runs

    def _read_executables(self) -> None:
        """Read the executables of the written batches."""
        query = "SELECT born, id, address FROM objects WHERE capture = ? AND type = ?"
        for born, identifier, address in self._connection.execute(query, (self._capture, _EXECUTABLE)):
            self._executables_by_address.setdefault(address, {})[born] = identifier

    def _register_arguments(self, batch: CallBatch) -> None:
        """Read the executables from the new arguments of runs."""
        runs = np.array([name == EXECUTE_FUNCTION for name in self._function_names], bool)
        if len(batch.arguments) and runs.any():
            new = np.unique(batch.argument[runs[batch.kind]]) - self._argument_count
            for number in new[new >= 0].tolist():
                if (found := EXECUTABLE_ADDRESS.search(batch.arguments[number])) is not None:
                    self._executable_addresses[self._argument_count + number] = parse_address(found[1])
        self._argument_count += len(batch.arguments)

    def _register_executables(self, batch: CallBatch) -> None:
        """Read the new executables and assign them to their compilations."""
        objects = batch.objects
        if _EXECUTABLE not in batch.types or not len(objects.place):
            return
        of_type = np.flatnonzero(objects.type == batch.types.index(_EXECUTABLE))
        for position in of_type.tolist():
            address, born = int(objects.address[position]), int(objects.born[position])
            known = self._executables_by_address.setdefault(address, {})
            if born not in known:
                query = (
                    "SELECT o.id FROM object_rows o JOIN object_types t ON t.id = o.type"
                    " WHERE o.address = ? AND o.born = ? AND t.capture = ? AND t.name = ?"
                )
                row = self._connection.execute(query, (address, born, self._capture, _EXECUTABLE)).fetchone()
                if row is None:
                    continue
                known[born] = row[0]
            created = int(objects.created_call[position])
            if created >= 0:
                self._connection.execute(
                    "UPDATE compilations SET executable = ? WHERE call = ?", (known[born], self._first + created)
                )

    def _add_runs(self, batch: CallBatch, kinds: Integers, rows: Integers) -> None:
        found: dict[tuple[int, int], list[int]] = {}
        for row, executable in self._find_executables(batch, rows):
            total = found.setdefault((executable, int(kinds[row])), [0, 0, 0])
            total[0] += 1
            total[1] += max(int(batch.duration[row]), 0)
            total[2] = self._first + batch.first + row
        for (executable, kind), (calls, duration, latest) in found.items():
            self._add_to_executions(executable, kind, calls, duration, latest)

    def _find_executables(self, batch: CallBatch, rows: Integers) -> Iterator[tuple[int, int]]:
        """Yield each of these runs that has a known executable, with the executable."""
        starts, arguments = batch.start[rows].tolist(), batch.argument[rows].tolist()
        for row, start, argument in zip(rows.tolist(), starts, arguments, strict=True):
            executable = self._find_executable(self._executable_addresses.get(argument, 0), start)
            if executable is not None:
                yield row, executable

    def _find_executable(self, address: int, time: int) -> int | None:
        """Return the executable at an address: the last one created by this time."""
        made = self._executables_by_address.get(address)
        if not made:
            return None
        return made[max((born for born in made if born <= time), default=min(made))]

    def _add_to_executions(self, executable: int, kind: int, calls: int, duration: int, latest: int) -> None:
        self._connection.execute(
            "INSERT INTO executions(executable, kind, capture, calls, duration, latest_call) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, duration = duration + excluded.duration,"
            " latest_call = max(latest_call, excluded.latest_call)",
            (executable, kind, self._capture, calls, duration, latest),
        )

    def _update_returned_run(self, call: int, kind: int, duration: int, argument: int) -> None:
        """Count a run of an earlier batch, which has returned since, under its new kind."""
        (start,) = self._connection.execute("SELECT start FROM call_rows WHERE id = ?", (call,)).fetchone()
        executable = self._find_executable(self._executable_addresses.get(argument, 0), start)
        if executable is None:
            return
        unreturned = self._connection.execute(
            "SELECT o.id FROM call_kinds k JOIN call_kinds o ON o.stack = k.stack AND o.boundary = k.boundary"
            " AND o.thread = k.thread AND o.capture = k.capture AND o.error = -1 WHERE k.id = ?",
            (kind,),
        ).fetchone()
        if unreturned is not None:
            self._add_to_executions(executable, unreturned[0], -1, 0, 0)
        self._add_to_executions(executable, kind, 1, duration, call)


def delete_programs(connection: sqlite3.Connection, capture: int) -> None:
    """Remove the compilations and executions of a capture. The programs stay until `drop_unused_programs`."""
    for table in ("compilations", "executions"):
        connection.execute(f"DELETE FROM {table} WHERE capture = ?", (capture,))


def delete_unused_programs(connection: sqlite3.Connection) -> None:
    """Remove the programs without a compilation, with their lines, ops and texts."""
    connection.execute(
        "DELETE FROM programs WHERE id NOT IN (SELECT program FROM compilations WHERE program IS NOT NULL)"
    )
    texts = " UNION ".join(f"SELECT {of} FROM compilations WHERE {of} IS NOT NULL" for of in ("options", "noted"))
    connection.execute(f"DELETE FROM compile_texts WHERE id NOT IN ({texts})")
    for table in ("program_lines", "program_own_lines", "program_steps"):
        connection.execute(f"DELETE FROM {table} WHERE program NOT IN (SELECT id FROM programs)")
    delete_unused_memory(connection)
    connection.execute("DELETE FROM program_ops WHERE id NOT IN (SELECT op FROM program_lines)")
    connection.execute(
        "DELETE FROM program_frames WHERE id NOT IN (SELECT frame FROM program_lines UNION"
        " SELECT frame FROM program_own_lines UNION SELECT origin FROM program_steps UNION"
        " SELECT target FROM program_steps UNION"
        " SELECT frame FROM program_buffer_lines WHERE frame IS NOT NULL UNION"
        " SELECT frame FROM program_collectives WHERE frame IS NOT NULL UNION"
        " SELECT frame FROM program_fusion_lines)"
    )


_COMPILING, _RUNNING = 1, 2
_FUNCTION_ROLES = dict.fromkeys(COMPILE_FUNCTIONS | LOAD_FUNCTIONS, _COMPILING) | {EXECUTE_FUNCTION: _RUNNING}


def _read_string_argument(text: str, name: str) -> str | None:
    """Return a string value from the JSON arguments of a call; None if missing."""
    try:
        value = json.loads(text).get(name)
    except (ValueError, AttributeError):
        return None
    return value if isinstance(value, str) else None
