"""The subject of a query: a file, a line or a capture, with its reader and the captures that the answer covers.

Line numbers refer to the current file, in queries and in results. A line has the frames of the same line in each
recorded state of the file. These frames are looked up at each query, because a cached result must depend on the state
of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from framedex.base.errors import FramedexError
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.locations import build_state
from framedex.index.read.rows import CAPTURE_COLUMNS, Reader, build_capture, find_file_id
from framedex.model import AnswerScope, CaptureRow, CaptureScope, FileState

if TYPE_CHECKING:  # imports the extractor, which most queries do not need
    from framedex.sources.file_versions import FileChange
    from framedex.sources.line_maps import LineMap


_MAX_STATES = 128
"""The maximum number of file states whose lines are mapped to current ones, latest first.

Each costs some ms after an edit. Calls of earlier states are not counted on any line.
"""

_OTHER_STATES = 0
"""The id for the only state of a file, or for all frames that belong to none of the file's own states."""


_PROGRAMS_OF_FRAMES = (("program_lines", "frame"), ("program_steps", "origin"))
"""The tables with the programs of program frames, and their columns of frames."""


def build_program_runs_query(condition: str) -> str:
    """Return a query for the latest run of each program with `program_frames fr` that match a condition."""
    return " UNION ALL ".join(
        f"SELECT p.run FROM program_frames fr JOIN {table} l ON l.{frame} = fr.id JOIN programs p ON p.id = l.program"
        f" WHERE {condition} AND p.run > 0"
        for table, frame in _PROGRAMS_OF_FRAMES
    )


def _build_compilations_query(condition: str, captures: str) -> str:
    """Return a query for the compilations of those programs, in captures that match a condition."""
    return " UNION ALL ".join(
        f"SELECT 1 FROM program_frames fr JOIN {table} l ON l.{frame} = fr.id JOIN compilations c"
        f" ON c.program = l.program WHERE {condition} AND c.capture {captures}"
        for table, frame in _PROGRAMS_OF_FRAMES
    )


@dataclass(frozen=True, slots=True)
class RecordedState:
    """A recorded state of a file, by its id (or `_OTHER_STATES`), with the map of its lines to the current ones.

    `lines` is None if lines are unchanged or assumed so.
    """

    id: int
    lines: LineMap | None

    def to_current(self, line: int) -> int | None:
        """Return the current number of a recorded line, or None if it was deleted."""
        return line if self.lines is None else self.lines.new_line(line)

    def to_recorded(self, line: int) -> int | None:
        """Return the recorded number of a current line, or None if it did not exist."""
        return line if self.lines is None else self.lines.old_line(line)

    def to_nearest_recorded(self, line: int) -> int:
        """Return the recorded number of a current line, or of the nearest position if it did not exist."""
        return line if self.lines is None else self.lines.map_to_old(line).line


@dataclass(frozen=True, slots=True)
class _LineNumbers:
    """The number of a line in the current file and in one recorded state."""

    current: int
    state: int
    recorded: int


@dataclass(frozen=True)
class FileQuery:
    """A file by its absolute path."""

    reader: Reader
    path: str

    def restrict_to_latest_run(self) -> Self:
        """Restrict the file to the latest run that executed or compiled code in it, if the scope is the latest run."""
        programs = build_program_runs_query("fr.file = ?1")
        query = f"SELECT max(run) FROM (SELECT run FROM line_calls WHERE file = ?1 UNION ALL {programs})"
        return replace(self, reader=self.reader.restrict_to_latest_run(query, self.id))

    @property
    def id(self) -> int | None:
        """The id of the file; None if no frame and no definition is in it."""
        return find_file_id(self.reader, self.path)

    def change(self) -> FileChange | None:
        """Return the change of the file since its last recording, or else since its last parse; None if unknown."""
        return self.change_since(self._find_latest_state())

    def change_since(self, state: FileState | None) -> FileChange | None:
        """Return the change of the file since one of its states; None if none is known."""
        if state is None or self.reader.is_unchanged(self.path, state):
            return None
        return self.reader.places.change_since(self.path, state)

    def line_map(self) -> LineMap | None:
        """Return the map from lines at the last recording to current ones; None if unchanged or assumed so.

        If the file has changed and its recorded text is lost, the map matches no lines.
        """
        return self._line_map_since(self._find_latest_state())

    def states(self) -> tuple[RecordedState, ...]:
        """Return the recorded states of the file, the latest first, with their line maps."""
        own = self._own_states()
        others = RecordedState(_OTHER_STATES, self.line_map())
        if len(own) < 2:
            return (others,)
        return *(RecordedState(state, self._state_line_map(recorded)) for state, recorded in own[:_MAX_STATES]), others

    def build_state_condition(self, table: str, state: RecordedState) -> str:
        """Return the SQL condition for rows of one file state; `table` has files and versions."""
        of_file = f"{table}.file = {-1 if self.id is None else self.id}"
        if len(self._own_states()) < 2:
            return of_file
        if state.id != _OTHER_STATES:
            return f"{of_file} AND {table}.version = {state.id}"
        own = f"SELECT 1 FROM file_versions own WHERE own.id = {table}.version AND own.is_own"
        return f"{of_file} AND NOT EXISTS ({own})"

    def _state_line_map(self, state: FileState) -> LineMap | None:
        """Return the line map of one of several states; without a stored text, no line matches."""
        if state.blob:
            return self._line_map_since(state)
        from framedex.sources.line_maps import EMPTY_MAP

        return EMPTY_MAP

    def _line_map_since(self, state: FileState | None) -> LineMap | None:
        change = self.change_since(state)
        if change is None or change.lines is not None or state is None or not state.blob:
            return None if change is None else change.lines
        from framedex.sources.line_maps import EMPTY_MAP

        return EMPTY_MAP

    def _own_states(self) -> Sequence[tuple[int, FileState]]:
        """Return the recorded states of a file of the user's program, the latest first; none for other files.

        At most `_MAX_STATES` + 1 states are returned.
        """
        query = (
            "SELECT id, modified, size, blob FROM file_versions WHERE is_own AND id IN"
            " (SELECT version FROM frames WHERE file = ?1 AND how = 'exact'"
            " UNION SELECT version FROM program_frames WHERE file = ?1) ORDER BY modified DESC, id DESC LIMIT ?2"
        )

        def read() -> Sequence[tuple[int, FileState]]:
            rows = self.reader.rows(query, self.id, _MAX_STATES + 1)
            return [(state, FileState(*columns)) for state, *columns in rows]

        return self.reader.cache.get_or_compute(("states", self.path), read)

    def _find_latest_state(self) -> FileState | None:
        own = self._own_states()
        if own:
            return own[0][1]
        query = (
            "SELECT modified, size, blob FROM file_versions WHERE file = (SELECT id FROM files WHERE path = ?1)"
            " UNION ALL SELECT modified, size, blob FROM source_files s"
            " WHERE file = (SELECT id FROM files WHERE path = ?1)"
            " AND NOT EXISTS (SELECT 1 FROM file_versions v WHERE v.file = s.file) ORDER BY modified DESC LIMIT 1"
        )
        row = self.reader.cache.get_or_compute(("state", self.path), lambda: self.reader.row(query, self.path))
        return None if row is None else build_state(*row)


@dataclass(frozen=True)
class LineQuery(FileQuery):
    """A 1-based line; a `capture` (its id) restricts results to calls of that capture."""

    line: int
    capture: int | None = None

    def restrict_to_latest_run(self) -> Self:
        """Restrict the line to the latest run that passed it, or compiled or dispatched from it.

        Unchanged unless the scope is latest and there are several runs.
        """
        if not self.reader.counts_one_of_several_runs():
            return self
        query = (
            f"SELECT coalesce((SELECT max(run) FROM (SELECT run FROM line_calls WHERE {self.condition('line_calls')}"
            f" UNION ALL {build_program_runs_query(self.condition('fr'))})),"
            f" (SELECT max(run) FROM line_links WHERE {self.condition('line_links')}))"
        )
        return replace(self, reader=self.reader.restrict_to_latest_run(query))

    @property
    def lines(self) -> tuple[int, ...]:
        """The current lines whose frames count for this line.

        This is the line itself if it has frames, otherwise the lines of its statement that have frames. A call that
        spans several lines is one statement, and its frames are on the line of the callee's name.
        """
        return tuple(dict.fromkeys(each.current for each in self._find_counted_lines())) or (self.line,)

    def recorded_numbers(self) -> list[tuple[int, int]]:
        """Return the line's number in each recorded state of the file, as (id of the state, line)."""
        return [(each.state, each.recorded) for each in self._to_recorded([self.line])]

    @property
    def spans_several_lines(self) -> bool:
        """Whether frames on several lines of one file state count, as for a statement that spans several lines."""
        states = [each.state for each in self._find_counted_lines()]
        return len(states) > len(set(states))

    def condition(self, table: str) -> str:
        """Return the SQL condition for rows on this line; `table` has files, lines and versions.

        If the change of the file is unknown, lines keep their numbers.
        """
        return self._join_conditions(table, self._find_counted_lines())

    def build_lines_condition(self, table: str, lines: Iterable[int]) -> str:
        """Return the SQL condition for rows on any of these lines."""
        return self._join_conditions(table, self._to_recorded(lines))

    def build_enclosing_condition(self, table: str) -> str:
        """Return the SQL condition for functions whose extent contains the line, or the nearest line if it is new."""
        parts = []
        for state in self.states():
            recorded = state.to_nearest_recorded(self.line)
            extent = f"({table}.line = {recorded} OR ({table}.line <= {recorded} AND {table}.end_line >= {recorded}))"
            parts.append(f"({self.build_state_condition(table, state)} AND {extent})")
        return f"({' OR '.join(parts)})"

    def _join_conditions(self, table: str, lines: Collection[_LineNumbers]) -> str:
        parts = []
        for state in self.states():
            recorded = sorted({each.recorded for each in lines if each.state == state.id})
            if recorded:
                parts.append(
                    f"{self.build_state_condition(table, state)} AND {table}.line IN ({', '.join(map(str, recorded))})"
                )
        return f"({' OR '.join(parts)})" if parts else "false"

    def _find_counted_lines(self) -> tuple[_LineNumbers, ...]:
        return self.reader.cache.get_or_compute(("answering", self.path, self.line), self._read_counted_lines)

    def _read_counted_lines(self) -> tuple[_LineNumbers, ...]:
        own = self._to_recorded([self.line])
        file = self.reader.cache.find_file(self.path)
        is_known = self.line_map() is not None or self.change() is None
        if file is None or not is_known or self._keep_lines_with_frames(own) or not self._has_frames():
            return own
        around = self.reader.statements.lines_of_statements(file, self.line, self._macros)
        return self._keep_lines_with_frames(self._to_recorded(around)) or own

    def _to_recorded(self, lines: Iterable[int]) -> tuple[_LineNumbers, ...]:
        """Return the recorded number of these lines in each state that has them."""
        requested = list(lines)
        before = [(current, state.id, state.to_recorded(current)) for state in self.states() for current in requested]
        return tuple(
            _LineNumbers(current, state, recorded) for current, state, recorded in before if recorded is not None
        )

    def _keep_lines_with_frames(self, lines: Collection[_LineNumbers]) -> tuple[_LineNumbers, ...]:
        """Return the lines with a frame of a recorded stack."""
        lines_with_frames = {
            (state.id, line)
            for state in self.states()
            for (line,) in self.reader.rows(
                "SELECT DISTINCT fr.line FROM frames fr"
                f" WHERE {self.build_state_condition('fr', state)} AND fr.line {IN_JSON}"
                " AND EXISTS (SELECT 1 FROM nodes n WHERE n.frame = fr.id)",
                build_json_list([each.recorded for each in lines if each.state == state.id]),
            )
        }
        return tuple(each for each in lines if (each.state, each.recorded) in lines_with_frames)

    def _has_frames(self) -> bool:
        return self.reader.row("SELECT 1 FROM frames WHERE file = ? LIMIT 1", self.id) is not None

    def _macros(self) -> str:
        return "".join(f"{macro}\n" for (macro,) in self.reader.rows("SELECT macro FROM macros"))


@dataclass(frozen=True)
class CaptureQuery:
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
        return build_capture(found)


def scope_of_everything(reader: Reader) -> AnswerScope:
    """Return the captures in scope."""
    counted = CaptureScope.CHOSEN if reader.scope.is_subset else CaptureScope.ALL
    return _build_scope(reader, counted)


def scope_of_file(file: FileQuery) -> AnswerScope:
    """Return the captures that an answer about the file covers."""
    return _build_subject_scope(file.reader, "line_calls WHERE file = ?1", file.id, program_lines="fr.file = ?1")


def scope_of_line(line: LineQuery) -> AnswerScope:
    """Return the captures that an answer about the line covers."""
    if line.capture is not None:
        return _build_scope(line.reader, CaptureScope.CHOSEN, f"p.id = {line.capture}")
    totals = f"line_calls WHERE {line.condition('line_calls')}"
    return _build_subject_scope(line.reader, totals, program_lines=line.condition("fr"))


def scope_of_functions(reader: Reader, functions: Collection[int]) -> AnswerScope:
    """Return the captures that an answer about the functions covers; the reader must be restricted to their run."""
    return _build_subject_scope(reader, f"functions WHERE id {IN_JSON}", build_json_list(functions))


def scope_of_boundary(reader: Reader, capture: int, boundary: str) -> AnswerScope:
    """Return the capture, and whether others have calls of a boundary function."""
    others = reader.row(
        "SELECT 1 FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
        " WHERE b.name = ? AND k.capture <> ? AND k.calls > 0 LIMIT 1",
        boundary,
        capture,
    )
    counted = CaptureScope.CHOSEN if reader.scope.is_subset else CaptureScope.LATEST
    return _build_scope(reader, counted, f"p.id = {capture}", is_about_location=True, has_others=others is not None)


def _build_subject_scope(reader: Reader, totals: str, *parameters: object, program_lines: str = "") -> AnswerScope:
    """Return the answer's captures; `totals` has the subject's calls, `program_lines` selects `program_frames fr`."""
    run = reader.scope.run
    if not run:
        return scope_of_everything(reader)

    def is_any(rows: str) -> bool:
        return reader.row(f"SELECT 1 FROM {rows} LIMIT 1", *parameters) is not None

    others = is_any(f"{totals} AND calls > 0 AND (run <> {run} OR calls > run_calls)")
    is_compiled = False
    if program_lines:
        of_run = f"IN (SELECT id FROM captures WHERE run = {run})"
        others = others or is_any(f"({_build_compilations_query(program_lines, f'NOT {of_run}')})")
        is_passed = is_any(f"{totals} AND calls > 0 AND run = {run}")
        is_compiled = not is_passed and is_any(f"({_build_compilations_query(program_lines, of_run)})")
    return _build_scope(
        reader,
        CaptureScope.LATEST,
        f"p.run = {run}",
        is_about_location=True,
        has_others=others,
        is_compiled=is_compiled,
    )


def _build_scope(
    reader: Reader,
    counted: CaptureScope,
    condition: str = "true",
    *,
    is_about_location: bool = False,
    has_others: bool = False,
    is_compiled: bool = False,
) -> AnswerScope:
    query = (
        f"SELECT {CAPTURE_COLUMNS} FROM captures p WHERE {condition} AND p.calls > 0 ORDER BY p.run, p.started, p.id"
    )
    captures = reader.cache.get_or_compute(query, lambda: tuple(map(build_capture, reader.rows(query))))
    of_all = reader.cache.get_or_compute("captures with calls", lambda: _count_captures_with_calls(reader))
    return AnswerScope(captures, counted, of_all, is_about_location, has_others, is_compiled)


def _count_captures_with_calls(reader: Reader) -> int:
    row = reader.row("SELECT count(*) FROM main.captures WHERE calls > 0")
    return 0 if row is None else int(row[0])
