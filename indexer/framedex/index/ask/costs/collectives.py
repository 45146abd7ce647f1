"""The collectives of compiled programs, by the line that their ops come from."""

from __future__ import annotations

from collections.abc import Collection

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.file.paths import is_user_file
from framedex.index.read.rows import Reader
from framedex.model import Collective, LocationEvidence, PythonLine

MAX_COLLECTIVES = 200
"""The maximum number of kinds of collectives reported for a program: those with most bytes."""

_MAX_CALLERS = 20  # library frames between a sharding constraint and the program's own line

_ProgramLine = tuple[int, str, int]  # a program, and the path and number of a line


def read_collectives(reader: Reader, calls: Collection[int]) -> dict[int, tuple[Collective, ...]]:
    """Return the collectives of the programs by the calls that compiled them, those with most bytes first.

    XLA names the op whose result it moves. At a line with a sharding constraint, that line asked for the transfer.
    """
    found: dict[int, list[Collective]] = {}
    rows = reader.rows(
        "SELECT x.call, x.program, o.opcode, o.op, o.shape, o.size, o.devices, o.is_repeated, o.is_requested, count(*),"
        " fr.function, f.path, fr.line, v.modified, v.size, v.blob FROM compilations x"
        " JOIN program_collectives o ON o.memory = x.memory LEFT JOIN program_frames fr ON fr.id = o.frame"
        " LEFT JOIN files f ON f.id = fr.file LEFT JOIN file_versions v ON v.id = fr.version"
        f" WHERE x.call {IN_JSON} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, o.frame ORDER BY min(o.number)",
        build_json_list(sorted(calls)),
    )
    constrained = _find_constrained_lines(reader, {row[1] for row in rows if row[1] is not None and not row[8]})
    for call, program, opcode, op, shape, size, devices, is_repeated, is_requested, count, function, *place in rows:
        path, line, *state = place
        location = None if path is None else reader.build_location(path, line, LocationEvidence.EXACT, *state)
        is_wanted = bool(is_requested) or (program, path, line) in constrained
        found.setdefault(call, []).append(
            Collective(
                *(opcode, op, shape, size, devices, bool(is_repeated), is_wanted),
                None if location is None else PythonLine(function, location),
                count,
            )
        )
    ordered = {call: sorted(each, key=lambda one: -one.size * one.count) for call, each in found.items()}
    return {call: tuple(each[:MAX_COLLECTIVES]) for call, each in ordered.items()}


def _find_constrained_lines(reader: Reader, programs: Collection[int]) -> set[_ProgramLine]:
    """Return the lines with a sharding constraint, and those that call library functions with one."""
    found: set[_ProgramLine] = set()
    here = reader.rows(
        "SELECT DISTINCT l.program, fr.id, f.path, fr.line FROM program_lines l JOIN program_ops o ON o.id = l.op"
        f" JOIN program_frames fr ON fr.id = l.frame JOIN files f ON f.id = fr.file WHERE l.program {IN_JSON}"
        " AND (o.name LIKE '%/sharding_constraint' OR o.name LIKE '%/reshard')",
        build_json_list(sorted(programs)),
    )
    for _ in range(_MAX_CALLERS):
        found |= {(program, path, line) for program, _, path, line in here}
        inside_libraries = [[program, frame] for program, frame, path, _ in here if not is_user_file(path)]
        if not inside_libraries:
            break
        callers = reader.rows(
            "SELECT DISTINCT s.program, fr.id, f.path, fr.line FROM json_each(?) n JOIN program_steps s"
            " ON s.target = json_extract(n.value, '$[1]') AND +s.program = json_extract(n.value, '$[0]')"
            " JOIN program_frames fr ON fr.id = s.origin JOIN files f ON f.id = fr.file",
            build_json_list(inside_libraries),
        )
        here = [row for row in callers if (row[0], row[2], row[3]) not in found]
    return found
