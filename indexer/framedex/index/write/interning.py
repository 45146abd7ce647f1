"""Intern rows that are stored once: files, binaries, functions, frames, stacks and searchable names.

The functions of a binary get new names if a better source of names is found, such as a debug file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.file.values import to_signed
from framedex.index.write.records import FrameRecord, FunctionRecord, NamedBinary, NameSource
from framedex.model import BinaryId, Language, Location, MergeOutcome


def intern_files(connection: sqlite3.Connection, paths: Iterable[str]) -> dict[str, int]:
    """Return the ids of these paths, adding the new ones."""
    distinct = set(paths)
    connection.executemany("INSERT OR IGNORE INTO files(path) VALUES (?)", [(path,) for path in sorted(distinct)])
    query = "SELECT id FROM files WHERE path = ?"
    return {path: connection.execute(query, (path,)).fetchone()[0] for path in distinct}


def intern_frames(
    connection: sqlite3.Connection,
    records: Sequence[FrameRecord],
    versions: Mapping[str, int | None],
    renamed: Collection[BinaryId] = (),
) -> list[int]:
    """Return the ids of these frames, in their order. New frames are added along with their functions and modules.

    `versions` has the versions of the program's own Python files, by path. A frame in two versions of a file is two
    frames. Known frames of binaries in `renamed` are updated from these records.
    """
    distinct = dict.fromkeys(records)
    locations = [record.location or record.stored_location for record in distinct]
    locations += [location for record in distinct for location in record.candidates]
    locations += [record.function.location for record in distinct]
    files = intern_files(connection, {location.path for location in locations if location is not None})
    modules = _intern_modules(
        connection, dict.fromkeys(record.module for record in distinct if record.module is not None)
    )
    functions = _intern_functions(connection, dict.fromkeys(record.function for record in distinct), files, versions)
    ids = {record: _intern_frame(connection, record, functions, modules, files, versions) for record in distinct}
    renamed_records = [record for record in distinct if record.module in renamed]
    _update_frames(
        connection,
        [
            (ids[record], functions[record.function], build_location_columns(record.location, files))
            for record in renamed_records
        ],
    )
    return [ids[record] for record in records]


@dataclass(frozen=True, slots=True)
class StackLeaves:
    """A stack as leaves of the tree (0: none): the merged or native chain, the separate Python chain, and its site."""

    leaf: int
    python_leaf: int
    site_leaf: int
    outcome: MergeOutcome
    is_truncated: bool


def intern_stacks(connection: sqlite3.Connection, stacks: Sequence[StackLeaves]) -> list[int]:
    """Return the ids of these stacks, in their order, adding the new ones."""
    keys = [(each.leaf, each.python_leaf, each.site_leaf, each.outcome.value, each.is_truncated) for each in stacks]
    columns = ("leaf", "python_leaf", "site_leaf", "outcome", "is_truncated")
    insert = f"INSERT OR IGNORE INTO stacks({', '.join(columns)}) VALUES (?, ?, ?, ?, ?)"
    connection.executemany(insert, dict.fromkeys(keys))
    query = f"SELECT id FROM stacks WHERE {' AND '.join(f'{column} = ?' for column in columns)}"
    return [connection.execute(query, key).fetchone()[0] for key in keys]


LocationColumns = tuple[int | None, int | None, str | None]
"""A location as the columns file, line, how."""


def build_location_columns(location: Location | None, files: Mapping[str, int]) -> LocationColumns:
    """Return a location as the columns file, line, how."""
    return (None, None, None) if location is None else (files[location.path], location.line, location.how.value)


def _update_frames(connection: sqlite3.Connection, frames: Sequence[tuple[int, int, LocationColumns]]) -> None:
    """Update the functions and locations of frames that have changed."""
    former_functions = set()
    for frame, function, (file, line, how) in frames:
        row = connection.execute("SELECT function, recorded_file, recorded_line FROM frames WHERE id = ?", (frame,))
        before = row.fetchone()
        if before == (function, file, line):
            continue
        former_functions.add(before[0])
        connection.execute(
            "UPDATE frames SET function = ?1, file = ?2, line = ?3, how = ?4, version = NULL, recorded_file = ?2,"
            " recorded_line = ?3 WHERE id = ?5",
            (function, file, line, how, frame),
        )
        connection.execute("INSERT OR IGNORE INTO unmatched SELECT short_name FROM functions WHERE id = ?", (function,))
    delete_unused_functions(connection, sorted(former_functions))


def _intern_modules(connection: sqlite3.Connection, modules: Iterable[BinaryId]) -> dict[BinaryId, int]:
    ids = {}
    store_binaries(connection, [NamedBinary(module, "", NameSource.NOTHING) for module in modules])
    for module in modules:
        query = "SELECT id FROM modules WHERE path = ? AND build_id = ? AND fingerprint = ?"
        row = connection.execute(query, module).fetchone()
        ids[module] = row[0]
    return ids


def _intern_functions(
    connection: sqlite3.Connection,
    records: Iterable[FunctionRecord],
    files: Mapping[str, int],
    versions: Mapping[str, int | None],
) -> dict[FunctionRecord, int]:
    ids = {}
    new = set()
    for record in records:
        key = (record.module, record.name, record.symbol, record.unit, record.first_line, record.origin.release)
        query = (
            "SELECT id FROM functions WHERE module = ? AND name = ? AND symbol = ? AND unit = ? AND first_line = ?"
            " AND release = ?"
        )
        version = _find_version_of_lambda(record, versions)
        of_version = "" if version is None else f" AND version = {version}"
        row = connection.execute(f"{query}{of_version}", key).fetchone()
        if row is not None:
            ids[record] = row[0]
            continue
        new.add(record.short_name)
        file, line, how = build_location_columns(record.location, files)
        names = (record.language.value, record.role.value, record.short_name, record.mangled)
        ids[record] = connection.execute(
            "INSERT INTO functions(module, name, symbol, unit, first_line, release, is_release_known,"
            " language, role, short_name, mangled, file, line, how, version, end_line, recorded_file, calls, run,"
            " run_calls) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, 0, 0)",
            (*key, record.origin.is_known, *names, file, line, how, version, file),
        ).lastrowid
    add_recorded_names(connection, new)
    return ids


def _find_version_of_lambda(record: FunctionRecord, versions: Mapping[str, int | None]) -> int | None:
    """Return the version of the user's file that contains an unnamed Python function such as a lambda.

    None for all other functions: functions with the same name and first line are the same function.
    """
    last = record.name.rpartition(".")[2]
    is_unnamed = record.language is Language.PYTHON and last.startswith("<") and last != "<module>"
    return versions.get(record.location.path) if is_unnamed and record.location is not None else None


def _intern_frame(
    connection: sqlite3.Connection,
    record: FrameRecord,
    functions: Mapping[FunctionRecord, int],
    modules: Mapping[BinaryId, int],
    files: Mapping[str, int],
    versions: Mapping[str, int | None],
) -> int:
    function = functions[record.function]
    module = None if record.module is None else modules[record.module]
    file, line, _ = build_location_columns(record.location, files)
    recorded_line = line if line is not None else record.line or None
    offset = to_signed(record.offset)
    path = None if module is not None or record.location is None else record.location.path
    is_own, version = path in versions, versions.get(path or "")
    if module is None:
        query = "module IS NULL AND function = ? AND offset = ? AND recorded_line IS ?"
        query += " AND is_returning = ? AND recorded_file IS ?"
        key: tuple[int | None, ...] = (function, offset, recorded_line, int(record.is_returning), file)
        if is_own:
            query, key = f"{query} AND version IS ?", (*key, version)
    else:
        query, key = "module = ? AND offset = ? AND depth = ?", (module, offset, record.depth)
    row = connection.execute(f"SELECT id FROM frames WHERE {query}", key).fetchone()
    if row is not None:
        return int(row[0])
    # A new frame of a known function must be located, too.
    connection.execute("INSERT OR IGNORE INTO unmatched VALUES (?)", (record.function.short_name,))
    frame_columns = (function, module, offset, record.depth, int(record.depth > 0), int(record.is_returning))
    location_values = build_location_columns(record.location or record.stored_location, files)
    inserted = connection.execute(
        "INSERT INTO frames(function, module, offset, depth, inlined, is_returning, file, line, how, version,"
        " recorded_file, recorded_line) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*frame_columns, *location_values, version, file, recorded_line),
    ).lastrowid
    assert inserted is not None
    store_candidates(connection, inserted, record.candidates, files)
    return inserted


def store_candidates(
    connection: sqlite3.Connection, frame: int, candidates: Iterable[Location], files: Mapping[str, int]
) -> None:
    """Store the other possible locations of a frame, the likeliest first."""
    connection.executemany(
        "INSERT INTO candidates(frame, rank, file, line, how) VALUES (?, ?, ?, ?, ?)",
        [(frame, rank, *build_location_columns(spot, files)) for rank, spot in enumerate(candidates)],
    )


def add_names(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Add the short names of definitions to the search."""
    _insert_names(connection, "INSERT OR IGNORE INTO names(name, is_recorded) VALUES (?, 0)", set(names))


def add_recorded_names(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Add the names of recorded functions, boundary functions and FFI targets to the search."""
    query = (
        "INSERT INTO names(name, is_recorded) VALUES (?, 1)"
        " ON CONFLICT DO UPDATE SET is_recorded = 1 WHERE NOT is_recorded"
    )
    _insert_names(connection, query, set(names))


def _insert_names(connection: sqlite3.Connection, query: str, names: set[str]) -> None:
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM names").fetchone()
    connection.executemany(query, [(name,) for name in names])
    # In one statement: a trigger for each name takes three times as long.
    connection.execute("INSERT INTO name_parts(rowid, name) SELECT id, name FROM names WHERE id > ?", (last,))


def delete_unused_names(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Delete the short names that no definition and no recorded function has any more."""
    connection.executemany(
        "DELETE FROM names WHERE name = ?1 COLLATE NOCASE AND name = ?1 AND NOT is_recorded"
        " AND NOT EXISTS (SELECT 1 FROM definitions WHERE short_name = ?1)",
        [(name,) for name in names],
    )


def read_binaries(connection: sqlite3.Connection) -> list[NamedBinary]:
    """Return the binaries of the frames, with the source of their names."""
    rows = connection.execute("SELECT path, build_id, fingerprint, content, named_from FROM modules ORDER BY id")
    return [NamedBinary(BinaryId(*row[:3]), row[3], NameSource(row[4])) for row in rows]


def store_binaries(connection: sqlite3.Connection, named: Iterable[NamedBinary]) -> set[BinaryId]:
    """Store the source of each binary's names; return the known binaries whose source has improved."""
    risen = set()
    for binary, content, source in named:
        row = connection.execute(
            "SELECT id, named_from FROM modules WHERE path = ? AND build_id = ? AND fingerprint = ?", binary
        ).fetchone()
        if row is None:
            connection.execute(
                "INSERT INTO modules(path, build_id, fingerprint, content, named_from) VALUES (?, ?, ?, ?, ?)",
                (*binary, content, source),
            )
            continue
        if row[1] < source:
            risen.add(binary)
        connection.execute(
            "UPDATE modules SET named_from = max(named_from, ?), content = iif(content = '', ?, content) WHERE id = ?",
            (source, content, row[0]),
        )
    return risen


def delete_unused_functions(connection: sqlite3.Connection, functions: Sequence[int]) -> None:
    """Delete the functions among these that no frame refers to any more, because their frames got better names."""
    unused = f"id {IN_JSON} AND NOT EXISTS (SELECT 1 FROM frames WHERE function = functions.id)"
    deleted = connection.execute(
        f"DELETE FROM functions WHERE {unused} RETURNING short_name", (build_json_list(functions),)
    )
    names = [name for (name,) in deleted.fetchall()]
    connection.executemany(
        "UPDATE names SET is_recorded = 0 WHERE name = ?1 COLLATE NOCASE AND name = ?1"
        " AND NOT EXISTS (SELECT 1 FROM functions WHERE short_name = ?1)",
        [(name,) for name in names],
    )
    delete_unused_names(connection, names)
