"""The collectives of compiled programs, by the line that their ops come from."""

from __future__ import annotations

from collections.abc import Collection

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.rows import Reader
from framedex.model import Collective, LocationEvidence, PythonLine

MAX_COLLECTIVES = 200
"""The maximum number of kinds of collectives reported for a program: those with most bytes."""


def read_collectives(reader: Reader, calls: Collection[int]) -> dict[int, tuple[Collective, ...]]:
    """Return the collectives of the programs by the calls that compiled them, those with most bytes first."""
    found: dict[int, list[Collective]] = {}
    rows = reader.rows(
        "SELECT x.call, o.opcode, o.op, o.shape, o.size, o.devices, o.is_repeated, o.is_requested, count(*),"
        " fr.function, f.path, fr.line, v.modified, v.size, v.blob FROM compilations x"
        " JOIN program_collectives o ON o.memory = x.memory LEFT JOIN program_frames fr ON fr.id = o.frame"
        " LEFT JOIN files f ON f.id = fr.file LEFT JOIN file_versions v ON v.id = fr.version"
        f" WHERE x.call {IN_JSON} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, o.frame ORDER BY min(o.number)",
        json_list(sorted(calls)),
    )
    for call, opcode, op, shape, size, devices, is_repeated, is_requested, count, function, path, line, *state in rows:
        location = None if path is None else reader.location(path, line, LocationEvidence.EXACT, *state)
        found.setdefault(call, []).append(
            Collective(
                *(opcode, op, shape, size, devices, bool(is_repeated), bool(is_requested)),
                None if location is None else PythonLine(function, location),
                count,
            )
        )
    ordered = {call: sorted(each, key=lambda one: -one.size * one.count) for call, each in found.items()}
    return {call: tuple(each[:MAX_COLLECTIVES]) for call, each in ordered.items()}
