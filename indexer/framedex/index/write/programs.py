"""Write the programs that a capture's calls compiled, and the totals of the runs of their executables."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict

import numpy as np

from framedex.index.file.installed import is_own
from framedex.index.file.values import storable
from framedex.index.write.calls import CallWriter
from framedex.index.write.interning import file_ids
from framedex.index.write.records import CaptureRecord, KeptProgram
from framedex.index.write.tree import Integers
from framedex.index.write.versions import version_of
from framedex.model import CallBatch, Program, ProgramFrame, ProgramOp
from framedex.objects.table import address_of

COMPILES = frozenset({"PJRT_Client_Compile", "PJRT_Compile"})
"""Functions that compile a program to an executable."""

LOADS = frozenset({"PJRT_Executable_DeserializeAndLoad", "PJRT_Client_Load"})
"""Functions that create an executable without a program."""

RUNS = "PJRT_LoadedExecutable_Execute"

MOST_ROWS = 20_000
"""The maximum number of lines with an op, and of neighbours, kept of one program: those with most ops."""

_EXECUTABLE = "loaded_executable"
_NOT_KEPT = "not kept: "
_ADDRESS = re.compile(r'"executable": "(0x[0-9a-f]+)"')
_NO_PROGRAM = "it was loaded as an executable, from a compilation cache for example: no program was passed"
_OLDER = "its recording kept no programs"
_NOT_THERE = "the capture's file of it is not there, or not as it was written"


class ProgramWriter:
    """Writes the compilations of one capture and the runs of their executables. Its calls begin at the id `first`."""

    def __init__(self, connection: sqlite3.Connection, capture: int, first: int, record: CaptureRecord) -> None:
        self._connection = connection
        self._capture = capture
        self._first = first
        self._record = record
        self._functions: list[str] = []  # the boundary function of each kind of the stream
        self._addresses: dict[int, int] = {}  # executables by the number of a run's arguments
        self._arguments = 0  # the number of arguments read
        self._texts: dict[str, int | None] = {}  # rows of the texts kept beside programs, by their names in the capture
        self._made: dict[int, dict[int, int]] = {}  # executables by address: object by creation time
        self._restore()

    def meet(self, batch: CallBatch) -> None:
        """Read the data of a written batch that later batches refer to."""
        self._functions += [self._record.capture.functions[kind.function].name for kind in batch.kinds]
        self._meet_arguments(batch)

    def extend(self, record: CaptureRecord) -> None:
        """Continue with a capture that has more functions."""
        self._record = record

    def add(self, batch: CallBatch, kinds: Integers, calls: CallWriter) -> None:
        """Write the programs of a batch, whose calls and objects must be written.

        `kinds` are the kinds of its calls.
        """
        self.meet(batch)
        functions = np.array([_MEANING.get(name, 0) for name in self._functions], np.int64)
        of_call = functions[batch.kind]
        for row in np.flatnonzero(of_call == _COMPILING).tolist():
            self._add_compilation(self._first + batch.first + row, self._functions[int(batch.kind[row])])
        self._meet_executables(batch)
        self._add_runs(batch, kinds, np.flatnonzero(of_call == _RUNNING))
        for row, stream_kind, duration, argument in batch.changed.tolist():
            if functions[stream_kind] == _RUNNING:
                self._change(self._first + row, calls.kind_of(stream_kind), duration, argument)

    # Compilations

    def _add_compilation(self, call: int, function: str) -> None:
        query = "SELECT a.json FROM call_rows c JOIN arguments a ON a.id = c.arguments WHERE c.id = ?"
        (given,) = self._connection.execute(query, (call,)).fetchone()
        program, problem = (None, _NO_PROGRAM) if function in LOADS else self._program_of(given)
        options = self._text(_value(given, "compile_options.kept"), self._record.options)
        noted = self._text(_value(given, "jax.kept"), self._record.note)
        self._connection.execute(
            "INSERT OR IGNORE INTO compilations(call, capture, program, executable, options, noted, problem)"
            " VALUES (?, ?, ?, NULL, ?, ?, ?)",
            (call, self._capture, program, options, noted, problem),
        )

    def _text(self, name: str | None, read: Callable[[str], str | None]) -> int | None:
        """Return the row of the text kept under a name beside a program; None if missing."""
        if name is None:
            return None
        if name not in self._texts:
            self._texts[name] = self._add_text(read(name))
        return self._texts[name]

    def _add_text(self, text: str | None) -> int | None:
        if text is None:
            return None
        self._connection.execute("INSERT OR IGNORE INTO compile_texts(text) VALUES (?)", (storable(text),))
        query = "SELECT id FROM compile_texts WHERE text = ?"
        return int(self._connection.execute(query, (storable(text),)).fetchone()[0])

    def _program_of(self, given: str) -> tuple[int | None, str]:
        """Return the row of the program passed to a call, or the reason why it is missing."""
        name = _value(given, "program.kept")
        if name is None:
            return None, _OLDER
        if name.startswith(_NOT_KEPT):
            return None, f"it was {name}"
        kept = self._record.program(name)
        return (None, _NOT_THERE) if kept is None else (self._program(kept), "")

    def _program(self, kept: KeptProgram) -> int:
        known = self._connection.execute("SELECT id FROM programs WHERE digest = ?", (kept.digest,)).fetchone()
        if known is not None:
            self._look_at_files(known[0])
            return int(known[0])
        program = kept.read()
        cut = max(0, len({(op.frames[0], op.kind, op.name) for op in program.ops if op.frames}) - MOST_ROWS)
        problem = program.problem or (f"{cut:,} of its lines with few ops are left out" if cut else "")
        row = self._connection.execute(
            "INSERT INTO programs(digest, name, function, defined, signature, size, ops, problem)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                kept.digest,
                storable(program.name),
                storable(program.function),
                storable(program.defined),
                None if program.signature is None else storable(json.dumps(asdict(program.signature))),
                kept.size,
                sum(program.ops.values()),
                problem,
            ),
        ).lastrowid
        assert row is not None
        self._add_lines(row, program)
        self._look_at_files(row)
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
        most_lines, most_steps = lines.most_common(MOST_ROWS), steps.most_common(MOST_ROWS)
        frames_of = self._frame_ids(
            {frame for (frame, _), _ in most_lines} | {f for pair, _ in most_steps for f in pair}
        )
        ops = self._op_ids({op for (_, op), _ in most_lines})
        self._connection.executemany(
            "INSERT OR IGNORE INTO program_lines(frame, program, op, ops) VALUES (?, ?, ?, ?)",
            [(frames_of[frame], program, ops[op], count) for (frame, op), count in most_lines],
        )
        self._connection.executemany(
            "INSERT OR IGNORE INTO program_steps(origin, target, program, ops) VALUES (?, ?, ?, ?)",
            [(frames_of[origin], frames_of[target], program, count) for (origin, target), count in most_steps],
        )

    def _frame_ids(self, frames: Iterable[ProgramFrame]) -> dict[ProgramFrame, int]:
        wanted = {frame: storable(frame.path) for frame in frames}
        files = file_ids(self._connection, wanted.values())
        keys = {frame: (files[path], frame.line, storable(frame.function)) for frame, path in wanted.items()}
        ids = {key: self._frame_id(*key) for key in sorted(set(keys.values()))}
        return {frame: ids[key] for frame, key in keys.items()}

    def _frame_id(
        self, file: int, line: int, function: str, place: int | None = None, version: int | None = None
    ) -> int:
        """Return the row of a line in one state of its file, adding it if missing; `place` is the local file.

        Without `place`, a row in any state counts, and a new row gets the recorded file.
        """
        query = "SELECT id FROM program_frames WHERE recorded_file = ? AND line = ? AND function = ?"
        of_state = "" if place is None else f" AND version IS {'NULL' if version is None else version}"
        known = self._connection.execute(query + of_state, (file, line, function)).fetchone()
        if known is not None:
            return int(known[0])
        added = self._connection.execute(
            "INSERT INTO program_frames(recorded_file, line, function, file, version) VALUES (?, ?, ?, ?, ?)",
            (file, line, function, file if place is None else place, version),
        ).lastrowid
        assert added is not None
        return added

    def _op_ids(self, ops: Iterable[ProgramOp]) -> dict[ProgramOp, int]:
        keys = {op: (storable(op.name), storable(op.kind)) for op in ops}
        insert = "INSERT OR IGNORE INTO program_ops(name, kind) VALUES (?, ?)"
        self._connection.executemany(insert, sorted(set(keys.values())))
        query = "SELECT id FROM program_ops WHERE name = ? AND kind = ?"
        return {op: self._connection.execute(query, key).fetchone()[0] for op, key in keys.items()}

    def _look_at_files(self, program: int) -> None:
        """Store the state of the files that a program names, because its lines refer to that state."""
        frames = (
            "SELECT frame FROM program_lines WHERE program = ?1 UNION SELECT origin FROM program_steps"
            " WHERE program = ?1"
        )
        files = self._connection.execute(
            "SELECT DISTINCT fr.file, f.path, fr.recorded_file, r.path FROM program_frames fr"
            f" JOIN files f ON f.id = fr.file JOIN files r ON r.id = fr.recorded_file WHERE fr.id IN ({frames})",
            (program,),
        ).fetchall()
        for file, path, recorded, recorded_path in files:
            if is_own(recorded_path):
                self._move_to_state(program, file, recorded, self._version(recorded, recorded_path))
            else:
                version = self._version(file, path)
                self._connection.execute(
                    f"UPDATE program_frames SET version = ?2 WHERE file = ?3 AND id IN ({frames})",
                    (program, version, file),
                )

    def _version(self, file: int, path: str) -> int | None:
        return version_of(self._connection, file, path, self._record.began, self._record.source(path))

    def _move_to_state(self, program: int, file: int, recorded: int, version: int | None) -> None:
        """Move the lines of a program to this state of a file. Lines of other programs stay unchanged."""
        ends = (("program_lines", "frame"), ("program_steps", "origin"), ("program_steps", "target"))
        moved = " UNION ".join(f"SELECT {column} FROM {table} WHERE program = ?1" for table, column in ends)
        others = self._connection.execute(
            "SELECT id, line, function FROM program_frames"
            f" WHERE id IN ({moved}) AND file = ?2 AND recorded_file = ?3 AND version IS NOT ?4",
            (program, file, recorded, version),
        ).fetchall()
        for frame, line, function in others:
            now = self._frame_id(recorded, line, function, file, version)
            for table, column in ends:
                self._connection.execute(
                    f"UPDATE {table} SET {column} = ? WHERE program = ? AND {column} = ?", (now, program, frame)
                )

    # Executables and their runs

    def _restore(self) -> None:
        """Load the executables of the written batches."""
        query = "SELECT born, id, address FROM objects WHERE capture = ? AND type = ?"
        for born, identifier, address in self._connection.execute(query, (self._capture, _EXECUTABLE)):
            self._made.setdefault(address, {})[born] = identifier

    def _meet_arguments(self, batch: CallBatch) -> None:
        """Read the executables from the new arguments of runs."""
        runs = np.array([name == RUNS for name in self._functions], bool)
        if len(batch.arguments) and runs.any():
            new = np.unique(batch.argument[runs[batch.kind]]) - self._arguments
            for number in new[new >= 0].tolist():
                if (found := _ADDRESS.search(batch.arguments[number])) is not None:
                    self._addresses[self._arguments + number] = address_of(found[1])
        self._arguments += len(batch.arguments)

    def _meet_executables(self, batch: CallBatch) -> None:
        """Read the new executables and assign them to their compilations."""
        objects = batch.objects
        if _EXECUTABLE not in batch.types or not len(objects.place):
            return
        of_type = np.flatnonzero(objects.type == batch.types.index(_EXECUTABLE))
        for place in of_type.tolist():
            address, born = int(objects.address[place]), int(objects.born[place])
            known = self._made.setdefault(address, {})
            if born not in known:
                query = (
                    "SELECT o.id FROM object_rows o JOIN object_types t ON t.id = o.type"
                    " WHERE o.address = ? AND o.born = ? AND t.capture = ? AND t.name = ?"
                )
                row = self._connection.execute(query, (address, born, self._capture, _EXECUTABLE)).fetchone()
                if row is None:
                    continue
                known[born] = row[0]
            created = int(objects.created_call[place])
            if created >= 0:
                self._connection.execute(
                    "UPDATE compilations SET executable = ? WHERE call = ?", (known[born], self._first + created)
                )

    def _add_runs(self, batch: CallBatch, kinds: Integers, rows: Integers) -> None:
        found: dict[tuple[int, int], list[int]] = {}
        for row, executable in self._executables(batch, rows):
            total = found.setdefault((executable, int(kinds[row])), [0, 0, 0])
            total[0] += 1
            total[1] += max(int(batch.duration[row]), 0)
            total[2] = self._first + batch.first + row
        for (executable, kind), (calls, duration, latest) in found.items():
            self._add_to_executions(executable, kind, calls, duration, latest)

    def _executables(self, batch: CallBatch, rows: Integers) -> Iterator[tuple[int, int]]:
        """Yield each of these runs that has a known executable, with the executable."""
        starts, arguments = batch.start[rows].tolist(), batch.argument[rows].tolist()
        for row, start, argument in zip(rows.tolist(), starts, arguments, strict=True):
            executable = self._executable(self._addresses.get(argument, 0), start)
            if executable is not None:
                yield row, executable

    def _executable(self, address: int, time: int) -> int | None:
        """Return the executable at an address: the last one created by this time."""
        made = self._made.get(address)
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

    def _change(self, call: int, kind: int, duration: int, argument: int) -> None:
        """Count a run of an earlier batch, which has returned since, under its new kind."""
        (start,) = self._connection.execute("SELECT start FROM call_rows WHERE id = ?", (call,)).fetchone()
        executable = self._executable(self._addresses.get(argument, 0), start)
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


def forget_programs(connection: sqlite3.Connection, capture: int) -> None:
    """Remove the compilations and executions of a capture. The programs stay until `drop_unused_programs`."""
    for table in ("compilations", "executions"):
        connection.execute(f"DELETE FROM {table} WHERE capture = ?", (capture,))


def drop_unused_programs(connection: sqlite3.Connection) -> None:
    """Remove the programs without a compilation, with their lines, ops and texts."""
    connection.execute(
        "DELETE FROM programs WHERE id NOT IN (SELECT program FROM compilations WHERE program IS NOT NULL)"
    )
    texts = " UNION ".join(f"SELECT {of} FROM compilations WHERE {of} IS NOT NULL" for of in ("options", "noted"))
    connection.execute(f"DELETE FROM compile_texts WHERE id NOT IN ({texts})")
    for table in ("program_lines", "program_steps"):
        connection.execute(f"DELETE FROM {table} WHERE program NOT IN (SELECT id FROM programs)")
    connection.execute("DELETE FROM program_ops WHERE id NOT IN (SELECT op FROM program_lines)")
    connection.execute(
        "DELETE FROM program_frames WHERE id NOT IN (SELECT frame FROM program_lines UNION"
        " SELECT origin FROM program_steps UNION SELECT target FROM program_steps)"
    )


_COMPILING, _RUNNING = 1, 2
_MEANING = dict.fromkeys(COMPILES | LOADS, _COMPILING) | {RUNS: _RUNNING}


def _value(text: str, name: str) -> str | None:
    """Return a string value from the JSON arguments of a call; None if missing."""
    try:
        value = json.loads(text).get(name)
    except (ValueError, AttributeError):
        return None
    return value if isinstance(value, str) else None
