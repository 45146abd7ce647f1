"""What a question is about: a file, a line of it, or a capture, with the connection that answers.

Lines are those of the file as it is now, in questions and in answers; `then` are the lines as they were recorded whose
frames answer: mostly the line itself. They are looked up anew each time: an answer that is remembered has to rest on
the state of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from framedex.errors import FramedexError
from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.read.places import state_of
from framedex.index.read.rows import CAPTURE_COLUMNS, Reader, capture_row, file_id
from framedex.model import CaptureRow, FileState

if TYPE_CHECKING:  # with the extractor, which most questions do without
    from framedex.sources.changes import Change
    from framedex.sources.moving import LineMap

NO_LINE = 0
"""What a line was that was not there yet: nothing was recorded on it."""


def runs_of_programs(lines: str = "") -> str:
    """A query for the runs that compiled programs with lines of the file `?1`; `lines` is a condition for them."""
    condition = f" AND fr.{lines}" if lines else ""
    return " UNION ALL ".join(
        f"SELECT p.run FROM program_frames fr JOIN {table} l ON l.{frame} = fr.id JOIN compilations c"
        f" ON c.program = l.program JOIN captures p ON p.id = c.capture WHERE fr.file = ?1{condition}"
        for table, frame in (("program_lines", "frame"), ("program_steps", "origin"))
    )


@dataclass(frozen=True)
class AskedFile:
    """A file by its absolute path."""

    reader: Reader
    path: str

    def of_latest_run(self) -> Self:
        """The same as the latest run has it that passed the file, or compiled what is in it, where that counts."""
        query = f"SELECT max(run) FROM (SELECT run FROM line_calls WHERE file = ?1 UNION ALL {runs_of_programs()})"
        return replace(self, reader=self.reader.of_latest(query, self.id))

    @property
    def id(self) -> int | None:
        """The id of the file; None where no frame and no definition is in it."""
        return file_id(self.reader, self.path)

    def change(self) -> Change | None:
        """What has changed in the file since it was last recorded, or else indexed; None for nothing that is known."""
        return self.change_from(self._state_then())

    def change_from(self, state: FileState | None) -> Change | None:
        """What has changed in the file since a state of it; None for nothing that is known."""
        if state is None or self.reader.is_unchanged(self.path, state):
            return None
        return self.reader.places.change_since(self.path, state)

    def moved_lines(self) -> LineMap | None:
        """From the lines when the file was last recorded to those now; None if they are the same, or may be.

        No line of a file answers that surely has changed since, if its recorded text is nowhere.
        """
        state = self._state_then()
        change = self.change_from(state)
        if change is None or change.lines is not None or state is None or not state.blob:
            return None if change is None else change.lines
        from framedex.sources.moving import NOTHING_IN_COMMON

        return NOTHING_IN_COMMON

    def _state_then(self) -> FileState | None:
        # Frames of older recordings may be about other states of the file: the last one counts.
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
    """A 1-based line; with a `capture` (its id) as far as that one passed it."""

    line: int
    capture: int | None = None

    def of_latest_run(self) -> Self:
        """The same as the latest run has it that passed the line or compiled it, else had calls made from it.

        Where the latest run counts, and there are several.
        """
        if not self.reader.is_of_several():
            return self
        here = f"line {IN_JSON.replace('?', '?2')}"
        passed = f"file = ?1 AND {here}"
        query = (
            f"SELECT coalesce((SELECT max(run) FROM (SELECT run FROM line_calls WHERE {passed}"
            f" UNION ALL {runs_of_programs(here)})),"
            f" (SELECT max(run) FROM line_links WHERE {passed}))"
        )
        return replace(self, reader=self.reader.of_latest(query, self.id, json_list(self.then)))

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines, as they are now, whose frames answer for this one.

        That is the line itself where frames stand on it. Else those of its statement on which some do: a call over
        several lines is one, and its frames stand where the callee's name is.
        """
        return tuple(now for now, _ in self._answering())

    @property
    def then(self) -> tuple[int, ...]:
        """The same `lines` when the file was last recorded; `NO_LINE` for one that was not there.

        Where nobody knows what has changed, lines keep their numbers.
        """
        return tuple(then for _, then in self._answering())

    @property
    def nearest_then(self) -> int:
        """The same, or where the line would have been."""
        moved = self.moved_lines()
        return self.line if moved is None else moved.backward(self.line).line

    def _answering(self) -> tuple[tuple[int, int], ...]:
        """Of each line whose frames answer, what it is now and what it was."""
        return self.reader.memory.recall(("answering", self.path, self.line), self._find_answering)

    def _find_answering(self) -> tuple[tuple[int, int], ...]:
        moved = self.moved_lines()
        own = ((self.line, _line_before(moved, self.line)),)
        file = self.reader.memory.file(self.path)
        is_known = moved is not None or self.change() is None
        if file is None or not is_known or self._with_frames(own) or not self._has_frames():
            return own
        around = self.reader.statements.lines_with(file, self.line, self._macros)
        return self._with_frames([(line, _line_before(moved, line)) for line in around]) or own

    def _with_frames(self, lines: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        """Those of the lines on which a frame of a recorded stack stands."""
        rows = self.reader.rows(
            f"SELECT DISTINCT fr.line FROM frames fr WHERE fr.file = ? AND fr.line {IN_JSON}"
            " AND EXISTS (SELECT 1 FROM nodes n WHERE n.frame = fr.id)",
            self.id,
            json_list([then for _, then in lines]),
        )
        stood_on = {line for (line,) in rows}
        return tuple(each for each in lines if each[1] in stood_on)

    def _has_frames(self) -> bool:
        return self.reader.row("SELECT 1 FROM frames WHERE file = ? LIMIT 1", self.id) is not None

    def _macros(self) -> str:
        return "".join(f"{macro}\n" for (macro,) in self.reader.rows("SELECT macro FROM macros"))


def _line_before(moved: LineMap | None, line: int) -> int:
    return line if moved is None else moved.old_line(line) or NO_LINE


@dataclass(frozen=True)
class AskedCapture:
    """A capture by its id."""

    reader: Reader
    capture: int

    def row(self) -> CaptureRow:
        """The capture itself. Raises FramedexError where there is none of this id."""
        found = self.reader.row(f"SELECT {CAPTURE_COLUMNS} FROM captures p WHERE p.id = ?", self.capture)
        if found is None:
            raise FramedexError(
                f"There is no capture {self.capture} in {self.reader.path}.", "`framedex captures` lists them."
            )
        return capture_row(found)
