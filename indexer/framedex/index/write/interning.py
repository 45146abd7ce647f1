"""Rows that exist once: files, modules, functions, frames and stacks."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from framedex.index.file.values import signed
from framedex.index.write.binaries import drop_nameless, note_binaries
from framedex.index.write.names import add_recorded_names
from framedex.index.write.records import FrameRecord, FunctionRecord, NamedBinary, NamesFrom
from framedex.model import BinaryId, Language, Location, MergeOutcome


def file_ids(connection: sqlite3.Connection, paths: Iterable[str]) -> dict[str, int]:
    """Return the ids of these paths, adding the new ones."""
    wanted = set(paths)
    connection.executemany("INSERT OR IGNORE INTO files(path) VALUES (?)", [(path,) for path in sorted(wanted)])
    query = "SELECT id FROM files WHERE path = ?"
    return {path: connection.execute(query, (path,)).fetchone()[0] for path in wanted}


def frame_ids(
    connection: sqlite3.Connection,
    records: Sequence[FrameRecord],
    versions: Mapping[str, int | None],
    renamed: Collection[BinaryId] = (),
) -> list[int]:
    """Return the ids of these frames, in their order. New frames are added along with their functions and modules.

    `versions` has the states of the program's own Python files, by path: a frame in two states of a file is two frames.
    Known frames of binaries in `renamed` are updated from these records.
    """
    distinct = dict.fromkeys(records)
    places = [record.location or record.found for record in distinct]
    places += [record.function.location for record in distinct]
    files = file_ids(connection, {place.path for place in places if place is not None})
    modules = _module_ids(connection, dict.fromkeys(record.module for record in distinct if record.module is not None))
    functions = _function_ids(connection, dict.fromkeys(record.function for record in distinct), files, versions)
    ids = {record: _frame_id(connection, record, functions, modules, files, versions) for record in distinct}
    again = [record for record in distinct if record.module in renamed]
    _rename(connection, [(ids[record], functions[record.function], place(record.location, files)) for record in again])
    return [ids[record] for record in records]


@dataclass(frozen=True, slots=True)
class Chains:
    """A stack as leaves of the tree (0: none): the merged or native chain, the separate Python chain, and its site."""

    leaf: int
    python_leaf: int
    site_leaf: int
    outcome: MergeOutcome
    is_truncated: bool


def stack_ids(connection: sqlite3.Connection, stacks: Sequence[Chains]) -> list[int]:
    """Return the ids of these stacks, in their order, adding the new ones."""
    keys = [(each.leaf, each.python_leaf, each.site_leaf, each.outcome.value, each.is_truncated) for each in stacks]
    columns = ("leaf", "python_leaf", "site_leaf", "outcome", "is_truncated")
    insert = f"INSERT OR IGNORE INTO stacks({', '.join(columns)}) VALUES (?, ?, ?, ?, ?)"
    connection.executemany(insert, dict.fromkeys(keys))
    query = f"SELECT id FROM stacks WHERE {' AND '.join(f'{column} = ?' for column in columns)}"
    return [connection.execute(query, key).fetchone()[0] for key in keys]


Place = tuple[int | None, int | None, str | None]
"""A location as the columns file, line, how."""


def place(location: Location | None, files: Mapping[str, int]) -> Place:
    """Return a location as the columns file, line, how."""
    return (None, None, None) if location is None else (files[location.path], location.line, location.how.value)


def _rename(connection: sqlite3.Connection, frames: Sequence[tuple[int, int, Place]]) -> None:
    """Update the functions and locations of frames that have changed."""
    former = set()
    for frame, function, (file, line, how) in frames:
        known = connection.execute("SELECT function, recorded_file, recorded_line FROM frames WHERE id = ?", (frame,))
        before = known.fetchone()
        if before == (function, file, line):
            continue
        former.add(before[0])
        connection.execute(
            "UPDATE frames SET function = ?1, file = ?2, line = ?3, how = ?4, version = NULL, recorded_file = ?2,"
            " recorded_line = ?3 WHERE id = ?5",
            (function, file, line, how, frame),
        )
        connection.execute("INSERT OR IGNORE INTO unmatched SELECT short_name FROM functions WHERE id = ?", (function,))
    drop_nameless(connection, sorted(former))


def _module_ids(connection: sqlite3.Connection, modules: Iterable[BinaryId]) -> dict[BinaryId, int]:
    ids = {}
    note_binaries(connection, [NamedBinary(module, "", NamesFrom.NOTHING) for module in modules])
    for module in modules:
        query = "SELECT id FROM modules WHERE path = ? AND build_id = ? AND fingerprint = ?"
        row = connection.execute(query, module).fetchone()
        ids[module] = row[0]
    return ids


def _function_ids(
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
        version = _version_of_unnamed(record, versions)
        of_version = "" if version is None else f" AND version = {version}"
        row = connection.execute(f"{query}{of_version}", key).fetchone()
        if row is not None:
            ids[record] = row[0]
            continue
        new.add(record.short_name)
        file, line, how = place(record.location, files)
        names = (record.language.value, record.role.value, record.short_name, record.mangled)
        ids[record] = connection.execute(
            "INSERT INTO functions(module, name, symbol, unit, first_line, release, is_release_known,"
            " language, role, short_name, mangled, file, line, how, version, end_line, recorded_file, calls, run,"
            " run_calls) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, 0, 0, 0)",
            (*key, record.origin.is_known, *names, file, line, how, version, file),
        ).lastrowid
    add_recorded_names(connection, new)
    return ids


def _version_of_unnamed(record: FunctionRecord, versions: Mapping[str, int | None]) -> int | None:
    """Return the state of the program's own file of an unnamed Python function (a lambda), which makes it distinct.

    None for all other functions: a function with the same name and first line is the same function.
    """
    last = record.name.rpartition(".")[2]
    is_unnamed = record.language is Language.PYTHON and last.startswith("<") and last != "<module>"
    return versions.get(record.location.path) if is_unnamed and record.location is not None else None


def _frame_id(
    connection: sqlite3.Connection,
    record: FrameRecord,
    functions: Mapping[FunctionRecord, int],
    modules: Mapping[BinaryId, int],
    files: Mapping[str, int],
    versions: Mapping[str, int | None],
) -> int:
    function = functions[record.function]
    module = None if record.module is None else modules[record.module]
    file, line, _ = place(record.location, files)
    recorded_line = line if line is not None else record.line or None
    offset = signed(record.offset)
    path = None if module is not None or record.location is None else record.location.path
    is_own, version = path in versions, versions.get(path or "")
    if module is None:
        query = "module IS NULL AND function = ? AND offset = ? AND recorded_line IS ?"
        query += " AND is_returning = ? AND recorded_file IS ?"
        key: tuple[int | None, ...] = (function, offset, recorded_line, int(record.returning), file)
        if is_own:
            query, key = f"{query} AND version IS ?", (*key, version)
    else:
        query, key = "module = ? AND offset = ? AND depth = ?", (module, offset, record.depth)
    row = connection.execute(f"SELECT id FROM frames WHERE {query}", key).fetchone()
    if row is not None:
        return int(row[0])
    # A new frame of a known function has to be located, too.
    connection.execute("INSERT OR IGNORE INTO unmatched VALUES (?)", (record.function.short_name,))
    what = (function, module, offset, record.depth, int(record.depth > 0), int(record.returning))
    stands = place(record.location or record.found, files)
    inserted = connection.execute(
        "INSERT INTO frames(function, module, offset, depth, inlined, is_returning, file, line, how, version,"
        " recorded_file, recorded_line) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*what, *stands, version, file, recorded_line),
    ).lastrowid
    assert inserted is not None
    return inserted
