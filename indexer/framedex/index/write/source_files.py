"""Write source files in bulk, and source maps. An imported map replaces the previous map of its component."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence

from framedex.index.file.conventions import (
    IN_JSON,
    SEARCHED_KINDS,
    SOURCE_MAP_COLUMNS,
    build_json_list,
    build_source_map_info,
)
from framedex.index.file.values import to_storable
from framedex.index.write.interning import add_names, delete_unused_names, intern_files
from framedex.model import GENERATOR_LANGUAGES, ExtractedFile, SourceMapInfo


def replace_files(
    connection: sqlite3.Connection,
    files: Sequence[ExtractedFile],
    roots: Mapping[str, int],
    source_map: int | None = None,
) -> int:
    """Replace the stored data of files; return the number of new definitions.

    `roots` maps a path to the id of its root, if it belongs to one. `source_map` is the id of the map that contains all
    the files. If the content of a file has not changed, only its time is updated.
    """
    ids = intern_files(connection, [file.path for file in files])
    known = _read_contents(connection, list(ids.values()))
    changed = [file for file in files if known.get(ids[file.path]) != file.content or file.problems]
    old_names = _delete_definitions(connection, [ids[file.path] for file in changed if ids[file.path] in known])
    connection.executemany(
        "INSERT OR REPLACE INTO source_files"
        "(file, root, map, language, modified, size, content, blob, errors, problems)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, '', ?, ?)",
        [
            (
                ids[file.path],
                roots.get(file.path),
                source_map,
                file.language,
                file.modified,
                file.size,
                file.content,
                file.errors,
                json.dumps([to_storable(problem) for problem in file.problems]),
            )
            for file in files
        ],
    )
    _add_definitions(connection, changed, ids)
    new_names = {row[1] for file in changed for row in file.definitions if row[2] in SEARCHED_KINDS}
    add_names(connection, new_names)
    delete_unused_names(connection, old_names - new_names)
    mark_stale(connection, [ids[file.path] for file in changed])
    if any(
        file.language in GENERATOR_LANGUAGES for file in changed
    ):  # their definitions may match functions of any name
        connection.execute(
            "INSERT OR IGNORE INTO unmatched SELECT DISTINCT short_name FROM functions WHERE file IS NULL"
        )
    return sum(len(file.definitions) for file in changed)


def _read_contents(connection: sqlite3.Connection, files: Sequence[int]) -> dict[int, int]:
    rows = connection.execute(f"SELECT file, content FROM source_files WHERE file {IN_JSON}", (build_json_list(files),))
    return dict(rows)


def _add_definitions(connection: sqlite3.Connection, files: Sequence[ExtractedFile], ids: Mapping[str, int]) -> None:
    first = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM definitions").fetchone()[0]
    definitions: list[tuple[object, ...]] = []
    sites: list[tuple[int, str]] = []
    for file in files:
        number = ids[file.path]
        for row in file.definitions:
            identifier = first + len(definitions)
            definitions.append((identifier, number, *row[:8]))
            if row[8] is not None:
                sites.append((identifier, row[8]))
    connection.executemany(
        "INSERT INTO definitions(id, file, name, short_name, kind, parameters, line, end_line, is_const, is_broken)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        definitions,
    )
    connection.executemany("INSERT INTO call_sites(definition, sites) VALUES (?, ?)", sites)


def delete_definitions(connection: sqlite3.Connection, files: Sequence[int]) -> None:
    """Remove the definitions in these files."""
    delete_unused_names(connection, _delete_definitions(connection, files))


def _delete_definitions(connection: sqlite3.Connection, files: Sequence[int]) -> set[str]:
    """Remove the definitions in these files; return their short names."""
    mark_stale(connection, files)
    names: set[str] = set()
    for file in files:
        names.update(
            name for (name,) in connection.execute("SELECT short_name FROM definitions WHERE file = ?", (file,))
        )
        connection.execute(
            "DELETE FROM call_sites WHERE definition IN (SELECT id FROM definitions WHERE file = ?)", (file,)
        )
        connection.execute("DELETE FROM definitions WHERE file = ?", (file,))
    return names


def mark_stale(connection: sqlite3.Connection, files: Sequence[int]) -> None:
    """Mark the recorded functions with the short names defined in these files for a new lookup."""
    connection.execute(
        f"INSERT OR IGNORE INTO unmatched SELECT DISTINCT short_name FROM definitions WHERE file {IN_JSON}"
        " AND short_name IN (SELECT short_name FROM functions)",
        (build_json_list(files),),
    )


def replace_map(
    connection: sqlite3.Connection, info: SourceMapInfo, origin: str, modified: int, size: int
) -> tuple[SourceMapInfo | None, int]:
    """Replace the map of a component; returns the replaced map (None if there was none) and the new id.

    `origin` is the imported file, with its mtime in ns and its size in bytes.
    """
    replaced = remove_map(connection, info.component)
    identifier = connection.execute(
        f"INSERT INTO source_maps({SOURCE_MAP_COLUMNS}, prefix, path, modified, size)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *_build_source_map_values(info),
            *(info.prefix, to_storable(origin), modified, size),
        ),
    ).lastrowid
    assert identifier is not None
    return replaced, identifier


def store_release_map(connection: sqlite3.Connection, info: SourceMapInfo, release: str) -> None:
    """Store the map of a release of jaxlib that locations refer to."""
    connection.execute(
        f"INSERT OR IGNORE INTO source_maps({SOURCE_MAP_COLUMNS}, prefix, release) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*_build_source_map_values(info), info.prefix, release),
    )


def _build_source_map_values(info: SourceMapInfo) -> tuple[object, ...]:
    """Return the values of SOURCE_MAP_COLUMNS."""
    return info.component, info.repository, info.commit, info.is_dirty, info.tool, info.is_nearest + info.is_unchanged


def remove_map(connection: sqlite3.Connection, component: str) -> SourceMapInfo | None:
    """Remove the map of a component with all its files; return its info, None if there was no map."""
    query = f"SELECT {SOURCE_MAP_COLUMNS}, id FROM source_maps WHERE component = ? AND release IS NULL"
    row = connection.execute(query, (component,)).fetchone()
    if row is None:
        return None
    files = [file for (file,) in connection.execute("SELECT file FROM source_files WHERE map = ?", row[-1:])]
    delete_definitions(connection, files)
    connection.execute("DELETE FROM source_files WHERE map = ?", row[-1:])
    connection.execute("DELETE FROM source_maps WHERE id = ?", row[-1:])
    return build_source_map_info(row)
