"""The writer of an index file: captures and sources, in transactions that each leave it consistent.

If a project was moved, the paths in its index are updated.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from framedex.index.file.conventions import RELEASED_FILES, Row
from framedex.index.file.database import (
    LockTimeout,
    OutdatedIndexError,
    check_not_newer,
    check_version,
    connect_writing,
    damaged_index_error,
    is_blank,
    prepare_folder,
    read_file_identity,
    translate_errors,
)
from framedex.index.file.log_space import check_free_space, checkpoint_log, remove_index, truncate_log
from framedex.index.file.paths import LATEST_PROJECT_FOLDER, PROJECT_FOLDERS, build_project_moves, find_project_folder
from framedex.index.file.schema import create_schema, drop_everything
from framedex.index.file.seal import CHEAP_CHECKSUM_BYTES, SealWriter
from framedex.index.file.values import to_storable
from framedex.index.write import sources
from framedex.index.write.aggregates import rebuild_line_totals, rebuild_totals
from framedex.index.write.bulk_rows import attach_batch_database
from framedex.index.write.capture import CaptureWriter
from framedex.index.write.interning import read_binaries
from framedex.index.write.records import CaptureRecord, FrameTotals, KnownCapture, NamedBinary
from framedex.index.write.removal import delete_calls, remove_captures
from framedex.index.write.source_files import delete_definitions
from framedex.index.write.tree import StackTree, read_nodes
from framedex.model import Language
from framedex.model.locations import NEAREST_SUFFIX
from framedex.path_resolution.moved_files import FolderMove, FolderMoves

_KNOWN_CAPTURES = "SELECT id, path, identity, signature, calls, reading FROM captures"


class Store:
    """The writer of an index file: a context manager that creates the file if it is missing.

    Raises FramedexError with a remedy if the file is not an index, is damaged, locked, of another version, or not
    writable. `patience` is the time to wait for another writer. Transactions may be nested: only the outermost commits.
    """

    def __init__(self, path: Path, patience: LockTimeout | None = None) -> None:
        while True:
            self._open(path, patience or LockTimeout())
            try:
                with self.transaction():
                    if not self._was_replaced():
                        self._is_new = is_blank(self._connection)
                        if self._is_new:
                            create_schema(self._connection)
                        check_version(self._connection, path)
                        self._check_tree()
                        self.moved_from = update_project_paths(self._connection, path)
                        return
            except BaseException as error:
                self._close_after(error)
                raise
            self.close()

    @classmethod
    def open_any_version(cls, path: Path, patience: LockTimeout) -> Store:
        """Open an index of any version, to `clear` it."""
        store = cls.__new__(cls)
        store._open(path, patience)
        return store

    def _open(self, path: Path, patience: LockTimeout) -> None:
        self.path = path
        self._lock_timeout = patience
        prepare_folder(path)
        self._existed_before = os.path.lexists(path)
        self._seal = SealWriter(path)
        self._max_sealed_bytes = CHEAP_CHECKSUM_BYTES
        try:
            self._connection = connect_writing(path, patience)
        except BaseException:
            self._seal.close(is_same=True, is_complete=False, max_bytes=0)
            raise
        attach_batch_database(self._connection)
        self.moved_from = None
        """The previous folder of its project, if the project was moved since the index was last opened."""
        self._depth = 0
        self._tree: StackTree | None = None
        self._data_version: int | None = None  # SQLite's `data_version`, which changes when another process writes
        self._is_new = False
        self._identity = read_file_identity(path)
        self.sources = sources.SourceTables(self._connection, path)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close_after(error)

    @property
    def was_changed_outside(self) -> bool:
        """Return whether a program other than framedex had changed the file before it was opened (see `seal`)."""
        return self._seal.was_changed_outside

    def check_structure(self) -> None:
        """Raise DamagedIndexError if the file's structure is broken: tables rebuilt inside it would be broken, too."""
        with translate_errors(self.path):
            (found,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise damaged_index_error(self.path, found)

    def _check_tree(self) -> None:
        """Raise DamagedIndexError if the tree of nodes was changed and may have cycles, which would never end."""
        query = (
            "SELECT 1 FROM nodes n LEFT JOIN nodes p ON p.id = n.parent"
            " WHERE n.parent <> 0 AND p.depth + 1 IS NOT n.depth LIMIT 1"
        )
        if self.was_changed_outside and self._connection.execute(query).fetchone():
            raise damaged_index_error(self.path, "the nodes of its stacks do not form a tree")

    def mark_rebuilt(self) -> None:
        """Mark the index as rebuilt: it no longer contains changes by other programs."""
        self._seal.was_changed_outside = False

    def seal(self) -> None:
        """Let `close` seal a file of any size. Call it only after long work: a large checksum takes time."""
        self._max_sealed_bytes = sys.maxsize

    def close(self) -> None:
        """Close the file. Uncommitted changes are lost."""
        is_same = not self._connection.total_changes
        is_complete = self._may_be_sealed() and checkpoint_log(self._connection)
        self._connection.close()
        self._seal.close(is_same=is_same, is_complete=is_complete, max_bytes=self._max_sealed_bytes)

    def _was_replaced(self) -> bool:
        """Return whether another process removed or replaced the file while this one waited for its lock."""
        return read_file_identity(self.path) != self._identity

    def _may_be_sealed(self) -> bool:
        try:
            return self.path.stat().st_size <= self._max_sealed_bytes
        except OSError:
            return False

    def _close_after(self, error: BaseException | None) -> None:
        """Close the file. After an error, remove a new empty file: it would hide the index of a parent folder."""
        is_ours = self._is_new and not self._existed_before
        if isinstance(error, Exception) and is_ours and self._is_empty():
            remove_index(self._connection, self.path)
        self.close()

    def _is_empty(self) -> bool:
        try:
            return is_blank(self._connection) or not any(
                self._connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
                for table in ("captures", "source_files", "source_maps")
            )
        except sqlite3.Error:
            return False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all changes made inside when the outermost transaction succeeds; otherwise roll them back.

        If a nested transaction fails and the outer one continues, only the nested changes are rolled back.
        """
        with translate_errors(self.path):
            begin, end, undo = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
            if self._depth:
                name = f"nested_{self._depth}"
                begin, end, undo = (f"SAVEPOINT {name}", f"RELEASE {name}", f"ROLLBACK TO {name}")
            self._lock_timeout.retry_while_locked(lambda: self._connection.execute(begin))
            self._depth += 1
            try:
                if self._depth == 1:
                    self._refresh_tree()
                yield
                if self._depth == 1:
                    check_free_space(self._connection, self.path)
                self._connection.execute(end)
            except BaseException:
                self._data_version = None  # the tree in memory has nodes that were rolled back
                if self._connection.in_transaction:
                    self._connection.execute(undo)
                if self._depth == 1:
                    truncate_log(self._connection, self.path)
                raise
            finally:
                self._depth -= 1

    def _refresh_tree(self) -> None:
        """Read the tree again if another process has written, or if changes were rolled back."""
        (state,) = self._connection.execute("PRAGMA data_version").fetchone()
        if self._tree is not None and state != self._data_version:
            self._tree.read()
        self._data_version = state

    def has_current_version(self) -> bool:
        """Return whether the index is already of this version."""
        with suppress(OutdatedIndexError):
            check_version(self._connection, self.path)
            return True
        return False

    def clear(self) -> tuple[list[str], list[KnownCapture]]:
        """Empty the index; return the data that is not in captures: the source roots, and the paths of the captures.

        Raises NewerIndexError if a newer framedex wrote the index.
        """
        with self.transaction():
            check_not_newer(self._connection, self.path)
            roots, captures = self.read_roots_and_captures()
            places = self._read_rows_if_any(PROJECT_FOLDERS)
            drop_everything(self._connection)
            create_schema(self._connection)
            self._connection.executemany("INSERT INTO project_folders(path) VALUES (?)", places)
            update_project_paths(self._connection, self.path)
            self._tree = None
        return roots, captures

    def map_files(self) -> list[Path]:
        """Return the files of the imported source maps, also from an index of another version."""
        return [
            Path(path)
            for (path,) in self._read_rows_if_any("SELECT path FROM source_maps WHERE path IS NOT NULL ORDER BY id")
        ]

    def read_roots_and_captures(self) -> tuple[list[str], list[KnownCapture]]:
        """Return source roots and captures, also from an index of another version with the same column names."""
        roots = self._read_rows_if_any("SELECT path FROM source_roots ORDER BY id")
        captures = (
            self._read_rows_if_any(f"{_KNOWN_CAPTURES} ORDER BY started, id")
            or self._read_rows_if_any("SELECT id, path, identity, signature, calls FROM captures ORDER BY started, id")
            or self._read_rows_if_any("SELECT id, path, path, '', calls FROM captures ORDER BY started, id")
        )
        return [path for (path,) in roots], [KnownCapture(row[0], Path(row[1]), *row[2:]) for row in captures]

    def _read_rows_if_any(self, query: str) -> list[Row]:
        try:
            return self._connection.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []

    def known_capture(self, identity: str) -> KnownCapture | None:
        """Return the stored data of the capture with this identity; None if it is not indexed."""
        with translate_errors(self.path):
            row = self._connection.execute(f"{_KNOWN_CAPTURES} WHERE identity = ?", (to_storable(identity),)).fetchone()
        return None if row is None else KnownCapture(row[0], Path(row[1]), *row[2:])

    def move_capture(self, capture_id: int, path: Path) -> None:
        """Store `path` (absolute) as the new path of a capture's folder."""
        with self.transaction():
            self._connection.execute("UPDATE captures SET path = ? WHERE id = ?", (to_storable(str(path)), capture_id))

    def captures(self) -> list[KnownCapture]:
        """Return the indexed captures, in the order of their start."""
        with translate_errors(self.path):
            rows = self._connection.execute(f"{_KNOWN_CAPTURES} ORDER BY started, id").fetchall()
        return [KnownCapture(row[0], Path(row[1]), *row[2:]) for row in rows]

    def mark_capture_stale(self, capture_id: int) -> None:
        """Mark a capture as stale, so that the next run reads it again."""
        with self.transaction():
            self._connection.execute("UPDATE captures SET signature = '' WHERE id = ?", (capture_id,))

    def binaries(self) -> list[NamedBinary]:
        """Return the binaries of recorded frames, with the source of their names."""
        with translate_errors(self.path):
            return read_binaries(self._connection)

    def remove_captures(self, captures: Collection[int]) -> int:
        """Remove captures by their ids; returns the number of bytes freed inside the file."""
        with self.transaction():
            before = self._free_bytes()
            remove_captures(self._connection, captures)
            self._tree = None
            return self._free_bytes() - before

    def empty_captures(self, captures: Collection[int]) -> None:
        """Remove the calls of captures, which the same transaction then reads again."""
        with self.transaction():
            for capture in captures:
                delete_calls(self._connection, capture)
                self._connection.execute(
                    "UPDATE captures SET calls = 0, first_call = NULL, last_call = NULL, reserved_call = NULL"
                    " WHERE id = ?",
                    (capture,),
                )
            rebuild_totals(self._connection, read_nodes(self._connection))

    def _free_bytes(self) -> int:
        pragmas = ("freelist_count", "page_size")
        pages, size = (self._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas)
        return int(pages * size)

    def read_project_moves(self) -> FolderMoves:
        """Return the moves from the project's former folders to its current folder."""
        with translate_errors(self.path):
            return build_project_moves([path for (path,) in self._connection.execute(PROJECT_FOLDERS)])

    def totals(self) -> FrameTotals:
        """Return the counts of named and located frames."""
        query = (
            "SELECT coalesce(sum(NOT inlined), 0), coalesce(sum(NOT inlined AND symbol <> ''), 0),"
            " coalesce(sum(fr.how = 'exact'), 0), coalesce(sum(fr.how IS NOT NULL AND fr.how <> 'exact'), 0)"
            " FROM frames fr JOIN functions fn ON fn.id = fr.function WHERE fn.language = ?"
        )
        with translate_errors(self.path):
            native = self._connection.execute(query, (Language.NATIVE.value,)).fetchone()
            python = self._connection.execute(query, (Language.PYTHON.value,)).fetchone()[0:3:2]
            in_maps = (
                f"SELECT count(*), coalesce(sum(f.path LIKE '%{NEAREST_SUFFIX}:%'), 0) FROM frames fr"
                f" JOIN files f ON f.id = fr.file WHERE fr.file IN ({RELEASED_FILES})"
            )
            released = self._connection.execute(in_maps).fetchone()
        return FrameTotals(*native, *python, *released)

    def begin_capture(self, record: CaptureRecord, reserve: int) -> CaptureWriter | None:
        """Begin to write a capture of at most `reserve` calls, replacing an older state of it.

        Returns None if it is stored with the same signature. An interrupted capture is continued. Several captures may
        be written in turns.
        """
        with self.transaction():
            known = self.known_capture(record.identity or str(record.capture.path))
            if known is not None and known.signature == record.signature != "":
                return None
            self._tree = self._tree or StackTree(self._connection)
            return CaptureWriter(self._connection, self.transaction, self._tree, record, reserve)


_PATH_COLUMNS = (
    ("files", "path"),
    ("captures", "path"),
    ("modules", "path"),
    ("functions", "module"),
    ("builds", "folder"),
    ("source_roots", "path"),
    ("source_maps", "path"),
    ("macros", "root"),
)
"""The columns with paths of files and folders."""

_FILE_ID_COLUMNS = (
    ("frames", "file"),
    ("frames", "recorded_file"),
    ("functions", "file"),
    ("functions", "recorded_file"),
    ("candidates", "file"),
    ("file_versions", "file"),
    ("program_frames", "file"),
    ("program_frames", "recorded_file"),
)
"""The columns with the ids of files, except those of indexed source files and of totals."""


def update_project_paths(connection: sqlite3.Connection, path: Path) -> str | None:
    """Update the paths in the index at `path` to the project's folder; return its old folder, None if it has not moved.

    Runs inside the caller's transaction. A file that is in neither folder is reported as missing in the new one.
    """
    here, known = find_project_folder(path), connection.execute(LATEST_PROJECT_FOLDER).fetchone()
    if here is None or (known is not None and known[0] == to_storable(here)):
        return None
    connection.execute("INSERT INTO project_folders(path) VALUES (?)", (to_storable(here),))
    if known is None:
        return None
    _update_paths(connection, FolderMove(known[0], to_storable(here), is_whole=True))
    return str(known[0])


def _update_paths(connection: sqlite3.Connection, move: FolderMove) -> None:
    for table, column in _PATH_COLUMNS:
        inside = f"({column} = ?1 OR substr({column}, 1, length(?1) + 1) = ?1 || '/')"
        rows = connection.execute(f"SELECT DISTINCT {column} FROM {table} WHERE {inside}", (move.before,)).fetchall()
        moved = [(new_path, path) for (path,) in rows if (new_path := move.current_path(path)) != path]
        if table == "files":
            _merge_files(connection, moved)
        # An existing row of another table, from a recording made in the new folder, stays unchanged.
        connection.executemany(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} = ?", moved)


def _merge_files(connection: sqlite3.Connection, moved: Sequence[tuple[str, str]]) -> None:
    """Merge the old and new row of a moved file if both are stored: debug information may still name the old path."""
    query = "SELECT new.id, old.id FROM files new, files old WHERE new.path = ? AND old.path = ?"
    pairs = [row for names in moved for row in connection.execute(query, names)]
    if not pairs:
        return
    new_files = [(new,) for new, _ in pairs]
    delete_definitions(connection, [new for (new,) in new_files])
    connection.executemany("DELETE FROM source_files WHERE file = ?", new_files)
    for table, column in _FILE_ID_COLUMNS:
        connection.executemany(f"UPDATE OR IGNORE {table} SET {column} = ?2 WHERE {column} = ?1", pairs)
    connection.executemany("DELETE FROM files WHERE id = ?", new_files)
    rebuild_line_totals(connection)
