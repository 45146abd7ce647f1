"""Write the FFI part of a capture: its targets, sites and handlers, and the site of each handler run.

The Python stack of a site is an ordinary path in the tree of nodes. The stack of a run with one sure site leads to two
nodes. One is the handler below XLA's frames, the other the handler below the frames of the `ffi_call`. So queries for
lines, functions and neighbours cross from one stack to the other without special code.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import asdict

import numpy as np

from framedex.index.file.values import to_storable
from framedex.index.write.interning import (
    MERGE_OUTCOMES,
    StackLeaves,
    add_recorded_names,
    intern_frames,
    intern_stacks,
)
from framedex.index.write.records import FfiRecords, FrameRecord
from framedex.index.write.stacks import intern_kind, recount_kinds
from framedex.index.write.tree import StackTree
from framedex.index.write.versions import ProgramFileVersions
from framedex.model import Function, MergeOutcome, SiteEvidence
from framedex.programs.ffi import RunJoin, split_function
from framedex.programs.ffi.joins import BOUNDARY


class FfiWriter:
    """Writes the FFI records of one capture, inside the transactions in which the capture is written.

    `frames[i]` are the ids of the logical frames of the capture's frame `i`, outermost first. Rows that an earlier,
    interrupted writer of the capture has written stay.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        tree: StackTree,
        capture_id: int,
        records: FfiRecords,
        frames: Sequence[Sequence[int]],
        versions: ProgramFileVersions,
    ) -> None:
        self._connection = connection
        self._tree = tree
        self._capture = capture_id
        self._records = records
        self._frames_of_capture = frames
        self._versions = versions
        self._sites: dict[str, tuple[int, int]] = {}  # key -> (id, leaf)
        self._handlers: set[int] = set()  # handlers already written, by entry
        self._joins = self._read_joins()
        self.frames: set[int] = set()  # files of sites and implementations

    def _read_joins(self) -> dict[tuple[str, tuple[int, ...]], int]:
        query = (
            "SELECT j.how, j.id, k.site FROM ffi_joins j JOIN ffi_candidates k ON k.join_id = j.id"
            " WHERE j.capture = ? ORDER BY j.id, k.site"
        )
        joins: dict[tuple[str, int], list[int]] = {}
        for how, join, site in self._connection.execute(query, (self._capture,)):
            joins.setdefault((how, join), []).append(site)
        return {(how, tuple(sites)): join for (how, join), sites in joins.items()}

    def extend(self, records: FfiRecords) -> bool:
        """Continue with a capture that has grown; return whether the site of already written runs became known."""
        before, self._records = self._records, records
        if len(records.sites) == len(before.sites) and len(records.joins.targets) == len(before.joins.targets):
            return False
        self._sites.clear()
        return self.add_sites()

    def add_sites(self) -> bool:
        """Add targets, problems and sites; return whether the site of runs in other captures became known."""
        self._add_targets()
        placed = [self._move_runs_to_site(site, leaf) for site, leaf in self._add_described_sites()]
        self._tree.write()
        return any(placed)

    def add_functions(self, functions: Sequence[Function]) -> None:
        """Store the target and stage of each of the capture's FFI boundary functions, which must already be written."""
        targets = [target.name for target in self._records.joins.targets]
        names = [function.name for function in functions if function.boundary == BOUNDARY]
        rows = [(*map(to_storable, split_function(name, targets)), BOUNDARY, to_storable(name)) for name in names]
        self._connection.executemany(
            "INSERT OR IGNORE INTO ffi_functions(boundary, target, stage)"
            " SELECT id, ?, ? FROM boundaries WHERE boundary = ? AND name = ?",
            rows,
        )
        add_recorded_names(self._connection, (row[0] for row in rows))

    def register_handler(self, entry: int | None) -> None:
        """Add the handler entered at `entry`, the frame of the capture in which the stack of a run ends."""
        if entry is None or entry in self._handlers:
            return
        self._handlers.add(entry)
        handler = self._records.name_handler(entry)
        if handler is None:
            return
        implementation = handler.implementation
        self._connection.execute(
            "INSERT OR REPLACE INTO ffi_handlers(frame, signature, implementation) VALUES (?, ?, ?)",
            (
                self._frames_of_capture[handler.frame][0],
                None if handler.signature is None else json.dumps(asdict(handler.signature)),
                None if implementation is None else self._intern_frames([implementation])[0],
            ),
        )

    def join_run(self, function: int, arguments: str) -> tuple[int | None, int]:
        """Return the join of a run and the leaf of its site (0: ambiguous, or the site's stack is unknown).

        `function` is an index into the capture's functions.
        """
        join = self._records.joins.runs.join(function, arguments)
        if join is None:
            return None, 0
        for key in join.sites:
            if key not in self._sites:
                self._sites[key] = self._intern_site(key)
        leaf = 0 if join.how is SiteEvidence.AMBIGUOUS else self._sites[join.sites[0]][1]
        return self._intern_join(join), leaf

    def add_runs(self, runs: Iterable[tuple[int, int]]) -> None:
        """Add the joins of runs, as pairs (call, join)."""
        self._connection.executemany("INSERT OR REPLACE INTO ffi_runs(call, join_id) VALUES (?, ?)", runs)

    def _add_targets(self) -> None:
        for table in ("ffi_targets", "ffi_problems"):
            self._connection.execute(f"DELETE FROM {table} WHERE capture = ?", (self._capture,))
        self._connection.executemany(
            "INSERT INTO ffi_targets(capture, name, platform, api_version, stages, is_wrapped, registered_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    *(self._capture, to_storable(target.name), to_storable(target.platform), target.api_version),
                    *(json.dumps(target.stages), target.is_wrapped, json.dumps(target.registered_at)),
                )
                for target in self._records.joins.targets
            ],
        )
        self._connection.executemany(
            "INSERT INTO ffi_problems(capture, target, platform, registered_for, sites, message)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    *(self._capture, to_storable(problem.target), to_storable(problem.platform)),
                    *(json.dumps(problem.registered_for), json.dumps(problem.sites), to_storable(problem.message)),
                )
                for problem in self._records.joins.problems
            ],
        )

    def _add_described_sites(self) -> list[tuple[int, int]]:
        """Add the sites that the capture describes; return (id, leaf) of the stored sites that it describes better."""
        updated = []
        flat = iter(self._intern_frames([frame for site in self._records.sites for frame in site.frames]))
        for site in self._records.sites:
            path = self._tree.intern_path([next(flat) for _ in site.frames])
            key = to_storable(site.key)
            query = "SELECT id, leaf, from_metadata FROM ffi_sites WHERE key = ?"
            known = self._connection.execute(query, (key,)).fetchone()
            if known is None:
                self._connection.execute(
                    "INSERT INTO ffi_sites(key, target, leaf, user_node, from_metadata) VALUES (?, ?, ?, ?, ?)",
                    (key, to_storable(site.target), path[-1], path[site.user_frame], site.from_metadata),
                )
            elif not known[1] or (known[2] and not site.from_metadata):
                self._connection.execute(
                    "UPDATE ffi_sites SET target = ?, leaf = ?, user_node = ?, from_metadata = ? WHERE id = ?",
                    (to_storable(site.target), path[-1], path[site.user_frame], site.from_metadata, known[0]),
                )
                updated.append((known[0], path[-1]))
        return updated

    def _intern_frames(self, records: Sequence[FrameRecord]) -> list[int]:
        self._versions.add(records)
        ids = intern_frames(self._connection, records, self._versions.by_path)
        self.frames.update(ids)
        return ids

    def _intern_site(self, key: str) -> tuple[int, int]:
        """Return id and leaf of a site, adding it if no capture has described it yet."""
        insert = "INSERT OR IGNORE INTO ffi_sites(key, target, leaf, user_node, from_metadata) VALUES (?, '', 0, 0, 0)"
        self._connection.execute(insert, (to_storable(key),))
        query = "SELECT id, leaf FROM ffi_sites WHERE key = ?"
        found: tuple[int, int] = self._connection.execute(query, (to_storable(key),)).fetchone()
        return found

    def _intern_join(self, join: RunJoin) -> int:
        sites = tuple(sorted(self._sites[key][0] for key in join.sites))
        known = self._joins.get((join.how.value, sites))
        if known is not None:
            return known
        added = self._connection.execute(
            "INSERT INTO ffi_joins(capture, how) VALUES (?, ?)", (self._capture, join.how.value)
        ).lastrowid
        assert added is not None
        self._connection.executemany(
            "INSERT INTO ffi_candidates(join_id, site) VALUES (?, ?)", [(added, site) for site in sites]
        )
        self._joins[join.how.value, sites] = added
        return added

    def _move_runs_to_site(self, site: int, leaf: int) -> bool:
        """Extend the stacks of stored runs by a site that became known; return False if it has no runs."""
        rows = self._connection.execute(
            "SELECT DISTINCT r.join_id, k.id, k.capture, k.boundary, k.thread, k.error, s.leaf, s.python_leaf,"
            " s.outcome, s.is_truncated, n.frame"
            " FROM ffi_candidates x JOIN ffi_joins j ON j.id = x.join_id AND j.how <> ?"
            " JOIN ffi_runs r ON r.join_id = j.id JOIN call_rows c ON c.id = r.call JOIN call_kinds k ON k.id = c.kind"
            " JOIN stacks s ON s.id = k.stack JOIN nodes n ON n.id = s.leaf WHERE x.site = ?",
            (SiteEvidence.AMBIGUOUS.value, site),
        ).fetchall()
        changed: set[int] = set()
        for join, kind, capture, boundary, thread, error, *stack, handler in rows:
            native, python, outcome, is_truncated = stack
            site_leaf = self._tree.intern_leaf([handler], parent=leaf)
            columns = (native, python, site_leaf, MERGE_OUTCOMES[MergeOutcome(outcome)], is_truncated)
            leaves = StackLeaves(*(np.array([value]) for value in columns))
            key = (int(intern_stacks(self._connection, leaves)[0]), boundary, thread, error)
            target = intern_kind(self._connection, capture, *key)
            self._connection.execute(
                "UPDATE call_rows SET kind = ? WHERE kind = ? AND id IN (SELECT call FROM ffi_runs WHERE join_id = ?)",
                (target, kind, join),
            )
            changed |= {kind, target}
        recount_kinds(self._connection, changed)
        return bool(rows)


def delete_ffi_records(connection: sqlite3.Connection, capture_id: int) -> None:
    """Delete the FFI records of a capture. Its sites stay, because the capture may be indexed again."""
    joins = "SELECT id FROM ffi_joins WHERE capture = ?"
    for table in ("ffi_runs", "ffi_candidates"):
        connection.execute(f"DELETE FROM {table} WHERE join_id IN ({joins})", (capture_id,))
    for table in ("ffi_joins", "ffi_targets", "ffi_problems"):
        connection.execute(f"DELETE FROM {table} WHERE capture = ?", (capture_id,))
