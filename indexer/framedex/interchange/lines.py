"""What each line of a text is to the stacks in it, one line at a time: a log may be read as it is written.

A line belongs first to the stack that is open, then to whatever begins with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from framedex.interchange.addresses import AddressLines
from framedex.interchange.hlo import HloText
from framedex.interchange.mlir import MlirText
from framedex.interchange.model import Piece, Reader, TextFrame
from framedex.interchange.numbered import NumberedLines
from framedex.interchange.places import PlacesInLines
from framedex.interchange.py_spy import PySpyJson, PySpyText
from framedex.interchange.python_text import FileLines
from framedex.interchange.trace import TraceText

LONGEST_LINE = 1 << 16
"""Code points of a line; longer ones (constants of compiled programs, data) are passed over."""

# In the order in which they are asked; the least particular comes last.
_READERS: tuple[Callable[[str], Reader], ...] = (
    lambda text: TraceText(),
    lambda text: FileLines(),
    lambda text: AddressLines(),
    lambda text: NumberedLines(),
    lambda text: PySpyText(),
    lambda text: PySpyJson(),
    lambda text: HloText(),
    MlirText,
    lambda text: PlacesInLines(),
)


def readers(text: str = "") -> list[Reader]:
    """A reader for each family of formats, in the order in which they are asked; `text` is the whole, if known."""
    return [make(text) for make in _READERS]


class Meaning(NamedTuple):
    """What a line of a stack is to it; neither a piece nor a longer frame: a line that only belongs there.

    `begins`: the stack that was open ended before this line. `longer` takes the place of the last frame.
    """

    piece: Piece | None = None
    longer: TextFrame | None = None
    begins: bool = False


_BELONGS = Meaning()


class Lines:
    """Follows the lines of one text. Of the stack that is open it keeps the last frame and nothing else."""

    def __init__(self) -> None:
        self._reader: Reader | None = None  # of the stack that is open
        self._last: TextFrame | None = None  # of its frames

    @property
    def is_open(self) -> bool:
        """Whether the next line may be one of the last stack, whatever is in it."""
        return self._reader is not None

    @property
    def last(self) -> TextFrame | None:
        """The last frame of the stack that is open."""
        return self._last

    def take(self, asked: Iterable[Reader], number: int, line: str) -> Meaning | None:
        """What the next line is, by the stack that is open and the readers `asked`; None if it is of no stack."""
        current = self._reader
        if current is not None and not isinstance(current, PlacesInLines):  # which finds something on others' lines too
            longer = current.extended(self._last, number, line) if self._last is not None else None
            if longer is not None:
                self._last = longer
                return Meaning(longer=longer)
            piece = current.piece(number, line, inside=True)
            if piece is not None:
                return self._taken(current, piece)
            if current.belongs(line):
                return _BELONGS
        for reader in asked:
            if reader is current and not isinstance(current, PlacesInLines):
                continue
            piece = reader.piece(number, line, inside=reader is current)
            if piece is not None:
                if reader is not current:
                    self.close()
                return self._taken(reader, piece)
        self.close()
        return None

    def close(self) -> None:
        """End the stack that is open."""
        self._reader = self._last = None

    def _taken(self, reader: Reader, piece: Piece) -> Meaning:
        begins = self._reader is None or piece.begins is not None or _restarts(self._last, piece.frames)
        if begins:
            self._reader, self._last = reader, None
        if piece.frames:
            self._last = piece.frames[-1]
        if piece.ends is not None:
            self.close()
        return Meaning(piece, begins=begins)


def _restarts(last: TextFrame | None, frames: Sequence[TextFrame]) -> bool:
    return bool(last is not None and last.number and frames and frames[0].number == 0)
