"""What a question is about: a file, a line of it, or a capture, with the connection that answers.

Lines are those of the file as it is now, in questions and in answers; `then` is the line as it was recorded. It is
looked up anew each time: an answer that is remembered has to rest on the state of the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.errors import FramedexError
from framedex.index.read.places import state_of
from framedex.index.read.rows import CAPTURE_COLUMNS, Reader, capture_row, file_id
from framedex.model import CaptureRow, FileState

if TYPE_CHECKING:  # with the extractor, which most questions do without
    from framedex.sources.changes import Change
    from framedex.sources.moving import LineMap

NO_LINE = 0
"""What a line was that was not there yet: nothing was recorded on it."""


@dataclass(frozen=True)
class AskedFile:
    """A file by its absolute path."""

    reader: Reader
    path: str

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
        """From the lines when the file was last recorded to those now; None where they are the same, or unknown."""
        change = self.change()
        return None if change is None else change.lines

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

    @property
    def then(self) -> int:
        """The line when the file was last recorded; `NO_LINE` if it was not there.

        Where nobody knows what has changed, lines keep their numbers.
        """
        moved = self.moved_lines()
        if moved is None:
            return self.line
        then = moved.backward(self.line)
        return NO_LINE if then.is_gone else then.line

    @property
    def nearest_then(self) -> int:
        """The same, or where the line would have been."""
        moved = self.moved_lines()
        return self.line if moved is None else moved.backward(self.line).line


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
