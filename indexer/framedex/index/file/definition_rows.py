"""Rows of definitions, shared by writers and readers of the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from framedex.model import Definition

DEFINITIONS_NAMED = (
    "SELECT f.path, d.name, d.kind, d.parameters, d.line, d.end_line, d.is_const"
    " FROM definitions d JOIN files f ON f.id = d.file JOIN source_files s ON s.file = d.file"
    " WHERE d.short_name = ?1 AND s.language = ?2 AND NOT (s.map IS NOT NULL AND EXISTS ("
    "  SELECT 1 FROM source_roots r JOIN files here ON here.path ="
    "  r.path || '/' || substr(f.path, instr(f.path, ':') + 1) JOIN source_files l ON l.file = here.id))"
    " ORDER BY f.path, d.line"
)
"""Rows for `definition`, by short name and language; of a file in both a source tree and a map, only the tree's."""

DEFINITIONS_WITH_CALLS = (
    "SELECT d.name, d.kind, d.parameters, d.line, d.end_line, d.is_const, c.sites FROM definitions d"
    " LEFT JOIN call_sites c ON c.definition = d.id WHERE d.file = (SELECT id FROM files WHERE path = ?)"
    " AND (c.sites IS NOT NULL OR d.kind IN ('function', 'method')) ORDER BY d.line, d.id"
)
"""Rows for `definitions_with_calls`, by the path of a file: its functions, and other definitions with calls."""


def definitions_with_calls(rows: Iterable[Sequence[Any]]) -> list[Definition]:
    """Return the definitions of such rows, with their calls."""
    from framedex.sources import call_sites  # imported here so that readers start without the parser

    return [replace(definition(*columns), calls=call_sites(sites)) for *columns, sites in rows]


def definition(name: str, kind: str, parameters: str | None, line: int, end_line: int, is_const: int) -> Definition:
    """Build a definition from its columns, without its calls."""
    return Definition(name, kind, parameters, line, end_line, bool(is_const))
