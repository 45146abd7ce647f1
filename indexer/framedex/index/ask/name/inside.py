"""Functions inside compiled programs: code under jit makes no calls of its own."""

from __future__ import annotations

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.rows import Reader
from framedex.model import How, InsideProgram


def inside_program(reader: Reader, name: str) -> InsideProgram | None:
    """Return the latest program with ops of a function of this name or last part, or None.

    The location is the function's line with most ops.
    """
    rows = reader.rows("SELECT DISTINCT function FROM program_frames WHERE instr(function, ?)", name)
    named = [function for (function,) in rows if f".{function}".endswith(f".{name}")]
    row = reader.row(
        "SELECT p.name, fr.function, f.path, fr.line, v.modified, v.size, v.blob FROM program_lines l"
        " JOIN program_frames fr ON fr.id = l.frame JOIN programs p ON p.id = l.program"
        " JOIN files f ON f.id = fr.file LEFT JOIN file_versions v ON v.id = fr.version"
        f" WHERE fr.function {IN_JSON} AND EXISTS (SELECT 1 FROM compilations c WHERE c.program = p.id)"
        " GROUP BY p.id, fr.id ORDER BY p.id DESC, sum(l.ops) DESC, fr.line LIMIT 1",
        json_list(named),
    )
    if row is None:
        return None
    program, function, path, line, *state = row
    location = reader.location(path, line, How.EXACT, *state)
    return None if location is None else InsideProgram(program, function, location)
