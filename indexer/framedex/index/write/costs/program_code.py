"""The Python code on the stacks of a capture: paths of frames, loops around a stack, and program lines of calls."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from framedex.base.regularfile import read_regular
from framedex.captures.stored_files import read_cells
from framedex.index.file.conventions import IN_JSON, PYTHON_LEAF, build_json_list
from framedex.index.file.values import read_stored_text
from framedex.index.write.tree import Integers
from framedex.sources.file_versions import compute_blob_name
from framedex.sources.python_syntax import PythonScopes, Scope, SourceLoop, StatementBlock

_MAX_FILE_BYTES = 4 << 20  # the maximum size of a parsed file, bytes


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

    def __init__(self, connection: sqlite3.Connection, capture: int) -> None:
        self._connection = connection
        (path,) = connection.execute("SELECT path FROM captures WHERE id = ?", (capture,)).fetchone()
        self._cells = read_cells(Path(path))
        self._frames: dict[int, CodeFrame] = {}
        self._files: dict[tuple[str, str], SourceFile] = {}

    def find_node_paths(self, nodes: Iterable[int]) -> dict[int, PythonPath]:
        """Return the path that ends at each node with Python frames."""
        query = (
            "WITH RECURSIVE up(id, parent, frame, is_own) AS (SELECT n.id, n.parent, n.frame, n.user_node = n.id"
            " FROM json_each(?) s CROSS JOIN nodes n ON n.id = s.value UNION SELECT n.id, n.parent, n.frame,"
            " n.user_node = n.id FROM up CROSS JOIN nodes n ON n.id = up.parent) SELECT * FROM up"
        )
        wanted = sorted({*nodes} - {0})
        steps = {node: step for node, *step in self._connection.execute(query, (build_json_list(wanted),))}
        self._read_frames({frame for _, frame, _ in steps.values()})
        return {node: path for node in wanted if (path := self._build_path(steps, node)).frames}

    def _build_path(self, steps: dict[int, list[int]], node: int) -> PythonPath:
        frames, own = [], []
        while node in steps:
            parent, frame, is_own = steps[node]
            if frame in self._frames:
                frames.append(self._frames[frame])
                if is_own:
                    own.append((len(frames), node))
            node = parent
        count = len(frames)
        return PythonPath(tuple(reversed(frames)), tuple((count - position, node) for position, node in reversed(own)))

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
    def from_calls(cls, connection: sqlite3.Connection, calls: Integers, kinds: Integers) -> LineGroups:
        """Group these calls of these kinds. The call 0 has no line."""
        nodes = _find_line_nodes(connection, calls, kinds)
        known, position = np.unique(nodes, return_inverse=True)
        ways = LinePaths(connection, known.tolist())
        node = [0]  # group 0: the line is unknown
        number: dict[tuple[object, ...], int] = {}
        of_node = {0: (0, 0)}
        for each in sorted({*known.tolist()} - {0}):
            way = ways.path_to(each)
            groups = []
            for key in (("line", way[:2]), ("way", way)):
                if key not in number:
                    number[key] = len(node)
                    node.append(each)
                groups.append(number[key])
            of_node[each] = groups[0], groups[1]
        groups_of_calls = np.array([of_node[each] for each in known.tolist()], np.int64).reshape(-1, 2)[position]
        return cls(groups_of_calls[:, 0], groups_of_calls[:, 1], tuple(node), nodes)


def _find_line_nodes(connection: sqlite3.Connection, calls: Integers, kinds: Integers) -> Integers:
    """Return the node of each call's line, from its stack, else from its causal link; 0: unknown or ambiguous."""
    known, position = np.unique(kinds, return_inverse=True)
    query = (
        "SELECT k.id, n.user_node FROM call_kinds k JOIN stacks s ON s.id = k.stack"
        f" JOIN nodes n ON n.id = {PYTHON_LEAF}"
        f" WHERE n.user_node AND k.id {IN_JSON}"
    )
    by_stack = dict(connection.execute(query, (build_json_list(known.tolist()),)))
    nodes = np.array([by_stack.get(kind, 0) for kind in known.tolist()], np.int64)[position]
    without = np.flatnonzero((nodes == 0) & (calls > 0))
    linked = (
        "SELECT l.call, min(n.user_node) FROM call_links l JOIN nodes n ON n.id = l.node"
        f" WHERE n.user_node AND l.call {IN_JSON} GROUP BY l.call HAVING count(DISTINCT n.user_node) = 1"
    )
    by_link = dict(connection.execute(linked, (build_json_list(calls[without].tolist()),)))
    nodes[without] = [by_link.get(call, 0) for call in calls[without].tolist()]
    return nodes


class LinePaths:
    """The sequences of program lines that lead to nodes."""

    def __init__(self, connection: sqlite3.Connection, nodes: Iterable[int]) -> None:
        self._steps: dict[int, tuple[int, int, int]] = {}  # node -> (function, line, next node outward)
        coming = {*nodes} - {0}
        query = (
            "SELECT n.id, fr.function, fr.recorded_line, coalesce(p.user_node, 0) FROM nodes n"
            " JOIN frames fr ON fr.id = n.frame LEFT JOIN nodes p ON p.id = n.parent"
            f" WHERE n.id {IN_JSON}"
        )
        while coming:
            new = {node: step for node, *step in connection.execute(query, (build_json_list(coming),))}
            self._steps.update((node, (step[0], step[1], step[2])) for node, step in new.items())
            coming = {step[2] for step in new.values()} - {0} - self._steps.keys()

    def path_to(self, node: int) -> tuple[int, ...]:
        """Return the sequence to a node as function, line, function, line, ...; the innermost line first."""
        found: list[int] = []
        while node in self._steps:
            function, line, node = self._steps[node]
            found += (function, line)
        return tuple(found)
