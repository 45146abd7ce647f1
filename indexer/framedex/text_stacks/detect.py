"""Find the stacks in a text of mixed formats: one JAX crash log has stacks by absl, Python and HLO.

The text is scanned once, line by line. A line is offered first to the open stack, then to every reader that may begin
a stack. Time and memory are bounded: lines longer than `MAX_LINE_LENGTH` are skipped, and at most `MAX_FRAMES` frames
are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from framedex.text_stacks.lines import (
    BLANK,
    MAX_LINE_LENGTH,
    LineAssigner,
    ReaderSelection,
    build_line_scanner,
    create_readers,
)
from framedex.text_stacks.model import ParsedLine, ParsedText, Reader, StackFormat, TextFrame, TextStack
from framedex.text_stacks.readers.addresses import LINK_TITLE, MemoryMaps

MAX_FRAMES = 200_000
"""Maximum number of frames per text. With their parts they take about 200 MB."""

_BLOCK = 1 << 17  # characters scanned for triggers at once


def read(text: str) -> ParsedText:
    r"""Return the stacks of a text with `\n` line endings. Never raises: skipped lines are reported as problems."""
    collector = _Collector(create_readers(text))
    for first, block in _split_blocks(text):
        collector.add_block(first, block)
        if collector.is_full:
            break
    reading = collector.finish()
    return replace(reading, stacks=tuple(MemoryMaps(text).add_binaries(reading.stacks))) if reading.stacks else reading


def _split_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the text in blocks of whole lines, each with the number of its first line."""
    position, number = 0, 0
    while position < len(text):
        end = text.find("\n", position + _BLOCK) + 1 or len(text)
        block = text[position:end]
        yield number, block
        number += block.count("\n")
        position = end


class _Collector:
    """Joins the pieces found by readers into stacks."""

    def __init__(self, readers: list[Reader]) -> None:
        self._reader_choice = ReaderSelection(readers)
        self._places = readers[-1:]
        self._scanner = build_line_scanner()
        self._stacks: list[TextStack] = []
        self._problems: list[str] = []
        self._found = 0
        self._lines = LineAssigner()
        self._format = StackFormat.PLAIN
        self._title = ""
        self._innermost_first = True
        self._first = self._last = 0
        self._frames: list[TextFrame] = []

    @property
    def is_full(self) -> bool:
        """Whether the frame limit `MAX_FRAMES` is reached."""
        return self._found >= MAX_FRAMES

    def finish(self) -> ParsedText:
        """Close the open stack and return the stacks and problems found."""
        self._close()
        if self.is_full:
            self._problems.append(
                f"There are more than {MAX_FRAMES:,} frames; after line {self._last + 1} none was read."
            )
        return ParsedText(tuple(_drop_duplicate_links(self._stacks)), tuple(self._problems))

    def add_block(self, first: int, block: str) -> None:
        """Parse a block of lines. Lines on which no stack can begin cost little."""
        content = block.encode("utf-8", "surrogatepass")
        found = self._scanner.scan(content)
        if not found and not self._lines.is_open:
            return
        lines = block.split("\n")
        number, position = 0, 0
        for begin, stop, end, words in (*found, (len(content), 0, 0, None)):
            following = number + content.count(b"\n", position, begin) if end else len(lines)
            while number < following and self._lines.is_open:
                self._add_line((), first + number, lines[number])
                number += 1
            number, position = following, end
            if end:
                asked = (
                    self._reader_choice.readers_for_triggered(content[begin:stop]) if words is None else self._places
                )
                self._add_line(asked, first + number, lines[number])
                number += 1

    def _add_line(self, readers: Sequence[Reader], number: int, line: str) -> None:
        if len(line) > MAX_LINE_LENGTH:
            self._close()
            self._problems.append(f"Line {number + 1} has {len(line):,} characters and was passed over.")
            return
        meaning = self._lines.assign(readers, number, line.removesuffix("\r")) if line else BLANK
        if meaning is None:
            self._close()
            return
        if meaning is BLANK:
            return
        if meaning.begins_stack:
            self._finish_stack()
            self._first, self._title = number, ""
        if meaning.extended_frame is not None:
            self._frames[-1] = meaning.extended_frame
        elif meaning.piece is not None:
            self._add_piece(meaning.piece)
        self._last = number
        if meaning.piece is not None and meaning.piece.closing_title is not None:
            self._title = meaning.piece.closing_title
            self._finish_stack()

    def _add_piece(self, piece: ParsedLine) -> None:
        if piece.opening_title is not None:
            self._title = piece.opening_title
        if piece.frames or not self._frames:
            self._format, self._innermost_first = piece.format, piece.innermost_first
        self._frames.extend(piece.frames)
        self._found += len(piece.frames)

    def _close(self) -> None:
        self._lines.close()
        self._finish_stack()

    def _finish_stack(self) -> None:
        if self._frames:
            stack = TextStack(
                self._format, self._title, self._first, self._last, tuple(self._frames), self._innermost_first
            )
            self._stacks.append(stack)
        self._frames = []


def _drop_duplicate_links(stacks: Iterable[TextStack]) -> Iterator[TextStack]:
    """Yield the stacks without the links above or below a stack of the same frames printed with symbols."""
    stacks = list(stacks)
    # A link has the addresses of the calls, the frames have the return addresses.
    frames = [frame for stack in stacks if stack.title != LINK_TITLE for frame in stack.frames]
    printed = {address for frame in frames for address in (frame.address, frame.call_address)}
    for stack in stacks:
        same = sum(frame.address in printed for frame in stack.frames) if stack.title == LINK_TITLE else 0
        if 2 * same < len(stack.frames) or not same:
            yield stack
