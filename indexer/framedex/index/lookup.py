"""Questions that begin with what a text says of a frame: a symbol, the end of a path."""

from __future__ import annotations

from framedex.index.rows import FUNCTION_COLUMNS, FUNCTION_TABLES, Reader, function_rows
from framedex.model import Definition, FunctionRow

_MOST_FUNCTIONS = 16
_MOST_DEFINITIONS = 2_000

DEFINITIONS_NAMED = (
    "SELECT f.path, d.name, d.kind, d.parameters, d.line, d.end_line, d.is_const"
    " FROM definitions d JOIN files f ON f.id = d.file JOIN source_files s ON s.file = d.file"
    " WHERE d.short_name = ?1 AND s.language = ?2 AND NOT (s.map IS NOT NULL AND EXISTS ("
    "  SELECT 1 FROM source_roots r JOIN files here ON here.path ="
    "  r.path || '/' || substr(f.path, instr(f.path, ':') + 1) JOIN source_files l ON l.file = here.id))"
    " ORDER BY f.path, d.line"
)
"""Rows for `definition`, by short name and language; of a file that a source tree and a map have, the tree's."""


def functions_named(reader: Reader, name: str) -> list[FunctionRow]:
    """The recorded functions of exactly this readable name that have a place, most calls first."""
    rows = reader.rows(
        f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.name = ? AND fn.file IS NOT NULL"
        " ORDER BY fn.calls DESC, fn.id LIMIT ?",
        name,
        _MOST_FUNCTIONS,
    )
    return function_rows(reader, rows)


def definitions_named(reader: Reader, short_name: str, language: str) -> list[tuple[str, Definition]]:
    """The (path, definition) pairs with this short name in the source files of a language, by path and line."""
    rows = reader.rows(f"{DEFINITIONS_NAMED} LIMIT ?3", short_name, language, _MOST_DEFINITIONS)
    return [(path, definition(*columns)) for path, *columns in rows]


def definition(name: str, kind: str, parameters: str | None, line: int, end_line: int, is_const: int) -> Definition:
    """A definition from its columns, without its calls."""
    return Definition(name, kind, parameters, line, end_line, bool(is_const))


def files_named(reader: Reader, name: str) -> list[str]:
    """The files of this name, in any folder, that frames point to or that were read as source."""
    query = "SELECT path FROM files WHERE substr(path, -length(?1) - 1) = '/' || ?1 ORDER BY path LIMIT ?2"
    return [path for (path,) in reader.rows(query, name, _MOST_DEFINITIONS)]


def modules_built(reader: Reader, build_id: str) -> list[str]:
    """The paths at which binaries were recorded whose build-id (hex) begins with this one, latest first."""
    query = "SELECT path FROM modules WHERE substr(identity, 1, length(?1)) = ?1 ORDER BY id DESC"
    return [path for (path,) in reader.rows(query, build_id)]
