"""The Python code on the stacks of a capture, and the program's loops around a stack."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from framedex.captures.cells import read_cells
from framedex.index.file.conventions import IN_JSON, PYTHON_LEAF, json_list
from framedex.index.file.source_texts import stored_text
from framedex.regularfile import read_regular
from framedex.sources.changes import blob_name
from framedex.sources.python_loops import Block, PythonScopes, Scope, SourceLoop

_LARGEST = 4 << 20  # the maximum size of a parsed file, bytes


class SourceFile:
    """A Python file with the git hash `blob`; empty: any content. It is read when a scope is needed.

    `stored` returns the content that an index stores of a blob.
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
        is_other = len(content) > _LARGEST or (self._blob and blob_name(content) != self._blob)
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
    def block(self) -> Block | None:
        return self.scope.block if self.scope else None

    @property
    def is_generator_expression(self) -> bool:
        """Return whether its code is a comprehension or a generator expression, which repeats its calls."""
        return self.name in ("<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>")


@dataclass(frozen=True, slots=True)
class PythonPath:
    """The Python frames of a stack, outermost first. `own`: index and node of each frame of the program."""

    frames: tuple[CodeFrame, ...]
    own: tuple[tuple[int, int], ...]

    def loops(self) -> list[tuple[int, SourceLoop]]:
        """Return the program's loops around the stack, innermost first, each with the index of its frame."""
        found = []
        for place, _ in reversed(self.own):
            frame = self.frames[place]
            if frame.scope:
                found += [(place, loop) for loop in frame.scope.loops_around(frame.line)]
        return found

    def node(self, place: int) -> int:
        """Return the node of a frame of the program."""
        return dict(self.own)[place]


class ProgramCode:
    """The Python paths of stacks and nodes of a capture."""

    def __init__(self, connection: sqlite3.Connection, capture: int) -> None:
        self._connection = connection
        (path,) = connection.execute("SELECT path FROM captures WHERE id = ?", (capture,)).fetchone()
        self._cells = read_cells(Path(path))
        self._frames: dict[int, CodeFrame] = {}
        self._files: dict[tuple[str, str], SourceFile] = {}

    def paths_of_stacks(self, stacks: Iterable[int]) -> dict[int, PythonPath]:
        """Return the path of each stack with Python frames."""
        query = f"SELECT s.id, {PYTHON_LEAF} FROM stacks s WHERE s.id {IN_JSON}"
        leaf_of = dict(self._connection.execute(query, (json_list(sorted({*stacks})),)))
        paths = self.paths_of_nodes(leaf_of.values())
        return {stack: paths[leaf] for stack, leaf in leaf_of.items() if leaf in paths}

    def paths_of_nodes(self, nodes: Iterable[int]) -> dict[int, PythonPath]:
        """Return the path that ends at each node with Python frames."""
        query = (
            "WITH RECURSIVE up(node) AS (SELECT value FROM json_each(?) UNION SELECT n.parent FROM up"
            " JOIN nodes n ON n.id = up.node WHERE n.parent) SELECT n.id, n.parent, n.frame, n.user_node = n.id"
            " FROM up JOIN nodes n ON n.id = up.node"
        )
        wanted = sorted({*nodes} - {0})
        steps = {node: step for node, *step in self._connection.execute(query, (json_list(wanted),))}
        self._read_frames({frame for _, frame, _ in steps.values()})
        return {node: path for node in wanted if (path := self._path(steps, node)).frames}

    def _path(self, steps: dict[int, list[int]], node: int) -> PythonPath:
        frames, own = [], []
        while node in steps:
            parent, frame, is_own = steps[node]
            if frame in self._frames:
                frames.append(self._frames[frame])
                if is_own:
                    own.append((len(frames), node))
            node = parent
        count = len(frames)
        return PythonPath(tuple(reversed(frames)), tuple((count - place, node) for place, node in reversed(own)))

    def _read_frames(self, frames: set[int]) -> None:
        query = (
            "SELECT fr.id, fr.function, fn.short_name, fn.first_line, fr.offset, coalesce(fr.recorded_line, 0), f.path,"
            " coalesce(v.blob, ''), r.path FROM frames fr JOIN functions fn ON fn.id = fr.function"
            " LEFT JOIN files f ON f.id = fr.file LEFT JOIN files r ON r.id = fr.recorded_file"
            f" LEFT JOIN file_versions v ON v.id = fr.version WHERE fn.language = 'python' AND fr.id {IN_JSON}"
        )
        rows = self._connection.execute(query, (json_list(sorted(frames - self._frames.keys())),))
        for number, function, name, first_line, offset, line, path, blob, recorded in rows:
            cell = self._cells.get(recorded or "")
            key = (cell, "") if cell else (path, blob)
            if key not in self._files and (cell or (path and blob)):
                self._files[key] = SourceFile(key[0], key[1], partial(stored_text, self._connection))
            self._frames[number] = CodeFrame(number, function, name, offset, line, first_line, self._files.get(key))
