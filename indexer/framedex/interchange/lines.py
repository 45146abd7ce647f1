"""What each line of a text is to the stacks in it, one line at a time: a log may be read as it is written.

A line belongs first to the stack that is open, then to whatever begins with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from framedex.interchange.model import Format, Piece, Reader, TextFrame
from framedex.interchange.readers.compiler.hlo import HloText
from framedex.interchange.readers.compiler.mlir import MlirText
from framedex.interchange.readers.languages.at_lines import AtLines
from framedex.interchange.readers.languages.jvm_errors import JvmErrors
from framedex.interchange.readers.languages.pairs import EuStackPairs, GoPairs, JuliaPairs, RustPairs
from framedex.interchange.readers.languages.script_lines import ScriptLines
from framedex.interchange.readers.native.addresses import AddressLines
from framedex.interchange.readers.native.backtraces import BacktraceLines
from framedex.interchange.readers.native.kernel import KernelTraces
from framedex.interchange.readers.native.minidumps import MinidumpStacks
from framedex.interchange.readers.native.numbered import NumberedLines
from framedex.interchange.readers.native.profiles import BpfMaps, PerfScript
from framedex.interchange.readers.native.symbol_lists import SymbolLists
from framedex.interchange.readers.native.valgrind import ValgrindLines
from framedex.interchange.readers.native.windows import WindowsStacks
from framedex.interchange.readers.places import PlacesInLines
from framedex.interchange.readers.python.debuggers import PythonDebuggers
from framedex.interchange.readers.python.handler_crashes import HandlerCrashes
from framedex.interchange.readers.python.ipython import IPythonText
from framedex.interchange.readers.python.py_spy import PySpyJson, PySpyText
from framedex.interchange.readers.python.pytest_text import PytestText
from framedex.interchange.readers.python.rich_boxes import RichBoxes
from framedex.interchange.readers.python.tracebacks import FileLines
from framedex.interchange.readers.trace import TraceText
from framedex.interchange.text.plain_scanner import PlainScanner
from framedex.interchange.text.prefixes import PREFIXES_BEGIN_WITH, source_of, text_end, text_start
from framedex.nativepart import NoNativePartError
from framedex.releases.stated import StatedReleases

if TYPE_CHECKING:
    from framedex.nativepart import _scanner

LONGEST_LINE = 1 << 16
"""Code points of a line; longer ones (constants of compiled programs, data) are passed over."""

# In the order in which they are asked; the least particular comes last.
_READERS: tuple[type[Reader], ...] = (
    TraceText,
    FileLines,
    AddressLines,
    MinidumpStacks,
    EuStackPairs,
    NumberedLines,
    PerfScript,
    BacktraceLines,
    ValgrindLines,
    GoPairs,
    RustPairs,
    JuliaPairs,
    SymbolLists,
    PySpyText,
    PySpyJson,
    HloText,
    MlirText,
    IPythonText,
    RichBoxes,
    PytestText,
    PythonDebuggers,
    AtLines,
    ScriptLines,
    WindowsStacks,
    KernelTraces,
    BpfMaps,
    JvmErrors,
    HandlerCrashes,
    PlacesInLines,
)


def readers(text: str = "") -> list[Reader]:
    """A reader for each family of formats, in the order in which they are asked; `text` is the whole, if known."""
    return [MlirText(text) if kind is MlirText else kind() for kind in _READERS]


@cache
def line_scanner() -> _scanner.LineScanner | PlainScanner:
    """Finds the lines that anything can begin on or that may state a release; those on which only places can begin are
    decided by their words."""
    *particular, places = readers()
    read_whole = (*(reader.triggers for reader in particular), StatedReleases.triggers)
    return _scanner_of(
        [trigger.encode() for triggers in read_whole for trigger in triggers],
        [trigger.encode() for trigger in places.triggers],
    )


@cache
def _seldom_scanner() -> _scanner.LineScanner | PlainScanner:
    return _scanner_of([trigger.encode() for each in readers() if each.is_seldom for trigger in each.triggers], [])


def _scanner_of(needles: Sequence[bytes], word_needles: Sequence[bytes]) -> _scanner.LineScanner | PlainScanner:
    """The native scanner; where there is none, one that finds the same lines and takes longer."""
    try:
        from framedex.nativepart import _scanner
    except NoNativePartError:
        return PlainScanner(needles, word_needles)
    return _scanner.LineScanner(needles, word_needles)


class Asked:
    """Who is asked on the lines of a text; one object answers for one text."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers
        self._usual = [reader for reader in readers if not reader.is_seldom]
        self._scanner = line_scanner()
        self._seldom = _seldom_scanner()

    def on(self, line: bytes) -> Sequence[Reader]:
        """The readers to be asked on a line; none on one without triggers."""
        return self.on_triggered(line) if self._scanner.holds(line) else ()

    def on_triggered(self, line: bytes) -> Sequence[Reader]:
        """The readers to be asked on a line with a trigger."""
        return self._readers if self._seldom.holds(line) else self._usual


class Meaning(NamedTuple):
    """What a line of a stack is to it; neither a piece nor a longer frame: a line that only belongs there.

    `begins`: the stack that was open ended before this line. `longer` takes the place of the last frame.
    """

    piece: Piece | None = None
    longer: TextFrame | None = None
    begins: bool = False


_BELONGS = Meaning()

BLANK = Meaning()
"""What a line without text is, however it is indented: it ends no stack, and is part of it only if more follows."""


class State(NamedTuple):
    """The reader of the stack that is open, the last frame of it, and who wrote the line that this begins on."""

    reader: Reader | None
    last: TextFrame | None
    source: str


class Lines:
    """Follows the lines of one text. Of the stack that is open it keeps the last frame and nothing else."""

    def __init__(self) -> None:
        self._reader: Reader | None = None  # of the stack that is open
        self._last: TextFrame | None = None  # of its frames
        self._source = ""  # of the line that this frame begins on

    @property
    def is_open(self) -> bool:
        """Whether the next line may be one of the last stack, whatever is in it."""
        return self._reader is not None

    @property
    def state(self) -> State:
        """What the next line is read by, beside what the readers remember; it can be set to what it was before."""
        return State(self._reader, self._last, self._source)

    @state.setter
    def state(self, state: State) -> None:
        self._reader, self._last, self._source = state

    def take(self, asked: Sequence[Reader], number: int, line: str) -> Meaning | None:
        """What the next line is, by the stack that is open and the readers `asked`; None if it is of no stack.

        On a line without triggers nothing begins: nobody needs to be asked.
        """
        start = text_start(line) if line[:1] in PREFIXES_BEGIN_WITH else 0
        line = line[: text_end(line, start)] if start else line
        current = self._reader
        if current is not None:
            text = line[start:] if start else line
            if not text or text.isspace():
                return BLANK
            # That a place was on the line before says nothing of what this one is.
            if type(current) is not PlacesInLines:
                meaning = self._within(current, asked, number, line, start)
                if meaning is not None:
                    return meaning
        for reader in asked:
            is_current = reader is current
            if is_current and type(reader) is not PlacesInLines:
                continue
            piece = _piece(reader, number, line, start, is_current)
            if piece is not None:
                if not is_current:
                    self.close()
                return self._taken(reader, piece, line[:start])
        self.close()
        return None

    def _within(self, current: Reader, asked: Sequence[Reader], number: int, line: str, start: int) -> Meaning | None:
        """What a line is to the open stack, or to a stranger's that begins within what would only belong to it."""
        piece = current.piece(number, line, inside=True) if not start else _piece(current, number, line, start, True)
        longer = None
        if piece is not None and piece.frames and _begins_with_frame(piece, line, start):
            return self._taken(current, piece, line[:start])
        text = line[start:] if start else line
        # What another process wrote in between is no rest of this frame.
        if self._last is not None and self._source == source_of(line[:start]):
            longer = current.extended(self._last, number, text)
        if longer is None:
            if piece is not None:
                return self._taken(current, piece, line[:start])
            if not current.belongs(text):
                return None
        # A line that is a frame by itself is no rest of another one, nor a remark on it.
        for reader in asked:
            if reader is not current and type(reader) is not PlacesInLines:
                stranger = _piece(reader, number, line, start, False)
                if stranger is not None and stranger.frames and _begins_with_frame(stranger, line, start):
                    self.close()
                    return self._taken(reader, stranger, line[:start])
        if longer is None:
            return _BELONGS
        self._last = _shifted(longer, number, start)
        return Meaning(longer=self._last)

    def close(self) -> None:
        """End the stack that is open."""
        self._reader = self._last = None

    def _taken(self, reader: Reader, piece: Piece, prefix: str) -> Meaning:
        begins = self._reader is None or piece.begins is not None or _restarts(self._last, piece)
        if begins:
            self._reader, self._last = reader, None
        if piece.frames:
            self._last, self._source = piece.frames[-1], source_of(prefix)
        if piece.ends is not None:
            self.close()
        return Meaning(piece, begins=begins)


def _piece(reader: Reader, number: int, line: str, start: int, inside: bool) -> Piece | None:
    """What a line is to a reader, which sees the text that begins at a column; a place may be in what a log wrote."""
    if not start or type(reader) is PlacesInLines:
        return reader.piece(number, line, inside=inside)
    piece = reader.piece(number, line[start:], inside=inside)
    if piece is None or not piece.frames:
        return piece
    return replace(piece, frames=tuple(_shifted(frame, number, start) for frame in piece.frames))


def _shifted(frame: TextFrame, number: int, start: int) -> TextFrame:
    """A frame whose columns on a line count from the column `start`, with those of the line itself."""
    if not start:
        return frame
    parts = tuple(
        replace(part, start=part.start + start, end=part.end + start) if part.line == number else part
        for part in frame.parts
    )
    first = frame.start + start if frame.first_line == number else frame.start
    last = frame.end + start if frame.last_line == number else frame.end
    return replace(frame, start=first, end=last, parts=parts)


def _begins_with_frame(piece: Piece, line: str, start: int) -> bool:
    """Whether the first frame of a piece is the first that stands in a line's text."""
    first = piece.frames[0].start
    return first == start or line[start:first].isspace()


def _restarts(last: TextFrame | None, piece: Piece) -> bool:
    """Whether a frame is the first of another stack; backward-cpp counts down to 0, where the same stack goes on."""
    if last is None or not last.number or not piece.frames:
        return False
    number = piece.frames[0].number
    if piece.format is Format.TRACE:  # our own count from 1, once from 0
        return number in (0, 1)
    return number == 0 and (piece.innermost_first or last.number != 1)
