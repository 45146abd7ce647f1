"""Python functions at the line of their `def`; a code object begins at its first decorator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.rows import Reader
from framedex.model import FunctionRow, Language


def at_names(reader: Reader, functions: Sequence[FunctionRow]) -> list[FunctionRow]:
    """Return the functions, moving Python functions with a known definition to the line of their `def`."""
    named = [function for function in functions if function.language is Language.PYTHON and function.location]
    rows = reader.rows(
        "SELECT f.path, d.name, d.end_line, d.line FROM files f CROSS JOIN definitions d ON d.file = f.id"
        f" WHERE f.path {IN_JSON} AND d.name {IN_JSON}",
        json_list({function.location.path for function in named if function.location}),
        json_list({function.name for function in named}),
    )
    lines = {(path, name, end): line for path, name, end, line in rows}
    return [_at(function, lines) for function in functions]


def _at(function: FunctionRow, lines: dict[tuple[str, str, int], int]) -> FunctionRow:
    place = function.location
    line = None if place is None else lines.get((place.path, function.name, function.end_line))
    return function if place is None or line is None else replace(function, location=replace(place, line=line))
