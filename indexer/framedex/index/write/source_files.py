"""Write source files in bulk: hundreds of thousands of rows, in one transaction per batch of files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence

from framedex.index.file.conventions import IN_JSON, SEARCHED, json_list
from framedex.index.file.values import storable
from framedex.index.write.interning import file_ids
from framedex.index.write.names import add_names, drop_unused_names
from framedex.model import GENERATING, ExtractedFile


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
    ids = file_ids(connection, [file.path for file in files])
    known = _known_contents(connection, list(ids.values()))
    changed = [file for file in files if known.get(ids[file.path]) != file.content or file.problems]
    old_names = _forget(connection, [ids[file.path] for file in changed if ids[file.path] in known])
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
                json.dumps([storable(problem) for problem in file.problems]),
            )
            for file in files
        ],
    )
    _add_definitions(connection, changed, ids)
    new_names = {row[1] for file in changed for row in file.definitions if row[2] in SEARCHED}
    add_names(connection, new_names)
    drop_unused_names(connection, old_names - new_names)
    owe(connection, [ids[file.path] for file in changed])
    if any(file.language in GENERATING for file in changed):  # their definitions may match functions of any name
        connection.execute(
            "INSERT OR IGNORE INTO unmatched SELECT DISTINCT short_name FROM functions WHERE file IS NULL"
        )
    return sum(len(file.definitions) for file in changed)


def _known_contents(connection: sqlite3.Connection, files: Sequence[int]) -> dict[int, int]:
    rows = connection.execute(f"SELECT file, content FROM source_files WHERE file {IN_JSON}", (json_list(files),))
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


def forget_definitions(connection: sqlite3.Connection, files: Sequence[int]) -> None:
    """Remove the definitions in these files."""
    drop_unused_names(connection, _forget(connection, files))


def _forget(connection: sqlite3.Connection, files: Sequence[int]) -> set[str]:
    """Remove the definitions in these files; return their short names."""
    owe(connection, files)
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


def owe(connection: sqlite3.Connection, files: Sequence[int]) -> None:
    """Mark the recorded functions with the short names defined in these files for a new lookup."""
    connection.execute(
        f"INSERT OR IGNORE INTO unmatched SELECT DISTINCT short_name FROM definitions WHERE file {IN_JSON}"
        " AND short_name IN (SELECT short_name FROM functions)",
        (json_list(files),),
    )
