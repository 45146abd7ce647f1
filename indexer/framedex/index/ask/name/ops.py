"""Look up ops of compiled programs by the name that JAX gave them: `jit(step)/tanh`."""

from __future__ import annotations

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.file.paths import is_user_file
from framedex.index.read.rows import Reader
from framedex.model import Location, LocationEvidence

MAX_OP_LINES = 16
"""The maximum number of lines of one op name."""

_MAX_LEVELS = 64  # of callers
_MAX_FRAMES = 1_000  # of one level


def find_op_lines(reader: Reader, name: str) -> list[Location]:
    """Return the lines of the recorded ops with this name, of the latest program first.

    A line in a library is replaced by the nearest lines of the user's files that call it. If there are none, it stays.
    JAX releases before 0.7 name an op `jit(step)/jit(main)/tanh`, later ones `jit(step)/tanh`.
    """
    return _find_lines(reader, name) or _find_lines(reader, name.replace("/jit(main)/", "/"))


def _find_lines(reader: Reader, name: str) -> list[Location]:
    found = reader.rows(
        "SELECT l.program, l.frame FROM program_ops o JOIN program_lines l ON l.op = o.id WHERE o.name = ?"
        " AND EXISTS (SELECT 1 FROM compilations c WHERE c.program = "
        f"l.program{reader.scope.build_capture_condition('c')})"
        " ORDER BY l.program DESC, l.ops DESC LIMIT ?",
        name,
        _MAX_FRAMES,
    )
    frames_of: dict[int, list[int]] = {}
    for program, frame in found:
        frames_of.setdefault(program, []).append(frame)
    lines = [line for program, frames in frames_of.items() for line in _find_user_lines(reader, program, frames)]
    return list(dict.fromkeys(lines))[:MAX_OP_LINES]


def _find_user_lines(reader: Reader, program: int, frames: list[int]) -> list[Location]:
    """Return the nearest lines of the user's files from these frames outwards; the frames' own lines if none."""
    innermost = lines = _read_lines(reader, frames)
    seen = set(frames)
    for _ in range(_MAX_LEVELS):
        own = [line for line in lines.values() if is_user_file(line.path)]
        if own or not lines:
            return own or list(innermost.values())
        callers = reader.rows(
            f"SELECT DISTINCT origin FROM program_steps WHERE program = ? AND target {IN_JSON} LIMIT ?",
            program,
            build_json_list(list(lines)),
            _MAX_FRAMES,
        )
        frames = [frame for (frame,) in callers if frame not in seen]
        seen.update(frames)
        lines = _read_lines(reader, frames)
    return list(innermost.values())


def _read_lines(reader: Reader, frames: list[int]) -> dict[int, Location]:
    rows = reader.rows(
        "SELECT fr.id, f.path, fr.line, v.modified, v.size, v.blob FROM program_frames fr"
        f" JOIN files f ON f.id = fr.file LEFT JOIN file_versions v ON v.id = fr.version WHERE fr.id {IN_JSON}",
        build_json_list(frames),
    )
    located = (
        (frame, reader.build_location(path, line, LocationEvidence.OP_NAME, *state))
        for frame, path, line, *state in rows
    )
    return {frame: location for frame, location in located if location is not None}
