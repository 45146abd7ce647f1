"""Write the index: captures and sources, in transactions that each leave it consistent."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from framedex.index.file.conventions import Row
from framedex.index.file.database import (
    OutdatedIndexError,
    Patience,
    check_version,
    connect_writing,
    damaged,
    file_identity,
    is_blank,
    prepare_folder,
    refuse_newer,
    translated,
)
from framedex.index.file.log_space import check_room, is_written_back, remove_index, shorten_log
from framedex.index.file.project import PLACES, former_places
from framedex.index.file.schema import create, drop_everything
from framedex.index.file.seal import CHEAP, Sealing
from framedex.index.file.source_map_rows import RELEASED_FILES
from framedex.index.file.values import storable
from framedex.index.write import sources
from framedex.index.write.binaries import known_binaries
from framedex.index.write.bulk import prepare
from framedex.index.write.capture import CaptureWriter
from framedex.index.write.moving import follow_project
from framedex.index.write.records import CaptureRecord, KnownCapture, NamedBinary
from framedex.index.write.removal import remove_captures
from framedex.index.write.totals import Totals
from framedex.index.write.tree import Tree
from framedex.model import Language
from framedex.model.places import NEAREST
from framedex.path_resolution.moves import Moves

_KNOWN_CAPTURES = "SELECT id, path, identity, signature, calls, reading FROM captures"


class Store:
    """The writer of an index file: a context manager that creates the file if it is missing.

    Raises FramedexError with a remedy if the file is not an index, is damaged, locked, of another version, or not
    writable. It waits for another writer with `patience`. Transactions may be nested: only the outermost commits.
    """

    def __init__(self, path: Path, patience: Patience | None = None) -> None:
        while True:
            self._open(path, patience or Patience())
            try:
                with self.transaction():
                    if not self._is_gone():
                        self._is_new = is_blank(self._connection)
                        if self._is_new:
                            create(self._connection)
                        check_version(self._connection, path)
                        self._check_tree()
                        self.moved_from = follow_project(self._connection, path)
                        return
            except BaseException as error:
                self._leave(error)
                raise
            self.close()

    @classmethod
    def of_any_version(cls, path: Path, patience: Patience) -> Store:
        """Open an index of any version, only to `clear` it."""
        store = cls.__new__(cls)
        store._open(path, patience)
        return store

    def _open(self, path: Path, patience: Patience) -> None:
        self.path = path
        self._patience = patience
        prepare_folder(path)
        self._was_there = os.path.lexists(path)
        self._seal = Sealing(path)
        self._sealed_up_to = CHEAP
        try:
            self._connection = connect_writing(path, patience)
        except BaseException:
            self._seal.close(is_same=True, is_complete=False, at_most=0)
            raise
        prepare(self._connection)
        self.moved_from = None
        """The previous folder of its project, if the project was moved since the index was last opened."""
        self._depth = 0
        self._tree: Tree | None = None
        self._state: int | None = None  # SQLite's `data_version`, which changes when others write
        self._is_new = False
        self._opened = file_identity(path)
        self.sources = sources.SourceTables(self._connection, path)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave(error)

    @property
    def is_doubtful(self) -> bool:
        """Return whether a program other than framedex had changed the file before it was opened (see `seal`)."""
        return self._seal.is_doubtful

    def check_structure(self) -> None:
        """Raise DamagedIndexError if the file's structure is broken: tables rebuilt inside it would be broken, too."""
        with translated(self.path):
            (found,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise damaged(self.path, found)

    def _check_tree(self) -> None:
        """Raise DamagedIndexError if the tree of nodes was changed and may have cycles, which would never end."""
        query = (
            "SELECT 1 FROM nodes n LEFT JOIN nodes p ON p.id = n.parent"
            " WHERE n.parent <> 0 AND p.depth + 1 IS NOT n.depth LIMIT 1"
        )
        if self.is_doubtful and self._connection.execute(query).fetchone():
            raise damaged(self.path, "the tree of its stacks is none")

    def is_made_anew(self) -> None:
        """Mark the index as rebuilt: it contains no changes by other programs any more."""
        self._seal.is_doubtful = False

    def seal(self) -> None:
        """Seal the file when it is closed, whatever its size. Call this at the end of work that took long anyway."""
        self._sealed_up_to = sys.maxsize

    def close(self) -> None:
        """Close the file. Uncommitted changes are lost."""
        is_same = not self._connection.total_changes
        is_complete = self._is_to_be_sealed() and is_written_back(self._connection)
        self._connection.close()
        self._seal.close(is_same=is_same, is_complete=is_complete, at_most=self._sealed_up_to)

    def _is_gone(self) -> bool:
        """Return whether another process removed the empty file while this one waited for its turn."""
        return file_identity(self.path) != self._opened

    def _is_to_be_sealed(self) -> bool:
        try:
            return self.path.stat().st_size <= self._sealed_up_to
        except OSError:
            return False

    def _leave(self, error: BaseException | None) -> None:
        """Close the file. Remove a new empty one after an error: it would hide the index of a parent folder."""
        is_ours = self._is_new and not self._was_there
        if isinstance(error, Exception) and is_ours and self._holds_nothing():
            remove_index(self._connection, self.path)
        self.close()

    def _holds_nothing(self) -> bool:
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
        with translated(self.path):
            begin, end, undo = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
            if self._depth:
                name = f"nested_{self._depth}"
                begin, end, undo = (f"SAVEPOINT {name}", f"RELEASE {name}", f"ROLLBACK TO {name}")
            self._patience.wait_for(lambda: self._connection.execute(begin))
            self._depth += 1
            try:
                if self._depth == 1:
                    self._notice_others()
                yield
                if self._depth == 1:
                    check_room(self._connection, self.path)
                self._connection.execute(end)
            except BaseException:
                self._state = None  # the tree in memory has rows that are rolled back
                if self._connection.in_transaction:
                    self._connection.execute(undo)
                if self._depth == 1:
                    shorten_log(self._connection, self.path)
                raise
            finally:
                self._depth -= 1

    def _notice_others(self) -> None:
        """Read the tree again if others have written since, or if changes were rolled back."""
        (state,) = self._connection.execute("PRAGMA data_version").fetchone()
        if self._tree is not None and state != self._state:
            self._tree.read()
        self._state = state

    def is_current(self) -> bool:
        """Return whether the index is already of this version."""
        with suppress(OutdatedIndexError):
            check_version(self._connection, self.path)
            return True
        return False

    def clear(self) -> tuple[list[str], list[KnownCapture]]:
        """Empty the index; return the data that captures do not contain: source roots and the paths of its captures.

        Raises NewerIndexError if a later framedex made the index.
        """
        with self.transaction():
            refuse_newer(self._connection, self.path)
            roots, captures = self.remembered()
            places = self._rows_if_any(PLACES)
            drop_everything(self._connection)
            create(self._connection)
            self._connection.executemany("INSERT INTO project_folders(path) VALUES (?)", places)
            follow_project(self._connection, self.path)
            self._tree = None
        return roots, captures

    def map_files(self) -> list[Path]:
        """Return the files that the stored source maps were read from, also for an index of another version."""
        return [
            Path(path)
            for (path,) in self._rows_if_any("SELECT path FROM source_maps WHERE path IS NOT NULL ORDER BY id")
        ]

    def remembered(self) -> tuple[list[str], list[KnownCapture]]:
        """Return source roots and captures, if an index of another version has them under the same names."""
        roots = self._rows_if_any("SELECT path FROM source_roots ORDER BY id")
        captures = (
            self._rows_if_any(f"{_KNOWN_CAPTURES} ORDER BY started, id")
            or self._rows_if_any("SELECT id, path, identity, signature, calls FROM captures ORDER BY started, id")
            or self._rows_if_any("SELECT id, path, path, '', calls FROM captures ORDER BY started, id")
        )
        return [path for (path,) in roots], [KnownCapture(row[0], Path(row[1]), *row[2:]) for row in captures]

    def _rows_if_any(self, query: str) -> list[Row]:
        try:
            return self._connection.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []

    def known_capture(self, identity: str) -> KnownCapture | None:
        """Return the stored data of the capture with this identity; None if it is not indexed."""
        with translated(self.path):
            row = self._connection.execute(f"{_KNOWN_CAPTURES} WHERE identity = ?", (storable(identity),)).fetchone()
        return None if row is None else KnownCapture(row[0], Path(row[1]), *row[2:])

    def move_capture(self, capture_id: int, path: Path) -> None:
        """Store `path` (absolute) as the new path of a capture's folder."""
        with self.transaction():
            self._connection.execute("UPDATE captures SET path = ? WHERE id = ?", (storable(str(path)), capture_id))

    def captures(self) -> list[KnownCapture]:
        """Return the indexed captures, in the order of their start."""
        with translated(self.path):
            rows = self._connection.execute(f"{_KNOWN_CAPTURES} ORDER BY started, id").fetchall()
        return [KnownCapture(row[0], Path(row[1]), *row[2:]) for row in rows]

    def owe_capture(self, capture_id: int) -> None:
        """Mark a capture as stale, so that the next run reads it again."""
        with self.transaction():
            self._connection.execute("UPDATE captures SET signature = '' WHERE id = ?", (capture_id,))

    def binaries(self) -> list[NamedBinary]:
        """Return the binaries of recorded frames, with the source of their names."""
        with translated(self.path):
            return known_binaries(self._connection)

    def remove_captures(self, captures: Collection[int]) -> int:
        """Remove captures by their ids; returns the number of bytes freed inside the file."""
        with self.transaction():
            before = self._free_bytes()
            remove_captures(self._connection, captures)
            self._tree = None
            return self._free_bytes() - before

    def _free_bytes(self) -> int:
        asked = ("freelist_count", "page_size")
        pages, size = (self._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in asked)
        return int(pages * size)

    def former_places(self) -> Moves:
        """Return the moves from the project's former folders to its present folder."""
        with translated(self.path):
            return former_places([path for (path,) in self._connection.execute(PLACES)])

    def totals(self) -> Totals:
        """Return the counts of named and located frames."""
        query = (
            "SELECT coalesce(sum(NOT inlined), 0), coalesce(sum(NOT inlined AND symbol <> ''), 0),"
            " coalesce(sum(fr.how = 'exact'), 0), coalesce(sum(fr.how IS NOT NULL AND fr.how <> 'exact'), 0)"
            " FROM frames fr JOIN functions fn ON fn.id = fr.function WHERE fn.language = ?"
        )
        with translated(self.path):
            native = self._connection.execute(query, (Language.NATIVE.value,)).fetchone()
            python = self._connection.execute(query, (Language.PYTHON.value,)).fetchone()[0:3:2]
            in_maps = (
                f"SELECT count(*), coalesce(sum(f.path LIKE '%{NEAREST}:%'), 0) FROM frames fr"
                f" JOIN files f ON f.id = fr.file WHERE fr.file IN ({RELEASED_FILES})"
            )
            released = self._connection.execute(in_maps).fetchone()
        return Totals(*native, *python, *released)

    def begin_capture(self, record: CaptureRecord, reserve: int) -> CaptureWriter | None:
        """Begin to write a capture of at most `reserve` calls, replacing an older state of it.

        Returns None if it is stored with the same signature. An interrupted capture is continued. Several captures may
        be written in turns.
        """
        with self.transaction():
            known = self.known_capture(record.identity or str(record.capture.path))
            if known is not None and known.signature == record.signature != "":
                return None
            self._tree = self._tree or Tree(self._connection)
            return CaptureWriter(self._connection, self.transaction, self._tree, record, reserve)
