"""Calls according to the source text, whether or not they ever ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.asked import AskedFile, AskedLine
from framedex.index.read.places import state_of
from framedex.index.read.rows import Reader
from framedex.model import How, Location, StaticCall

if TYPE_CHECKING:
    from framedex.sources.moving import LineMap

CALLED = ("function", "method")
MOST_TARGETS = 5
"""Limit of definitions of one name: with more, the target is ambiguous."""


def static_callees(line: AskedLine) -> list[StaticCall]:
    """Return the calls in the definition that begins on the line, once per name, in source order.

    Names without a definition, or with more than `MOST_TARGETS` in the file's language, are left out.
    """
    # Imported here because they load the readers of binaries.
    from framedex.sources.names import short_name
    from framedex.sources.sites import call_sites

    moved = lines_since_read(line)
    row = line.reader.row(
        "SELECT c.sites, s.language FROM definitions d JOIN call_sites c ON c.definition = d.id"
        " JOIN source_files s ON s.file = d.file WHERE d.file = ? AND d.line = ? ORDER BY d.end_line LIMIT 1",
        line.id,
        line.line if moved is None else moved.old_line(line.line),
    )
    if row is None:
        return []
    text, language = row
    first: dict[str, tuple[int, str]] = {}
    for site in call_sites(text):
        now = site.line if moved is None else moved.forward(site.line).line
        first.setdefault(short_name(site.callee), (now, site.callee))
    targets = _definitions(line.reader, list(first), language)
    return [
        StaticCall(site_line, callee, tuple(targets[short]))
        for short, (site_line, callee) in first.items()
        if 0 < len(targets.get(short, ())) <= MOST_TARGETS
    ]


def _definitions(reader: Reader, names: list[str], language: str) -> dict[str, list[tuple[str, Location, int]]]:
    rows = reader.rows(
        "SELECT d.short_name, d.name, f.path, d.line, d.end_line, s.modified, s.size, s.blob FROM json_each(?) wanted"
        " CROSS JOIN definitions d ON d.short_name = wanted.value JOIN files f ON f.id = d.file"
        f" JOIN source_files s ON s.file = d.file WHERE d.kind {IN_JSON} AND s.language = ? ORDER BY f.path, d.line",
        json_list(names),
        json_list(CALLED),
        language,
    )
    found: dict[str, list[tuple[str, Location, int]]] = {}
    for short, name, path, line, end_line, *state in rows:
        place = reader.location(path, line, How.DEFINITION, *state)
        if place is not None:
            found.setdefault(short, []).append((name, place, end_line + place.line - line))
    return found


def lines_since_read(file: AskedFile) -> LineMap | None:
    """Return the line map from the last parse of the file to its current state; None if unchanged or unknown."""
    state = file.reader.row("SELECT modified, size, blob FROM source_files WHERE file = ?", file.id)
    change = file.change_from(None if state is None else state_of(*state))
    return None if change is None else change.lines
