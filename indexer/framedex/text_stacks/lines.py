"""Assign each line of a text to a stack, one line at a time, so that a log can be parsed while it is written.

A line is offered first to the open stack, then to every reader that may begin a stack.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from framedex.base.nativepart import NoNativePartError
from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks.log_text import PREFIX_START_CHARACTERS, find_log_source, find_text_end, find_text_start
from framedex.text_stacks.model import ParsedLine, Reader, StackFormat, TextFrame
from framedex.text_stacks.readers.addresses import AddressLines
from framedex.text_stacks.readers.backtraces import BacktraceLines, SymbolLists
from framedex.text_stacks.readers.compiled_programs import HloText, MlirText
from framedex.text_stacks.readers.formatted_tracebacks import IPythonText, PytestText, RichBoxes
from framedex.text_stacks.readers.locations import LocationsInText, TraceText
from framedex.text_stacks.readers.native_reports import KernelTraces, MinidumpStacks, ValgrindLines, WindowsStacks
from framedex.text_stacks.readers.numbered_frames import NumberedLines
from framedex.text_stacks.readers.other_languages import (
    AtLineParser,
    EuStacks,
    GoStacks,
    JuliaStacks,
    JvmErrors,
    RustStacks,
    ScriptLines,
)
from framedex.text_stacks.readers.profilers import BpfMaps, PerfScript, PySpyJson, PySpyText
from framedex.text_stacks.readers.tracebacks import FileLines, HandlerCrashes, PythonDebuggers

if TYPE_CHECKING:
    from framedex.base.nativepart import _scanner

MAX_LINE_LENGTH = 1 << 16
"""Maximum line length in code points. Longer lines (constants of compiled programs, data) are skipped."""

# In call order; the least specific reader comes last.
_READERS: tuple[type[Reader], ...] = (
    TraceText,
    FileLines,
    AddressLines,
    MinidumpStacks,
    EuStacks,
    NumberedLines,
    PerfScript,
    BacktraceLines,
    ValgrindLines,
    GoStacks,
    RustStacks,
    JuliaStacks,
    SymbolLists,
    PySpyText,
    PySpyJson,
    HloText,
    MlirText,
    IPythonText,
    RichBoxes,
    PytestText,
    PythonDebuggers,
    AtLineParser,
    ScriptLines,
    WindowsStacks,
    KernelTraces,
    BpfMaps,
    JvmErrors,
    HandlerCrashes,
    LocationsInText,
)


def create_readers(text: str = "") -> list[Reader]:
    """Return a reader for each family of formats, in call order; `text` is the whole text, if known."""
    return [MlirText(text) if kind is MlirText else kind() for kind in _READERS]


@cache
def build_line_scanner() -> _scanner.LineScanner | PlainScanner:
    """Return the scanner for lines on which a stack may begin or a release may be stated.

    The words of a line decide it if only locations can begin on that line.
    """
    *particular, places = create_readers()
    read_whole = (*(reader.triggers for reader in particular), StatedReleases.triggers)
    return _build_scanner(
        [trigger.encode() for triggers in read_whole for trigger in triggers],
        [trigger.encode() for trigger in places.triggers],
    )


@cache
def _rare_reader_scanner() -> _scanner.LineScanner | PlainScanner:
    """Return the scanner for lines with a trigger of a rare reader."""
    return _build_scanner(
        [trigger.encode() for each in create_readers() if each.is_rare for trigger in each.triggers], []
    )


def _build_scanner(needles: Sequence[bytes], word_needles: Sequence[bytes]) -> _scanner.LineScanner | PlainScanner:
    """Return the native scanner, or a slower Python scanner with the same results if the native part is missing."""
    try:
        from framedex.base.nativepart import _scanner
    except NoNativePartError:
        return PlainScanner(needles, word_needles)
    return _scanner.LineScanner(needles, word_needles)


class ReaderSelection:
    """Selects the readers to call for each line of one text."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers
        self._common = [reader for reader in readers if not reader.is_rare]
        self._scanner = build_line_scanner()
        self._rare_scanner = _rare_reader_scanner()

    def readers_for(self, line: bytes) -> Sequence[Reader]:
        """Return the readers to call for a line; empty if the line has no trigger."""
        return self.readers_for_triggered(line) if self._scanner.holds(line) else ()

    def readers_for_triggered(self, line: bytes) -> Sequence[Reader]:
        """Return the readers to call for a line with a trigger."""
        return self._readers if self._rare_scanner.holds(line) else self._common


class LineRole(NamedTuple):
    """The role of a line in its stack.

    `piece` is the parsed content of the line. `extended_frame` replaces the last frame. A line with neither belongs to
    the stack, but adds nothing to a frame. `begins_stack`: the line begins a new stack.
    """

    piece: ParsedLine | None = None
    extended_frame: TextFrame | None = None
    begins_stack: bool = False


_CONTINUATION_ROLE = LineRole()

BLANK = LineRole()
"""A blank line, with any indentation. It does not end a stack. It belongs to the stack only if more lines of that stack
follow."""


class OpenStack(NamedTuple):
    """The reader and the last frame of the open stack, and the source of the line on which that frame begins.

    The source is the process or thread that wrote the line, from its log prefix.
    """

    reader: Reader | None
    last: TextFrame | None
    source: str


class LineAssigner:
    """Assigns the lines of one text to stacks. It keeps only the last frame of the open stack."""

    def __init__(self) -> None:
        self._reader: Reader | None = None  # the reader of the open stack
        self._last: TextFrame | None = None  # the last frame of the open stack
        self._source = ""  # the process or thread that wrote the first line of that frame

    @property
    def is_open(self) -> bool:
        """Whether a stack is open, so that any next line may belong to it."""
        return self._reader is not None

    @property
    def state(self) -> OpenStack:
        """The state of the assigner, without the readers' own states. It can be restored by assignment."""
        return OpenStack(self._reader, self._last, self._source)

    @state.setter
    def state(self, state: OpenStack) -> None:
        self._reader, self._last, self._source = state

    def assign(self, candidates: Sequence[Reader], number: int, line: str) -> LineRole | None:
        """Return the role of the next line, given the open stack; None if the line does not belong to a stack.

        `candidates` are the readers that may begin a stack on this line; empty for a line without triggers.
        """
        start = find_text_start(line) if line[:1] in PREFIX_START_CHARACTERS else 0
        line = line[: find_text_end(line, start)] if start else line
        current = self._reader
        if current is not None:
            text = line[start:] if start else line
            if not text or text.isspace():
                return BLANK
            # A plain location on the previous line does not affect this line.
            if type(current) is not LocationsInText:
                meaning = self._assign_within_stack(current, candidates, number, line, start)
                if meaning is not None:
                    return meaning
        for reader in candidates:
            is_current = reader is current
            if is_current and type(reader) is not LocationsInText:
                continue
            piece = _parse_text_of_line(reader, number, line, start, is_current)
            if piece is not None:
                if not is_current:
                    self.close()
                return self._accept_piece(reader, piece, line[:start])
        self.close()
        return None

    def _assign_within_stack(
        self, current: Reader, candidates: Sequence[Reader], number: int, line: str, start: int
    ) -> LineRole | None:
        """Return the role of a line in the open stack, or in another stack that begins within it."""
        piece = (
            current.parse_line(number, line, is_in_stack=True)
            if not start
            else _parse_text_of_line(current, number, line, start, True)
        )
        longer = None
        if piece is not None and piece.frames and _begins_with_frame(piece, line, start):
            return self._accept_piece(current, piece, line[:start])
        text = line[start:] if start else line
        # A line interleaved by another process does not continue this frame.
        if self._last is not None and self._source == find_log_source(line[:start]):
            longer = current.extend_frame(self._last, number, text)
        if longer is None:
            if piece is not None:
                return self._accept_piece(current, piece, line[:start])
            if not current.belongs_to_stack(text):
                return None
        # A line that is a complete frame neither continues nor annotates another frame.
        for reader in candidates:
            if reader is not current and type(reader) is not LocationsInText:
                stranger = _parse_text_of_line(reader, number, line, start, False)
                if stranger is not None and stranger.frames and _begins_with_frame(stranger, line, start):
                    self.close()
                    return self._accept_piece(reader, stranger, line[:start])
        if longer is None:
            return _CONTINUATION_ROLE
        self._last = _shift_columns(longer, number, start)
        return LineRole(extended_frame=self._last)

    def close(self) -> None:
        """Close the open stack."""
        self._reader = self._last = None

    def _accept_piece(self, reader: Reader, piece: ParsedLine, prefix: str) -> LineRole:
        begins = self._reader is None or piece.opening_title is not None or _starts_another_stack(self._last, piece)
        if begins:
            self._reader, self._last = reader, None
        if piece.frames:
            self._last, self._source = piece.frames[-1], find_log_source(prefix)
        if piece.closing_title is not None:
            self.close()
        return LineRole(piece, begins_stack=begins)


def _parse_text_of_line(reader: Reader, number: int, line: str, start: int, is_in_stack: bool) -> ParsedLine | None:
    """Return the content that a reader finds on a line from column `start` on.

    Locations may also be in the log prefix.
    """
    if not start or type(reader) is LocationsInText:
        return reader.parse_line(number, line, is_in_stack=is_in_stack)
    piece = reader.parse_line(number, line[start:], is_in_stack=is_in_stack)
    if piece is None or not piece.frames:
        return piece
    return replace(piece, frames=tuple(_shift_columns(frame, number, start) for frame in piece.frames))


def _shift_columns(frame: TextFrame, number: int, start: int) -> TextFrame:
    """Return a frame with its columns on a line moved right by `start`, to count from the line's beginning."""
    if not start:
        return frame
    parts = tuple(
        replace(part, start=part.start + start, end=part.end + start) if part.line == number else part
        for part in frame.parts
    )
    first = frame.start + start if frame.first_line == number else frame.start
    last = frame.end + start if frame.last_line == number else frame.end
    return replace(frame, start=first, end=last, parts=parts)


def _begins_with_frame(piece: ParsedLine, line: str, start: int) -> bool:
    """Whether a line's text begins with the first frame of a piece."""
    first = piece.frames[0].start
    return first == start or line[start:first].isspace()


def _starts_another_stack(last: TextFrame | None, piece: ParsedLine) -> bool:
    """Whether a frame number begins another stack. backward-cpp counts down to 0, which continues the same stack."""
    if last is None or not last.number or not piece.frames:
        return False
    number = piece.frames[0].number
    if piece.format is StackFormat.TRACE:  # framedex counts from 1, earlier versions from 0
        return number in (0, 1)
    return number == 0 and (piece.innermost_first or last.number != 1)


# As in `line_scanner.cc`: a needle is found even if a control sequence, complete or not, interrupts it.
_SEQUENCE = re.compile(rb"\x1b(?:\[[ -?]*[@-~]?)?")


class PlainScanner:
    """A scanner for lines that contain any of several needles."""

    def __init__(self, needles: Sequence[bytes], word_needles: Sequence[bytes]) -> None:
        self._needle = re.compile(b"|".join(map(re.escape, (*needles, *word_needles))))

    def scan(self, text: bytes) -> list[tuple[int, int, int, None]]:
        """Return the lines with a needle: begin of the line, end of its text, and end of its line break, in bytes."""
        found = []
        begin = 0
        while begin < len(text):
            end = text.find(b"\n", begin) + 1 or len(text)
            line = text[begin:end]
            if self.holds(line):
                content = line[:-1].removesuffix(b"\r") if line.endswith(b"\n") else line
                found.append((begin, begin + len(content), end, None))
            begin = end
        return found

    def holds(self, line: bytes) -> bool:
        """Whether a line contains a needle."""
        return self._needle.search(_SEQUENCE.sub(b"", line) if b"\x1b" in line else line) is not None
