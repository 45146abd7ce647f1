"""Questions that begin with what a text says of a frame: a symbol, a path of another machine, a build-id."""

from __future__ import annotations

from dataclasses import replace

from framedex.index.read.rows import (
    FUNCTION_COLUMNS,
    FUNCTION_TABLES,
    IN_JSON,
    Reader,
    frames_by_id,
    function_rows,
    placeholders,
)
from framedex.model import Definition, How, Location, SourceRoot

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


def recorded_places(reader: Reader, name: str) -> list[Location]:
    """Where the recorded C++ functions of exactly this readable name are, most calls first; none twice.

    Of functions whose definitions are not known, the first line of each file that was recorded of them.
    """
    rows = reader.rows(
        f"SELECT {FUNCTION_COLUMNS} FROM {FUNCTION_TABLES} WHERE fn.name = ? AND fn.language = 'native'"
        " ORDER BY fn.calls DESC, fn.id LIMIT ?",
        name,
        _MOST_FUNCTIONS,
    )
    functions = function_rows(reader, rows)
    defined = [function.location for function in functions if function.location is not None]
    if defined or not functions:
        return list(dict.fromkeys(defined))
    first = reader.rows(
        f"SELECT id, min(line) FROM frames WHERE function {IN_JSON} AND how = 'exact' GROUP BY file",
        placeholders([function.id for function in functions]),
    )
    lines = (frame.location for frame in frames_by_id(reader, [frame for frame, _ in first]).values())
    return [replace(line, how=How.DEFINITION) for line in lines if line is not None]


def definitions_named(reader: Reader, short_name: str, language: str) -> list[tuple[str, Definition]]:
    """The (path, definition) pairs with this short name in the source files of a language, by path and line."""
    rows = reader.rows(f"{DEFINITIONS_NAMED} LIMIT ?3", short_name, language, _MOST_DEFINITIONS)
    return [(path, definition(*columns)) for path, *columns in rows]


def definitions_in(reader: Reader, path: str) -> tuple[int, int, bool, list[tuple[str, Definition]]] | None:
    """What is known of a source file; None where it was not read as source.

    Its mtime (ns) and size when it was read, whether the grammar could read all of it, and its definitions with their
    short names, by line.
    """
    query = (
        "SELECT s.file, s.modified, s.size, s.errors FROM source_files s JOIN files f ON f.id = s.file WHERE f.path = ?"
    )
    file = reader.row(query, path)
    if file is None:
        return None
    identifier, modified, size, errors = file
    rows = reader.rows(
        "SELECT short_name, name, kind, parameters, line, end_line, is_const FROM definitions WHERE file = ?"
        " ORDER BY line",
        identifier,
    )
    return modified, size, not errors, [(short, definition(*columns)) for short, *columns in rows]


def definition(name: str, kind: str, parameters: str | None, line: int, end_line: int, is_const: int) -> Definition:
    """A definition from its columns, without its calls."""
    return Definition(name, kind, parameters, line, end_line, bool(is_const))


def files_named(reader: Reader, name: str) -> list[str]:
    """The files of this name, in any folder, that frames point to or that were read as source."""
    return reader.memory.recall("files by name", lambda: _files_by_name(reader)).get(name, [])[:_MOST_DEFINITIONS]


def _files_by_name(reader: Reader) -> dict[str, list[str]]:
    """All files by their last component: a log asks for thousands, and the table has no index of them."""
    found: dict[str, list[str]] = {}
    for (path,) in reader.rows("SELECT path FROM files ORDER BY path"):
        found.setdefault(path.rpartition("/")[2], []).append(path)
    return found


def module_names(reader: Reader) -> frozenset[str]:
    """The file names of the binaries that were recorded."""
    return reader.memory.recall(
        "names of modules",
        lambda: frozenset(path.rpartition("/")[2] for (path,) in reader.rows("SELECT path FROM modules")),
    )


def modules_built(reader: Reader, build_id: str) -> list[str]:
    """The paths at which binaries were recorded whose build-id (hex) begins with this one, latest first."""
    query = "SELECT path FROM modules WHERE substr(build_id, 1, length(?1)) = ?1 ORDER BY id DESC"
    return [path for (path,) in reader.rows(query, build_id)]


def source_roots(reader: Reader) -> list[SourceRoot]:
    """The source folders in the order in which they were added."""
    rows = reader.rows(
        "SELECT r.path, count(s.file) FROM source_roots r LEFT JOIN source_files s ON s.root = r.id"
        " GROUP BY r.id ORDER BY r.id"
    )
    return [SourceRoot(path, files) for path, files in rows]
