"""Calls as the source text has them, whether or not they ever ran: the second kind beside what was recorded."""

from __future__ import annotations

from framedex.index.rows import IN_JSON, Reader, file_id, placeholders
from framedex.model import How, Location, StaticCall
from framedex.sources.names import short_name
from framedex.sources.sites import call_sites

_CALLED = ("function", "method")
_MOST_TARGETS = 5
"""Definitions of one name beyond which nobody can tell which is meant."""


def static_callees(reader: Reader, path: str, line: int) -> list[StaticCall]:
    """The calls written in the definition that begins on a line, once for each name, in the order of the text.

    Names of which there is no definition, or more than a few in the language of the file, are left out.
    """
    row = reader.row(
        "SELECT c.sites, s.language FROM definitions d JOIN call_sites c ON c.definition = d.id"
        " JOIN source_files s ON s.file = d.file WHERE d.file = ? AND d.line = ? ORDER BY d.end_line LIMIT 1",
        file_id(reader, path),
        line,
    )
    if row is None:
        return []
    text, language = row
    first: dict[str, tuple[int, str]] = {}
    for site in call_sites(text):
        first.setdefault(short_name(site.callee), (site.line, site.callee))
    targets = _definitions(reader, list(first), language)
    return [
        StaticCall(site_line, callee, tuple(targets[short]))
        for short, (site_line, callee) in first.items()
        if 0 < len(targets.get(short, ())) <= _MOST_TARGETS
    ]


def _definitions(reader: Reader, names: list[str], language: str) -> dict[str, list[tuple[str, Location, int]]]:
    rows = reader.rows(
        "SELECT d.short_name, d.name, f.path, d.line, d.end_line FROM json_each(?) wanted"
        " CROSS JOIN definitions d ON d.short_name = wanted.value JOIN files f ON f.id = d.file"
        f" JOIN source_files s ON s.file = d.file WHERE d.kind {IN_JSON} AND s.language = ? ORDER BY f.path, d.line",
        placeholders(names),
        placeholders(_CALLED),
        language,
    )
    found: dict[str, list[tuple[str, Location, int]]] = {}
    for short, name, path, line, end_line in rows:
        found.setdefault(short, []).append((name, Location(path, line, How.DEFINITION), end_line))
    return found
