"""The frames next to a line: one frame inward, or the next frame with source."""

from __future__ import annotations

from framedex.index.read.asked import AskedLine
from framedex.index.read.rows import frames_by_id
from framedex.model import Step


def inward(line: AskedLine) -> list[Step]:
    """Return the frames called from the line, most calls first."""
    return _steps(line, "steps", here="origin")


def inward_readable(line: AskedLine) -> list[Step]:
    """Return the next frames with source that the line leads to, past interpreter and glue frames; most calls first."""
    return _steps(line, "readable_steps", here="origin")


def outward_readable(line: AskedLine) -> list[Step]:
    """Return the next frames with source that led to the line (as `target`), most calls first."""
    return _steps(line, "readable_steps", here="target")


def _steps(line: AskedLine, table: str, here: str) -> list[Step]:
    there = "target" if here == "origin" else "origin"
    rows = line.reader.rows(
        f"SELECT s.{here}, s.{there}, s.calls FROM frames fr JOIN {line.reader.totals(table)} s ON s.{here} = fr.id"
        f" WHERE {line.on('fr')} ORDER BY s.calls DESC, s.origin"
    )
    frames = frames_by_id(line.reader, {frame for row in rows for frame in row[:2]})
    return [Step(origin=frames[row[0]], target=frames[row[1]], calls=row[2]) for row in rows]
