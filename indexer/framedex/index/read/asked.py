"""The subject of a query: a file, a line or a capture, with its reader.

Line numbers are those of the current file, in queries and in results. A line's frames are those of the same line in
each recorded state of the file. They are looked up at each query, because a cached result must depend on the state of
the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from framedex.errors import FramedexError
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.places import state_of
from framedex.index.read.rows import CAPTURE_COLUMNS, Reader, capture_row, file_id
from framedex.model import CaptureRow, FileState

if TYPE_CHECKING:  # imports the extractor, which most queries do not need
    from framedex.sources.changes import Change
    from framedex.sources.moving import LineMap

_MOST_STATES = 128
"""Limit of file states whose lines are mapped to the current ones: the latest. Each costs some ms after an edit.

Calls of earlier states do not count on any line.
"""

_ANY = 0
"""Id for the only state of a file, or for all frames whose state is not among the file's own."""


def runs_of_programs(condition: str) -> str:
    """Return a query for the runs that compiled programs whose `program_frames fr` match a condition."""
    return " UNION ALL ".join(
        f"SELECT p.run FROM program_frames fr JOIN {table} l ON l.{frame} = fr.id JOIN compilations c"
        f" ON c.program = l.program JOIN captures p ON p.id = c.capture WHERE {condition}"
        for table, frame in (("program_lines", "frame"), ("program_steps", "origin"))
    )


@dataclass(frozen=True, slots=True)
class RecordedState:
    """A recorded state of a file, by its id (or `_ANY`), with the map of its lines to the current ones.

    `lines` is None if lines are unchanged or assumed so.
    """

    id: int
    lines: LineMap | None

    def now(self, line: int) -> int | None:
        """Return the current number of a recorded line, or None if it was deleted."""
        return line if self.lines is None else self.lines.new_line(line)

    def then(self, line: int) -> int | None:
        """Return the recorded number of a current line, or None if it did not exist."""
        return line if self.lines is None else self.lines.old_line(line)

    def nearest_then(self, line: int) -> int:
        """Return the recorded number of a current line, or of the nearest position if it did not exist."""
        return line if self.lines is None else self.lines.backward(line).line


@dataclass(frozen=True, slots=True)
class _LineThen:
    """The number of a current line in one state of its file."""

    now: int
    state: int
    then: int


@dataclass(frozen=True)
class AskedFile:
    """A file by its absolute path."""

    reader: Reader
    path: str

    def of_latest_run(self) -> Self:
        """Return this file restricted to the latest run that executed or compiled code in it, if latest runs count."""
        programs = runs_of_programs("fr.file = ?1")
        query = f"SELECT max(run) FROM (SELECT run FROM line_calls WHERE file = ?1 UNION ALL {programs})"
        return replace(self, reader=self.reader.of_latest(query, self.id))

    @property
    def id(self) -> int | None:
        """The id of the file; None if no frame and no definition is in it."""
        return file_id(self.reader, self.path)

    def change(self) -> Change | None:
        """Return the change of the file since its last recording, or else since its last parse; None if unknown."""
        return self.change_from(self._state_then())

    def change_from(self, state: FileState | None) -> Change | None:
        """Return the change of the file since one of its states; None if none is known."""
        if state is None or self.reader.is_unchanged(self.path, state):
            return None
        return self.reader.places.change_since(self.path, state)

    def moved_lines(self) -> LineMap | None:
        """Return the map from lines at the last recording to current ones; None if unchanged or assumed so.

        If the file has changed and its recorded text is lost, the map matches no lines.
        """
        return self._lines_since(self._state_then())

    def states(self) -> tuple[RecordedState, ...]:
        """Return the recorded states of the file, the latest first, with their line maps."""
        own = self._own_states()
        others = RecordedState(_ANY, self.moved_lines())
        if len(own) < 2:
            return (others,)
        return *(RecordedState(state, self._lines_of_one(then)) for state, then in own[:_MOST_STATES]), others

    def in_state(self, table: str, state: RecordedState) -> str:
        """Return a condition for the rows about one state, in a table with files and versions."""
        own = self._own_states()
        of_file = f"{table}.file = {-1 if self.id is None else self.id}"
        if len(own) < 2:
            return of_file
        if state.id != _ANY:
            return f"{of_file} AND {table}.version = {state.id}"
        all_own = ", ".join(str(each) for each, _ in own)
        return f"{of_file} AND coalesce({table}.version, 0) NOT IN ({all_own})"

    def _lines_of_one(self, state: FileState) -> LineMap | None:
        """Return the line map of one of several states; a state without a known text matches no lines."""
        if state.blob:
            return self._lines_since(state)
        from framedex.sources.moving import NOTHING_IN_COMMON

        return NOTHING_IN_COMMON

    def _lines_since(self, state: FileState | None) -> LineMap | None:
        change = self.change_from(state)
        if change is None or change.lines is not None or state is None or not state.blob:
            return None if change is None else change.lines
        from framedex.sources.moving import NOTHING_IN_COMMON

        return NOTHING_IN_COMMON

    def _own_states(self) -> Sequence[tuple[int, FileState]]:
        """Return the recorded states of a file of the user's program, the latest first; none for other files."""
        query = (
            "SELECT id, modified, size, blob FROM file_versions WHERE is_own AND id IN"
            " (SELECT version FROM frames WHERE file = ?1 AND how = 'exact'"
            " UNION SELECT version FROM program_frames WHERE file = ?1) ORDER BY modified DESC, id DESC"
        )

        def read() -> Sequence[tuple[int, FileState]]:
            return [(state, FileState(*columns)) for state, *columns in self.reader.rows(query, self.id)]

        return self.reader.memory.recall(("states", self.path), read)

    def _state_then(self) -> FileState | None:
        own = self._own_states()
        if own:
            return own[0][1]
        query = (
            "SELECT modified, size, blob FROM file_versions WHERE file = (SELECT id FROM files WHERE path = ?1)"
            " UNION ALL SELECT modified, size, blob FROM source_files s"
            " WHERE file = (SELECT id FROM files WHERE path = ?1)"
            " AND NOT EXISTS (SELECT 1 FROM file_versions v WHERE v.file = s.file) ORDER BY modified DESC LIMIT 1"
        )
        row = self.reader.memory.recall(("state", self.path), lambda: self.reader.row(query, self.path))
        return None if row is None else state_of(*row)


@dataclass(frozen=True)
class AskedLine(AskedFile):
    """A 1-based line; a `capture` (its id) restricts results to calls of that capture."""

    line: int
    capture: int | None = None

    def of_latest_run(self) -> Self:
        """Return this line restricted to the latest run that passed, compiled or dispatched from it.

        Unchanged unless the scope is latest and there are several runs.
        """
        if not self.reader.is_of_several():
            return self
        query = (
            f"SELECT coalesce((SELECT max(run) FROM (SELECT run FROM line_calls WHERE {self.on('line_calls')}"
            f" UNION ALL {runs_of_programs(self.on('fr'))})),"
            f" (SELECT max(run) FROM line_links WHERE {self.on('line_links')}))"
        )
        return replace(self, reader=self.reader.of_latest(query))

    @property
    def lines(self) -> tuple[int, ...]:
        """The current lines whose frames count for this one.

        This is the line itself if it has frames, otherwise the lines of its statement that have some. A call over
        several lines is one statement, and its frames are on the line of the callee's name.
        """
        return tuple(dict.fromkeys(each.now for each in self._answering())) or (self.line,)

    @property
    def is_several(self) -> bool:
        """Whether several lines of one file state count, as in a statement over several lines."""
        states = [each.state for each in self._answering()]
        return len(states) > len(set(states))

    def on(self, table: str) -> str:
        """Return a condition for this line's rows, in a table with files, lines and versions.

        If the change of the file is unknown, lines keep their numbers.
        """
        return self._where(table, self._answering())

    def on_lines(self, table: str, lines: Iterable[int]) -> str:
        """Return such a condition for several lines, each for itself."""
        return self._where(table, self._then(lines))

    def around(self, table: str) -> str:
        """Return a condition for functions with `end_line` that contain the line, or would have contained it."""
        parts = []
        for state in self.states():
            then = state.nearest_then(self.line)
            extent = f"({table}.line = {then} OR ({table}.line <= {then} AND {table}.end_line >= {then}))"
            parts.append(f"({self.in_state(table, state)} AND {extent})")
        return f"({' OR '.join(parts)})"

    def _where(self, table: str, lines: Collection[_LineThen]) -> str:
        parts = []
        for state in self.states():
            then = sorted({each.then for each in lines if each.state == state.id})
            if then:
                parts.append(f"{self.in_state(table, state)} AND {table}.line IN ({', '.join(map(str, then))})")
        return f"({' OR '.join(parts)})" if parts else "false"

    def _answering(self) -> tuple[_LineThen, ...]:
        return self.reader.memory.recall(("answering", self.path, self.line), self._find_answering)

    def _find_answering(self) -> tuple[_LineThen, ...]:
        own = self._then([self.line])
        file = self.reader.memory.file(self.path)
        is_known = self.moved_lines() is not None or self.change() is None
        if file is None or not is_known or self._with_frames(own) or not self._has_frames():
            return own
        around = self.reader.statements.lines_with(file, self.line, self._macros)
        return self._with_frames(self._then(around)) or own

    def _then(self, lines: Iterable[int]) -> tuple[_LineThen, ...]:
        """Return these lines in each state that has them."""
        wanted = list(lines)
        before = [(now, state.id, state.then(now)) for state in self.states() for now in wanted]
        return tuple(_LineThen(now, state, then) for now, state, then in before if then is not None)

    def _with_frames(self, lines: Collection[_LineThen]) -> tuple[_LineThen, ...]:
        """Return the lines with a frame of a recorded stack."""
        stood_on = {
            (state.id, line)
            for state in self.states()
            for (line,) in self.reader.rows(
                f"SELECT DISTINCT fr.line FROM frames fr WHERE {self.in_state('fr', state)} AND fr.line {IN_JSON}"
                " AND EXISTS (SELECT 1 FROM nodes n WHERE n.frame = fr.id)",
                json_list([each.then for each in lines if each.state == state.id]),
            )
        }
        return tuple(each for each in lines if (each.state, each.then) in stood_on)

    def _has_frames(self) -> bool:
        return self.reader.row("SELECT 1 FROM frames WHERE file = ? LIMIT 1", self.id) is not None

    def _macros(self) -> str:
        return "".join(f"{macro}\n" for (macro,) in self.reader.rows("SELECT macro FROM macros"))


@dataclass(frozen=True)
class AskedCapture:
    """A capture by its id."""

    reader: Reader
    capture: int

    def row(self) -> CaptureRow:
        """Return the capture. Raises FramedexError if there is no capture with this id."""
        found = self.reader.row(f"SELECT {CAPTURE_COLUMNS} FROM captures p WHERE p.id = ?", self.capture)
        if found is None:
            raise FramedexError(
                f"There is no capture {self.capture} in {self.reader.path}.", "`framedex captures` lists them."
            )
        return capture_row(found)
