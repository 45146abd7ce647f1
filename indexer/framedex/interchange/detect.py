"""Finding the stacks in a text of any, also mixed, formats: a JAX crash has absl's, Python's and HLO in one log.

One pass, a line at a time. A line belongs first to the stack that is open, then to whatever begins with it. Work and
memory are bounded: no line is looked at beyond `LONGEST_LINE`, and no more than `MOST_FRAMES` frames are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from framedex.interchange.addresses import AddressLines
from framedex.interchange.hlo import HloText
from framedex.interchange.mlir import MlirText
from framedex.interchange.model import Format, Piece, Reader, Reading, TextFrame, TextStack
from framedex.interchange.numbered import NumberedLines
from framedex.interchange.places import PlacesInLines
from framedex.interchange.py_spy import PySpyJson, PySpyText
from framedex.interchange.python_text import FileLines
from framedex.interchange.trace import TraceText

LONGEST_LINE = 1 << 16
"""Code points of a line; longer ones (constants of compiled programs, data) are passed over."""

MOST_FRAMES = 200_000
"""Frames of a text; with their parts they take some 200 MB."""

_BLOCK = 1 << 17  # characters that are looked through for triggers at once

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


def read(text: str) -> Reading:
    """The stacks of a text, lines ending in `\\n`. Never raises; what was passed over is among the problems."""
    collector = _Collector([make(text) for make in _READERS])
    for first, block in _blocks(text):
        collector.take(first, block)
        if collector.is_full:
            break
    return collector.reading()


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """The text in pieces of whole lines, each with the number of its first line."""
    position, number = 0, 0
    while position < len(text):
        end = text.find("\n", position + _BLOCK) + 1 or len(text)
        block = text[position:end]
        yield number, block
        number += block.count("\n")
        position = end


class _Collector:
    """Puts the pieces that readers find together into stacks."""

    def __init__(self, readers: list[Reader]) -> None:
        self._readers = readers
        self._stacks: list[TextStack] = []
        self._problems: list[str] = []
        self._found = 0
        self._reader: Reader | None = None  # of the stack that is open
        self._format = Format.PLAIN
        self._title = ""
        self._innermost_first = True
        self._first = self._last = 0
        self._frames: list[TextFrame] = []

    @property
    def is_full(self) -> bool:
        """Whether no more frames are taken."""
        return self._found >= MOST_FRAMES

    def reading(self) -> Reading:
        """What was found."""
        self._close()
        if self.is_full:
            self._problems.append(
                f"There are more than {MOST_FRAMES:,} frames; after line {self._last + 1} none was read."
            )
        return Reading(tuple(self._stacks), tuple(self._problems))

    def take(self, first: int, block: str) -> None:
        """Take a block of lines; lines that nothing can begin on cost little."""
        readers = [reader for reader in self._readers if any(trigger in block for trigger in reader.triggers)]
        if not readers and self._reader is None:
            return
        for number, line in enumerate(block.split("\n"), first):
            if len(line) > LONGEST_LINE:
                self._close()
                self._problems.append(f"Line {number + 1} has {len(line):,} characters and was passed over.")
            elif line:
                self._line(readers, number, line)

    def _line(self, readers: Iterable[Reader], number: int, line: str) -> None:
        current = self._reader
        if current is not None:
            longer = current.extended(self._frames[-1], number, line) if self._frames else None
            if longer is not None:
                self._frames[-1], self._last = longer, number
                return
            piece = current.piece(number, line, inside=True)
            if piece is not None:
                self._add(current, piece, number)
                return
            if current.belongs(line):
                self._last = number
                return
        for reader in readers:
            if reader is not current and (piece := reader.piece(number, line, inside=False)) is not None:
                self._close()
                self._add(reader, piece, number)
                return
        self._close()

    def _add(self, reader: Reader, piece: Piece, number: int) -> None:
        restarts = bool(self._frames and piece.frames and piece.frames[0].number == 0 and self._frames[-1].number)
        if self._reader is None or piece.begins is not None or restarts:
            self._close()
            self._reader, self._first, self._title = reader, number, piece.begins or ""
        if piece.frames or not self._frames:
            self._format, self._innermost_first = piece.format, piece.innermost_first
        self._frames.extend(piece.frames)
        self._found += len(piece.frames)
        self._last = number
        if piece.ends is not None:
            self._title = piece.ends
            self._close()

    def _close(self) -> None:
        if self._frames:
            stack = TextStack(
                self._format, self._title, self._first, self._last, tuple(self._frames), self._innermost_first
            )
            self._stacks.append(stack)
        self._reader, self._frames = None, []
