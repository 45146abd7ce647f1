"""The Python code on the stacks of a capture: paths of frames, loops around a stack, and program lines of calls."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from framedex.base.regularfile import read_regular
from framedex.captures.stored_files import read_cells
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.file.values import read_stored_text
from framedex.index.write.bulk_rows import Integers
from framedex.index.write.costs.timeline import KindColumns
from framedex.index.write.tree import NodeColumns, climb, find_distinct_values
from framedex.sources.file_versions import compute_blob_name
from framedex.sources.python_syntax import PythonScopes, Scope, SourceLoop, StatementBlock

_MAX_FILE_BYTES = 4 << 20  # the maximum size of a parsed file, bytes
_PATHS_AT_ONCE = 1 << 11  # 16 MB for each column of paths of 1,000 frames


class SourceFile:
    """A Python file with the content of a git blob, or with any content if `blob` is empty. It is read lazily.

    `stored` returns the content of a blob that the index stores.
    """

    def __init__(self, path: str, blob: str, stored: Callable[[str], bytes | None]) -> None:
        self._path = path
        self._blob = blob
        self._stored = stored

    @cached_property
    def scopes(self) -> PythonScopes:
        """Return the scopes of the file; no scopes if its recorded text is unknown."""
        stored = self._stored(self._blob) if self._blob else None
        if stored is not None:
            return PythonScopes(stored)
        try:
            content = read_regular(Path(self._path))
        except (OSError, ValueError):
            return PythonScopes(b"")
        is_other = len(content) > _MAX_FILE_BYTES or (self._blob and compute_blob_name(content) != self._blob)
        return PythonScopes(b"" if is_other else content)


@dataclass(frozen=True, slots=True)
class CodeFrame:
    """A Python frame: its function, and the position in it. `source` is None if the file's content is unknown."""

    id: int
    function: int
    name: str
    offset: int
    line: int
    first_line: int
    source: SourceFile | None

    @property
    def scope(self) -> Scope | None:
        """Return the function's code; None if the recorded source is not available."""
        return self.source.scopes.scope(self.name, self.first_line) if self.source else None

    @property
    def block(self) -> StatementBlock | None:
        """The statements of the function; None if the recorded source is not available."""
        return self.scope.block if self.scope else None

    @property
    def is_generator_expression(self) -> bool:
        """Return whether its code is a comprehension or a generator expression, which repeats its calls."""
        return self.name in ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")


@dataclass(frozen=True, slots=True)
class PythonPath:
    """The Python frames of a stack, outermost first. `program_frames`: index and node of each frame of the program."""

    frames: tuple[CodeFrame, ...]
    program_frames: tuple[tuple[int, int], ...]

    def loops(self) -> list[tuple[int, SourceLoop]]:
        """Return the program's loops around the stack, innermost first, each with the index of its frame."""
        found = []
        for position, _ in reversed(self.program_frames):
            frame = self.frames[position]
            if frame.scope:
                found += [(position, loop) for loop in frame.scope.loops_around(frame.line)]
        return found

    def node(self, position: int) -> int:
        """Return the node of a frame of the program."""
        return dict(self.program_frames)[position]


class ProgramCode:
    """The Python paths of stacks and nodes of a capture."""

    def __init__(self, connection: sqlite3.Connection, capture: int, nodes: NodeColumns) -> None:
        self._connection = connection
        self.nodes = nodes
        (path,) = connection.execute("SELECT path FROM captures WHERE id = ?", (capture,)).fetchone()
        self._cells = read_cells(Path(path))
        self._frames: dict[int, CodeFrame] = {}
        self._files: dict[tuple[str, str], SourceFile] = {}

    def find_node_paths(self, nodes: Iterable[int]) -> dict[int, PythonPath]:
        """Return the path that ends at each node with Python frames."""
        wanted = np.array(sorted({*nodes} - {0}), np.int64)
        found: dict[int, PythonPath] = {}
        for first in range(0, len(wanted), _PATHS_AT_ONCE):
            ends = wanted[first : first + _PATHS_AT_ONCE]
            for node, path in zip(ends.tolist(), self._build_paths(ends), strict=True):
                if path.frames:
                    found[node] = path
        return found

    def _build_paths(self, ends: Integers) -> Iterator[PythonPath]:
        paths = np.stack([*climb(self.nodes.parent, ends)][::-1], axis=1)
        frames, is_own = self.nodes.frame[paths], self.nodes.user[paths] == paths
        distinct = find_distinct_values(frames.reshape(-1))
        self._read_frames({*distinct.tolist()})
        is_python = np.zeros(int(distinct[-1]) + 1, np.bool_)
        is_python[[frame for frame in distinct.tolist() if frame in self._frames]] = True
        kept = is_python[frames]
        for row, is_kept in enumerate(kept):
            path, own = paths[row, is_kept], np.flatnonzero(is_own[row, is_kept])
            code = tuple(map(self._frames.__getitem__, frames[row, is_kept].tolist()))
            yield PythonPath(code, tuple(zip(own.tolist(), path[own].tolist(), strict=True)))

    def _read_frames(self, frames: set[int]) -> None:
        query = (
            "SELECT fr.id, fr.function, fn.short_name, fn.first_line, fr.offset, coalesce(fr.recorded_line, 0), f.path,"
            " coalesce(v.blob, ''), r.path FROM frames fr JOIN functions fn ON fn.id = fr.function"
            " LEFT JOIN files f ON f.id = fr.file LEFT JOIN files r ON r.id = fr.recorded_file"
            f" LEFT JOIN file_versions v ON v.id = fr.version WHERE fn.language = 'python' AND fr.id {IN_JSON}"
        )
        rows = self._connection.execute(query, (build_json_list(sorted(frames - self._frames.keys())),))
        for number, function, name, first_line, offset, line, path, blob, recorded in rows:
            cell = self._cells.get(recorded or "")
            key = (cell, "") if cell else (path, blob)
            if key not in self._files and (cell or (path and blob)):
                self._files[key] = SourceFile(key[0], key[1], partial(read_stored_text, self._connection))
            self._frames[number] = CodeFrame(number, function, name, offset, line, first_line, self._files.get(key))


@dataclass(frozen=True, slots=True)
class LineGroups:
    """Groups of calls: by `line`, and by `path`, the sequence of lines to it. `node` has a node of each group.

    `nodes` are the nodes of the calls' lines, 0 if unknown or ambiguous.
    """

    line: Integers
    path: Integers
    node: tuple[int, ...]
    nodes: Integers

    @classmethod
    def from_calls(
        cls, connection: sqlite3.Connection, calls: Integers, kinds: Integers, columns: KindColumns, tree: NodeColumns
    ) -> LineGroups:
        """Group these calls of these kinds. The call 0 has no line."""
        nodes = _find_line_nodes(connection, calls, columns.node[kinds])
        known, position = np.unique(nodes, return_inverse=True)
        is_known = known > 0
        line, path = number_line_paths(connection, tree, known[is_known])
        # Groups are numbered in the order of the nodes. Group 0: the line is unknown.
        keys = np.stack([2 * line, 2 * path + 1], axis=1).reshape(-1)
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        rank = np.empty_like(first)
        rank[np.argsort(first)] = np.arange(len(first))
        groups = np.zeros((len(known), 2), np.int64)
        groups[is_known] = rank[number].reshape(-1, 2) + 1
        node = (0, *known[is_known][np.sort(first) // 2].tolist())
        return cls(groups[position, 0], groups[position, 1], node, nodes)


def _find_line_nodes(connection: sqlite3.Connection, calls: Integers, of_stacks: Integers) -> Integers:
    """Return the node of each call's line, from its stack, else from its causal link; 0: unknown or ambiguous."""
    nodes = of_stacks.copy()
    without = np.flatnonzero((nodes == 0) & (calls > 0))
    linked = (
        "SELECT l.call, min(n.user_node) FROM call_links l JOIN nodes n ON n.id = l.node"
        f" WHERE n.user_node AND l.call {IN_JSON} GROUP BY l.call HAVING count(DISTINCT n.user_node) = 1"
    )
    by_link = dict(connection.execute(linked, (build_json_list(calls[without].tolist()),)))
    nodes[without] = [by_link.get(call, 0) for call in calls[without].tolist()]
    return nodes


def number_line_paths(connection: sqlite3.Connection, tree: NodeColumns, nodes: Integers) -> tuple[Integers, Integers]:
    """Return the number of each node's line, and of the sequence of program lines that leads to it.

    Equal lines of a function have equal numbers, and so have equal sequences. A number is at least 1.
    """
    levels = [*climb(tree.user[tree.parent], nodes)]
    frames = find_distinct_values(tree.frame[np.concatenate(levels)])
    query = f"SELECT id, function, coalesce(recorded_line, -1) FROM frames WHERE id {IN_JSON}"
    rows = np.array(connection.execute(query, (build_json_list(frames.tolist()),)).fetchall(), np.int64).reshape(-1, 3)
    line_of_frame = np.zeros(int(np.max(frames, initial=0)) + 1, np.int64)
    line_of_frame[rows[:, 0]] = np.unique(rows[:, 1:], axis=0, return_inverse=True)[1].reshape(-1) + 1
    path = np.zeros(len(nodes), np.int64)  # 0: no further line
    for level in reversed(levels):
        key = line_of_frame[tree.frame[level]] * (int(np.max(path, initial=0)) + 1) + path
        distinct, path = np.unique(key, return_inverse=True)
        path += distinct[:1].any()
    return line_of_frame[tree.frame[nodes]], path
