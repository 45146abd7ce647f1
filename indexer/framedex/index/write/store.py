"""Writing the index: captures and sources, each in one transaction, so an interruption leaves what was there whole."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType

import numpy as np

from framedex.ffi.joins import BOUNDARY
from framedex.index.file.conventions import SAMPLES, Row
from framedex.index.file.database import (
    Patience,
    check_version,
    connect_writing,
    damaged,
    file_identity,
    is_blank,
    prepare_folder,
    translated,
)
from framedex.index.file.log_space import check_room, is_written_back, remove_index, shorten_log
from framedex.index.file.schema import create, drop_everything
from framedex.index.file.seal import CHEAP, Sealing
from framedex.index.file.values import storable
from framedex.index.write import aggregates, sources
from framedex.index.write.causal_links import add_causal_links, forget_causal_links
from framedex.index.write.ffi import FfiWriter, forget_runs
from framedex.index.write.interning import Chains, Tree, frame_ids, logical_frames, stack_ids
from framedex.index.write.names import add_recorded_names
from framedex.index.write.objects import add_objects, forget_objects
from framedex.index.write.records import CaptureRecord, KnownCapture
from framedex.index.write.totals import Totals
from framedex.index.write.versions import remember_versions
from framedex.model import Capture, Language, Thread
from framedex.nesting import enclosing_calls

_KNOWN_CAPTURES = "SELECT id, path, identity, signature, calls FROM captures"


class Store:
    """The writer of an index file: a context manager, made where the file is missing.

    Raises FramedexError with a remedy when the file is no index, damaged, locked, of another version, or cannot be
    written; another writer is waited for with `patience`. One transaction may contain others: only the outermost
    commits.
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
                        return
            except BaseException as error:
                self._leave(error)
                raise
            self.close()

    @classmethod
    def of_any_version(cls, path: Path, patience: Patience) -> Store:
        """Open an index of whatever version, only to `clear` it."""
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
        self._depth = 0
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
        """Whether something else than framedex has changed the file before it was opened (see `seal`)."""
        return self._seal.is_doubtful

    def check_structure(self) -> None:
        """Raise DamagedIndexError if the file's structure is broken: tables made anew inside it would be, too."""
        with translated(self.path):
            (found,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise damaged(self.path, found)

    def _check_tree(self) -> None:
        """Raise DamagedIndexError where what was changed leads in a circle: following it would not end."""
        query = (
            "SELECT 1 FROM nodes n LEFT JOIN nodes p ON p.id = n.parent"
            " WHERE n.parent <> 0 AND p.depth + 1 IS NOT n.depth LIMIT 1"
        )
        if self.is_doubtful and self._connection.execute(query).fetchone():
            raise damaged(self.path, "the tree of its stacks is none")

    def is_made_anew(self) -> None:
        """Note that nothing is left of what something else may have changed."""
        self._seal.is_doubtful = False

    def seal(self) -> None:
        """Have the file sealed when it is closed, whatever its size: at the end of work that took long anyway."""
        self._sealed_up_to = sys.maxsize

    def close(self) -> None:
        """Close the file; what was not committed is gone."""
        is_same = not self._connection.total_changes
        is_complete = self._is_to_be_sealed() and is_written_back(self._connection)
        self._connection.close()
        self._seal.close(is_same=is_same, is_complete=is_complete, at_most=self._sealed_up_to)

    def _is_gone(self) -> bool:
        """Whether another process has removed the file, made for nothing, while this one waited for its turn."""
        return file_identity(self.path) != self._opened

    def _is_to_be_sealed(self) -> bool:
        try:
            return self.path.stat().st_size <= self._sealed_up_to
        except OSError:
            return False

    def _leave(self, error: BaseException | None) -> None:
        """Close the file. One that was made for nothing is taken away again: it would hide that of a folder above."""
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
        """All that is written inside is kept when the outermost transaction ends well, and nothing of it otherwise.

        Nothing is kept of a transaction that failed inside another one that went on.
        """
        with translated(self.path):
            begin, end, undo = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
            if self._depth:
                name = f"nested_{self._depth}"
                begin, end, undo = (f"SAVEPOINT {name}", f"RELEASE {name}", f"ROLLBACK TO {name}")
            self._patience.wait_for(lambda: self._connection.execute(begin))
            self._depth += 1
            try:
                yield
                if self._depth == 1:
                    check_room(self._connection, self.path)
                self._connection.execute(end)
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute(undo)
                if self._depth == 1:
                    shorten_log(self._connection, self.path)
                raise
            finally:
                self._depth -= 1

    def clear(self) -> tuple[list[str], list[KnownCapture]]:
        """Empty the index, and give what captures cannot: its source roots and where its captures were."""
        with self.transaction():
            roots, captures = self._remembered()
            drop_everything(self._connection)
            create(self._connection)
        return roots, captures

    def map_files(self) -> list[Path]:
        """Where the source maps were read that are known, also by an index of another version."""
        return [Path(path) for (path,) in self._rows_if_any("SELECT path FROM source_maps ORDER BY id")]

    def _remembered(self) -> tuple[list[str], list[KnownCapture]]:
        """Roots and captures, as far as an index of another version has them under the same names."""
        roots = self._rows_if_any("SELECT path FROM source_roots ORDER BY id")
        captures = self._rows_if_any(f"{_KNOWN_CAPTURES} ORDER BY started, id") or self._rows_if_any(
            "SELECT id, path, path, '', calls FROM captures ORDER BY started, id"
        )
        return [path for (path,) in roots], [KnownCapture(row[0], Path(row[1]), *row[2:]) for row in captures]

    def _rows_if_any(self, query: str) -> list[Row]:
        try:
            return self._connection.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []

    def known_capture(self, identity: str) -> KnownCapture | None:
        """What is remembered of the capture with this identity; None if it is not indexed."""
        with translated(self.path):
            row = self._connection.execute(f"{_KNOWN_CAPTURES} WHERE identity = ?", (storable(identity),)).fetchone()
        return None if row is None else KnownCapture(row[0], Path(row[1]), *row[2:])

    def move_capture(self, capture_id: int, path: Path) -> None:
        """Remember that a capture's folder is now at `path` (absolute)."""
        with self.transaction():
            self._connection.execute("UPDATE captures SET path = ? WHERE id = ?", (storable(str(path)), capture_id))

    def totals(self) -> Totals:
        """How much of what was recorded is known."""
        query = (
            "SELECT coalesce(sum(NOT inlined), 0), coalesce(sum(NOT inlined AND symbol <> ''), 0),"
            " coalesce(sum(fr.how = 'exact'), 0), coalesce(sum(fr.how IS NOT NULL AND fr.how <> 'exact'), 0)"
            " FROM frames fr JOIN functions fn ON fn.id = fr.function WHERE fn.language = ?"
        )
        with translated(self.path):
            native = self._connection.execute(query, (Language.NATIVE.value,)).fetchone()
            python = self._connection.execute(query, (Language.PYTHON.value,)).fetchone()[0:3:2]
        return Totals(*native, *python)

    def add_capture(self, record: CaptureRecord) -> int:
        """Add a capture with all its calls in one transaction, in place of an older state of it, and return its id.

        A capture that is there with the same signature is left alone.
        """
        capture = record.capture
        identity = record.identity or str(capture.path)
        with self.transaction():
            known = self.known_capture(identity)
            if known is not None and known.signature == record.signature != "":
                return known.id
            if known is not None:
                self._forget_calls(known.id)
            row = {
                "id": None if known is None else known.id,
                "path": storable(str(capture.path)),
                "identity": storable(identity),
                "signature": record.signature,
                "started": record.started,
                "command": storable(record.command),
                "calls": len(capture.calls),
                "stacks": len(capture.stacks),
                "metadata": storable(capture.metadata.text),
                "problems": json.dumps(list(record.problems)),
                "stops": json.dumps(asdict(capture.stops)) if capture.stops else None,
            }
            identifier = self._connection.execute(
                f"INSERT OR REPLACE INTO captures({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                tuple(row.values()),
            ).lastrowid
            assert identifier is not None
            self._connection.execute("DELETE FROM builds WHERE capture = ?", (identifier,))
            self._connection.executemany(
                "INSERT INTO builds(capture, component, version, revision, folder) VALUES (?, ?, ?, ?, ?)",
                [
                    (identifier, build.component, storable(build.version), build.revision, storable(build.folder))
                    for build in record.builds
                ],
            )
            flat = frame_ids(self._connection, [frame for group in record.frames for frame in group])
            position = 0
            ids: list[list[int]] = []
            for group in record.frames:
                ids.append(flat[position : position + len(group)])
                position += len(group)
            tree = Tree(self._connection)
            writer = FfiWriter(self._connection, tree, identifier, record.ffi)
            is_late = writer.add_sites()
            writer.add_handlers(ids)
            stacks, of_call = self._stacks(capture, ids, tree, writer)
            new = self._add_calls(identifier, capture, stacks[of_call]) if len(capture.calls) else None
            if len(capture.calls):
                writer.add_runs(capture)
                if record.lifetimes is not None:
                    add_objects(self._connection, identifier, record.lifetimes)
            add_causal_links(self._connection, identifier, record.causal_links, ids)
            remember_versions(self._connection, {*flat, *writer.frames}, record.began)
            if known is not None or is_late:
                aggregates.rebuild(self._connection)
            elif new is not None:
                items, samples = new
                aggregates.add_stack_calls(self._connection, identifier, items, samples)
                aggregates.add_totals(self._connection, items)
                aggregates.add_lines(self._connection, items)
                if record.causal_links:
                    aggregates.rebuild_linked_lines(self._connection)
            return identifier

    def _stacks(
        self, capture: Capture, frames: Sequence[Sequence[int]], tree: Tree, ffi: FfiWriter
    ) -> tuple[aggregates.Integers, aggregates.Integers]:
        """Rows (stack, leaf, leaf of the Python stack, leaf of the site's), and which of them is each call's.

        `frames` as for `logical_frames`.
        """
        chains = []
        for stack in capture.stacks:
            native, python = (tree.leaf(logical_frames(chain, frames)) for chain in (stack.frames, stack.python))
            chains.append(Chains(native, python, 0, stack.outcome, stack.is_truncated))
        of_call = capture.calls.stack.astype(np.int64)
        under_sites: dict[tuple[int, int], int] = {}
        for place, site in ffi.sites_of_runs():
            stack = capture.stacks[of_call[place]]
            key = int(of_call[place]), site
            if key not in under_sites:
                under_sites[key] = len(chains)
                handler = frames[stack.frames[0]] if stack.frames else []
                chains.append(replace(chains[key[0]], site_leaf=tree.leaf(handler, below=site)))
            of_call[place] = under_sites[key]
        tree.write()
        rows = [
            (identifier, stack.leaf, stack.python_leaf, stack.site_leaf)
            for identifier, stack in zip(stack_ids(self._connection, chains), chains, strict=True)
        ]
        return np.array(rows, np.int64).reshape(-1, 4), of_call

    def _forget_calls(self, capture_id: int) -> None:
        """Remove a capture's calls. What they passed through stays: the new state of the capture has it too."""
        query = "SELECT first_call, last_call FROM captures WHERE id = ? AND first_call IS NOT NULL"
        for span in self._connection.execute(query, (capture_id,)).fetchall():
            self._connection.execute(
                "DELETE FROM arguments WHERE id IN (SELECT arguments FROM calls WHERE id BETWEEN ? AND ?)", span
            )
            forget_causal_links(self._connection, *span)
            self._connection.execute("DELETE FROM calls WHERE id BETWEEN ? AND ?", span)
        forget_objects(self._connection, capture_id)
        forget_runs(self._connection, capture_id)
        self._connection.execute("DELETE FROM threads WHERE capture = ?", (capture_id,))

    def _add_calls(
        self, capture_id: int, capture: Capture, stacks: aggregates.Integers
    ) -> tuple[aggregates.Items, list[tuple[int, int, int]]]:
        """Insert the calls, given the row of each one's stack; their items and samples, which the totals are owed."""
        calls = capture.calls
        boundary = self._boundary_ids(capture)[calls.function]
        thread = self._thread_ids(capture_id, capture)[calls.thread]
        arguments = self._argument_ids(calls.arguments)
        first = self._connection.execute("SELECT coalesce(max(id), 0) + 1 FROM calls").fetchone()[0]
        ids = np.arange(first, first + len(calls), dtype=np.int64)
        columns = (ids, boundary, thread, stacks[:, 0], calls.start, calls.duration, calls.error, arguments)
        parents = (None if row is None else int(first) + row for row in enclosing_calls(calls))
        self._connection.executemany(
            "INSERT INTO calls(capture, id, boundary, thread, stack, start, duration, error, arguments, parent)"
            f" VALUES ({capture_id}, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            zip(*(column.tolist() for column in columns), parents, strict=True),
        )
        self._connection.execute(
            "UPDATE captures SET first_call = ?, last_call = ? WHERE id = ?",
            (first, first + len(calls) - 1, capture_id),
        )
        return _items(stacks, boundary, ids, np.maximum(calls.duration, 0), arguments)

    def _boundary_ids(self, capture: Capture) -> aggregates.Integers:
        query = "SELECT id FROM boundaries WHERE name = ? AND boundary = ?"
        ids = []
        for function in capture.functions:
            key = (storable(function.name), storable(function.boundary))
            self._connection.execute("INSERT OR IGNORE INTO boundaries(name, boundary) VALUES (?, ?)", key)
            ids.append(self._connection.execute(query, key).fetchone()[0])
        # Those of FFI handlers are known by their targets.
        names = (function.name for function in capture.functions if function.boundary != BOUNDARY)
        add_recorded_names(self._connection, map(storable, names))
        return np.array(ids, np.int64)

    def _thread_ids(self, capture_id: int, capture: Capture) -> aggregates.Integers:
        query = "INSERT INTO threads(capture, tid, name, label) VALUES (?, ?, ?, ?)"
        main = capture.metadata.pid
        rows = [
            self._connection.execute(query, (capture_id, thread.tid, storable(thread.name), _label(thread, main)))
            for thread in capture.threads
        ]
        return np.array([row.lastrowid for row in rows], np.int64)

    def _argument_ids(self, arguments: Sequence[str]) -> aggregates.Integers:
        first = self._connection.execute("SELECT coalesce(max(id), 0) + 1 FROM arguments").fetchone()[0]
        ids = {text: identifier for identifier, text in enumerate(dict.fromkeys(arguments), first)}
        rows = ((identifier, storable(text), '"dims"' in text) for text, identifier in ids.items())
        self._connection.executemany("INSERT INTO arguments(id, json, has_shape) VALUES (?, ?, ?)", rows)
        return np.array([ids[text] for text in arguments], np.int64)


def _label(thread: Thread, main: object) -> str:
    """What tells a thread from the others: those of a pool have one name, and often that of the main one."""
    if thread.tid == main:
        return "main"
    return storable(f"{thread.name} ({thread.tid})" if thread.name else str(thread.tid))


def _items(
    stack: aggregates.Integers,
    boundary: aggregates.Integers,
    ids: aggregates.Integers,
    duration: aggregates.Integers,
    arguments: aggregates.Integers,
) -> tuple[aggregates.Items, list[tuple[int, int, int]]]:
    """Calls grouped by (stack, boundary), and for each group a few of the argument objects it was called with."""
    key, first, group = np.unique((stack[:, 0] << 32) | boundary, return_index=True, return_inverse=True)
    totals = np.zeros((3, len(key)), np.int64)
    np.add.at(totals[0], group, 1)
    np.add.at(totals[1], group, duration)
    np.maximum.at(totals[2], group, ids)
    _, leaf, python_leaf, site_leaf = stack[first].T
    items = aggregates.Items(key >> 32, leaf, python_leaf, site_leaf, key & 0xFFFFFFFF, *totals)
    pairs = aggregates.distinct((group << 32) | arguments)
    chosen = pairs[aggregates.rank_in_group(pairs >> 32) < SAMPLES]
    of_group = chosen >> 32
    columns = (items.stack[of_group], items.boundary[of_group], chosen & 0xFFFFFFFF)
    return items, list(zip(*(column.tolist() for column in columns), strict=True))
