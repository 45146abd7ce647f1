"""Compiled programs of a line: the programs with ops from it, and the programs that it ran."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from framedex.index.ask.call.python_lines import read_python_lines
from framedex.index.ask.line.stacks import read_longest_stacks_of_line
from framedex.index.file.conventions import IN_JSON, Row, build_json_list
from framedex.index.read.rows import Reader
from framedex.index.read.subjects import FileQuery, LineQuery
from framedex.model import (
    Compilation,
    LineFusion,
    LocationEvidence,
    ProgramLine,
    ProgramMark,
    ProgramRun,
    ProgramRuns,
    ProgramUse,
    PythonLine,
)
from framedex.model.programs import compute_share_by_line

MAX_USES = 20
"""Limit of program names per line, most runs first."""

MAX_PROGRAMS = 1_000
"""Maximum number of programs read per line; the latest are read."""

MAX_COMPILATIONS = 20
"""Limit of compilations reported per program name: the latest."""

MAX_FUSIONS = 20
"""Limit of fusions reported per program name: those with the most ops."""

MAX_LINES = 20
"""Limit of lines reported inside a program and among its neighbours."""

MAX_STACKS = 500
"""Limit of stacks through a line whose programs are reported, longest duration first."""

_LOCATION_COLUMNS = "f.path, fr.line, v.modified, v.size, v.blob"
_LOCATION_JOINS = "JOIN files f ON f.id = fr.file LEFT JOIN file_versions v ON v.id = fr.version"
_HELPER_OPS = {
    "constant",
    "broadcast_in_dim",
    "convert",
    "reshape",
}  # sorted last: they only prepare values for other ops


def find_program_uses(line: LineQuery) -> list[ProgramUse]:
    """Return the programs with ops from the line, or from functions that it called; most runs first."""
    frames = _find_frames(line)
    if not frames:
        return []
    programs = _find_programs(line.reader, [frame for frame, _ in frames], line.capture)
    by_name: dict[str, list[int]] = {}
    for program, name in programs:
        by_name.setdefault(name, []).append(program)
    found = (_build_use(line, name, numbers, frames) for name, numbers in by_name.items())
    uses = [use for use in found if use.ops or use.inward]
    return sorted(uses, key=lambda use: (not use.ops, -use.calls, use.name))[:MAX_USES]


def read_program_marks(file: FileQuery) -> list[ProgramMark]:
    """Return the lines of the current file with ops in compiled programs; deleted lines are left out."""
    ops: Counter[int] = Counter()
    names: dict[int, set[str]] = {}
    for state in file.states():
        rows = file.reader.rows(
            "SELECT fr.line, sum(l.ops), json_group_array(DISTINCT p.name) FROM program_frames fr"
            f" JOIN program_lines l ON l.frame = fr.id JOIN programs p ON p.id = l.program"
            f" WHERE {file.build_state_condition('fr', state)}"
            " AND EXISTS (SELECT 1 FROM compilations c"
            f" WHERE c.program = p.id{file.reader.scope.build_capture_condition('c')})"
            " GROUP BY fr.line"
        )
        for recorded_line, line_ops, programs in rows:
            if (line := state.to_current(recorded_line)) is not None:
                ops[line] += line_ops
                names.setdefault(line, set()).update(json.loads(programs))
    return [ProgramMark(line, ops[line], tuple(sorted(names[line]))) for line in sorted(names)]


def read_programs_run(line: LineQuery) -> list[ProgramRun]:
    """Return the programs that calls through the line ran or compiled, longest total duration first."""
    reader = line.reader
    hits = read_longest_stacks_of_line(line, MAX_STACKS)
    stacks = sorted({hit.stack for hit in hits})
    counted = reader.scope.build_capture_condition("k", line.capture)
    ran = reader.rows(
        "SELECT p.id, p.name, c.problem, sum(e.calls), sum(e.duration), max(e.latest_call) FROM call_kinds k"
        " CROSS JOIN executions e ON e.kind = k.id JOIN compilations c ON c.executable = e.executable"
        f" LEFT JOIN programs p ON p.id = c.program WHERE k.stack {IN_JSON}{counted}"
        " GROUP BY c.call",
        build_json_list(stacks),
    )
    compiled = reader.rows(
        "SELECT p.id, p.name, c.problem, c.call FROM call_kinds k JOIN call_spans s ON s.kind = k.id"
        " CROSS JOIN compilations c ON c.call BETWEEN s.first_call AND s.last_call"
        " CROSS JOIN call_rows r ON r.id = c.call AND r.kind = k.id"
        f" LEFT JOIN programs p ON p.id = c.program WHERE k.stack {IN_JSON}{counted}",
        build_json_list(stacks),
    )
    return _group_runs(line, ran, compiled)


def _group_runs(line: LineQuery, ran: Sequence[Row], compiled: Sequence[Row]) -> list[ProgramRun]:
    found: dict[tuple[str, str], list[int]] = {}
    programs: dict[tuple[str, str], set[int]] = {}
    rows = [(*row, 0) for row in ran] + [(*row[:3], 0, 0, row[3], 1) for row in compiled]
    for program, name, problem, *numbers in rows:
        key = name or "", problem
        total = found.setdefault(key, [0, 0, 0, 0])
        for place, number in enumerate(numbers):
            total[place] = max(total[place], number) if place == 2 else total[place] + number
        programs.setdefault(key, set()).update({program} - {None})
    runs = [
        ProgramRun(
            name=name,
            compiled=total[3],
            calls=total[0],
            total_duration=total[1],
            latest_call=total[2],
            lines=tuple(_find_lines_inside(line, programs[name, problem])),
            problem=problem,
        )
        for (name, problem), total in found.items()
    ]
    return sorted(runs, key=lambda run: (-run.total_duration, -run.calls, run.name))


def _find_frames(line: LineQuery) -> list[tuple[int, str]]:
    """Return (program frame, function) for the line, or for the other lines of its statement if it has none."""
    own = _read_frames(line, line.condition("fr"))
    file = line.reader.cache.find_file(line.path)
    if own or file is None or line.reader.row("SELECT 1 FROM program_frames WHERE file = ? LIMIT 1", line.id) is None:
        return own
    around = line.reader.statements.lines_of_statements(file, line.line, lambda: "")
    return _read_frames(line, line.build_lines_condition("fr", around))


def _read_frames(line: LineQuery, condition: str) -> list[tuple[int, str]]:
    query = f"SELECT fr.id, fr.function FROM program_frames fr WHERE {condition}"
    return [(frame, function) for frame, function in line.reader.rows(query)]


def _find_programs(reader: Reader, frames: Sequence[int], capture: int | None) -> list[tuple[int, str]]:
    """Return (program, name) of the programs with these frames, the latest first."""
    counted = reader.scope.build_capture_condition("c", capture)
    rows = reader.rows(
        "SELECT p.id, p.name FROM (SELECT program FROM program_lines WHERE frame IN (SELECT value FROM json_each(?1))"
        " UNION SELECT program FROM program_steps WHERE origin IN (SELECT value FROM json_each(?1))) n"
        " JOIN programs p ON p.id = n.program"
        f" WHERE EXISTS (SELECT 1 FROM compilations c WHERE c.program = p.id{counted})"
        " ORDER BY p.id DESC LIMIT ?",
        build_json_list(frames),
        MAX_PROGRAMS,
    )
    return [(program, name) for program, name in rows]


def _build_use(line: LineQuery, name: str, programs: Sequence[int], on_line: Sequence[tuple[int, str]]) -> ProgramUse:
    reader, program_ids = line.reader, build_json_list(programs)
    compiled, calls = _read_compilations(reader, programs, line.capture)
    outside = _find_functions_outside(line, [each.call for each in calls])
    # A lambda can share a line with its call, and only the lambda is inside the program. Old JAX releases record no
    # function names.
    inside = [frame for frame, function in on_line if not outside or (function and function not in outside)]
    frames = inside or [frame for frame, _ in on_line]
    here = build_json_list(frames)
    ops = reader.rows(
        "SELECT o.kind, o.name, sum(l.ops) FROM program_lines l JOIN program_ops o ON o.id = l.op"
        f" WHERE l.frame {IN_JSON} AND l.program {IN_JSON} GROUP BY o.id ORDER BY o.id",
        here,
        program_ids,
    )
    kinds: Counter[str] = Counter()
    for kind, _, count in ops:
        kinds[kind] += count
    names = tuple(dict.fromkeys(name for kind, name, _ in sorted(ops, key=lambda op: op[0] in _HELPER_OPS) if name))
    problems = reader.rows(f"SELECT DISTINCT problem FROM programs WHERE id {IN_JSON} AND problem <> ''", program_ids)
    return ProgramUse(
        name=name,
        programs=len(programs),
        root=_find_root(reader, names, programs),
        ops=tuple(sorted(kinds.items(), key=lambda item: (item[0] in _HELPER_OPS, -item[1], item[0]))),
        names=names,
        inward=tuple(_find_neighbours(reader, programs, frames, here="origin")),
        outward=tuple(_find_neighbours(reader, programs, frames, here="target")),
        compiled=compiled,
        compilations=tuple(calls),
        runs=tuple(_read_runs(reader, programs, line.capture)),
        is_outside=not inside,
        problem="; ".join(problem for (problem,) in problems),
        fusions=tuple(_read_fusions(line, programs, frames)) if inside else (),
    )


def _find_root(reader: Reader, names: Iterable[str], programs: Sequence[int]) -> str:
    """Return the transformation (`jit(f)`) from the op names; ops of nested functions lack that prefix."""
    roots = dict.fromkeys(name.split("/", 1)[0] for name in names)
    for root in roots:
        if root.endswith(")"):
            return root
    row = reader.row(
        f"SELECT o.name FROM program_lines l JOIN program_ops o ON o.id = l.op WHERE l.program {IN_JSON}"
        " AND (o.name LIKE 'jit(%' OR o.name LIKE 'pjit(%' OR o.name LIKE 'pmap(%') LIMIT 1",
        build_json_list(programs),
    )
    return "" if row is None else str(row[0]).split("/", 1)[0]


def _find_neighbours(
    reader: Reader, programs: Sequence[int], frames: Sequence[int], here: str
) -> Iterator[ProgramLine]:
    """Yield the callers (`here="target"`) or callees (`here="origin"`) of these frames.

    If a gradient's ops connect two frames in both directions, the direction with most ops counts.
    """
    there = "target" if here == "origin" else "origin"
    rows = reader.rows(
        f"SELECT fr.function, sum(s.ops) AS total, {_LOCATION_COLUMNS} FROM program_steps s"
        f" JOIN program_frames fr ON fr.id = s.{there} {_LOCATION_JOINS}"
        f" WHERE s.{here} {IN_JSON} AND s.{there} NOT {IN_JSON} AND s.program {IN_JSON}"
        " AND NOT EXISTS (SELECT 1 FROM program_steps b WHERE b.origin = s.target AND b.target = s.origin"
        " AND b.program = s.program AND b.ops > s.ops)"
        " GROUP BY fr.id ORDER BY total DESC, fr.id LIMIT ?",
        build_json_list(frames),
        build_json_list(frames),
        build_json_list(programs),
        MAX_LINES,
    )
    return _build_lines(reader, rows)


def _find_lines_inside(line: LineQuery, programs: Collection[int]) -> Iterator[ProgramLine]:
    """Yield the other lines of these programs with most ops."""
    rows = line.reader.rows(
        f"SELECT fr.function, sum(l.ops) AS total, {_LOCATION_COLUMNS} FROM program_lines l"
        f" JOIN program_frames fr ON fr.id = l.frame {_LOCATION_JOINS} WHERE l.program {IN_JSON}"
        f" AND NOT coalesce({line.condition('fr')}, false) GROUP BY fr.id ORDER BY total DESC, fr.id LIMIT ?",
        build_json_list(programs),
        MAX_LINES,
    )
    return _build_lines(line.reader, rows)


def _read_fusions(line: LineQuery, programs: Sequence[int], frames: Sequence[int]) -> Iterator[LineFusion]:
    """Yield the fusions with ops of these frames and other lines, in the latest program that has some."""
    reader, here = line.reader, build_json_list(frames)
    latest = reader.row(
        "SELECT x.memory FROM compilations x WHERE x.program IN (SELECT value FROM json_each(?1))"
        f"{reader.scope.build_capture_condition('x', line.capture)} AND EXISTS (SELECT 1 FROM program_fusion_lines l"
        " WHERE l.frame IN (SELECT value FROM json_each(?2)) AND l.memory = x.memory) ORDER BY x.call DESC LIMIT 1",
        build_json_list(programs),
        here,
    )
    if latest is None:
        return
    rows = reader.rows(
        f"SELECT n.number, n.instruction, n.op, n.fusions, l.ops, fr.function, {_LOCATION_COLUMNS}"
        f" FROM (SELECT DISTINCT fusion FROM program_fusion_lines WHERE frame {IN_JSON} AND memory = ?"
        " ORDER BY fusion LIMIT ?) h JOIN program_fusions n ON n.memory = ? AND n.number = h.fusion"
        " JOIN program_fusion_lines l ON l.memory = n.memory AND l.fusion = n.number"
        f" JOIN program_frames fr ON fr.id = l.frame {_LOCATION_JOINS} ORDER BY n.number",
        *(here, latest[0], MAX_FUSIONS, latest[0]),
    )
    for (_, instruction, op, count), fused in groupby(rows, key=lambda row: row[:4]):
        ops: Counter[PythonLine | None] = Counter()
        for *_, line_ops, function, path, number, modified, size, blob in fused:
            location = reader.build_location(path, number, LocationEvidence.EXACT, modified, size, blob)
            ops[None if location is None else PythonLine(function, location)] += line_ops
        shares = compute_share_by_line(ops)
        if len(shares) > 1:
            yield LineFusion(instruction, op, count, shares)


def _build_lines(reader: Reader, rows: Iterable[Row]) -> Iterator[ProgramLine]:
    """Convert rows of function, op count and `_LOCATION_COLUMNS` into lines."""
    for function, ops, path, line, *state in rows:
        location = reader.build_location(path, line, LocationEvidence.EXACT, *state)
        if location is not None:
            yield ProgramLine(location, function, ops)


def _read_compilations(reader: Reader, programs: Sequence[int], capture: int | None) -> tuple[int, list[Compilation]]:
    """Return the number of compilations of these programs, and the latest compilations, latest first."""
    counted = reader.scope.build_capture_condition("x", capture)
    (total,) = reader.rows(
        f"SELECT count(*) FROM compilations x WHERE x.program {IN_JSON}{counted}", build_json_list(programs)
    )
    rows = reader.rows(
        "SELECT c.id, x.capture, c.duration, k.stack FROM compilations x JOIN call_rows c ON c.id = x.call"
        f" JOIN call_kinds k ON k.id = c.kind WHERE x.program {IN_JSON}{counted} ORDER BY c.id DESC LIMIT ?",
        build_json_list(programs),
        MAX_COMPILATIONS,
    )
    lines = read_python_lines(reader, {call: stack for call, _, _, stack in rows})
    return total[0], [Compilation(call, of, duration, lines.get(call)) for call, of, duration, _ in rows]


def _read_runs(reader: Reader, programs: Sequence[int], capture: int | None) -> list[ProgramRuns]:
    """Return the runs of these programs grouped by Python line, most calls first."""
    counted = reader.scope.build_capture_condition("x", capture)
    rows = reader.rows(
        "SELECT k.stack, sum(e.calls), sum(e.duration), max(e.latest_call) FROM compilations x"
        " JOIN executions e ON e.executable = x.executable JOIN call_kinds k ON k.id = e.kind"
        f" WHERE x.program {IN_JSON} AND e.calls > 0{counted} GROUP BY k.stack ORDER BY sum(e.calls) DESC",
        build_json_list(programs),
    )
    lines = read_python_lines(reader, {latest: stack for stack, _, _, latest in rows})
    found: dict[PythonLine | None, ProgramRuns] = {}
    for _, calls, duration, latest in rows:
        line = lines.get(latest)
        known = found.get(line)
        found[line] = (
            ProgramRuns(line, calls, duration, latest)
            if known is None
            else replace(
                known,
                calls=known.calls + calls,
                total_duration=known.total_duration + duration,
                latest_call=max(known.latest_call, latest),
            )
        )
    return sorted(found.values(), key=lambda runs: -runs.calls)


def _find_functions_outside(line: LineQuery, calls: Sequence[int]) -> set[str]:
    """Return the functions of the file on the stacks that compiled or dispatched: tracing started in them.

    All lambdas have the same name, so only those on the line count.
    """
    wanted = "(SELECT value FROM json_each(?1))"
    query = (
        "WITH RECURSIVE up(node) AS ("
        " SELECT coalesce(nullif(s.python_leaf, 0), s.leaf) FROM call_rows c JOIN call_kinds k ON k.id = c.kind"
        f" JOIN stacks s ON s.id = k.stack WHERE c.id IN {wanted}"
        f" UNION SELECT node FROM call_links WHERE call IN {wanted}"
        " UNION SELECT n.parent FROM up JOIN nodes n ON n.id = up.node WHERE n.parent"
        ") SELECT DISTINCT fn.name FROM up JOIN nodes n ON n.id = up.node JOIN frames fr ON fr.id = n.frame"
        " JOIN functions fn ON fn.id = fr.function"
        f" WHERE fr.file = ?2 AND ({line.condition('fr')} OR fn.name NOT LIKE '%<lambda>')"
    )
    return {name for (name,) in line.reader.rows(query, build_json_list(calls), line.id)}
