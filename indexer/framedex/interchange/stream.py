"""A log that gets notes on its frames while it is written: whatever is in it passes unchanged, and at once.

A note stands at the end of a line, before its line break. It is known when the line is complete, and what comes later
in the log (the aliases at the end of an MLIR module) cannot count. Memory is bounded, whatever the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from framedex.interchange.lines import LONGEST_LINE, Asked, Lines, line_scanner, readers, usual
from framedex.interchange.model import Format, Reader, TextFrame
from framedex.interchange.recall import Recall
from framedex.interchange.text.escapes import without_escapes
from framedex.releases.stated import StatedReleases

_LONGEST_BYTES = 4 * LONGEST_LINE


class Notes(Protocol):
    """What there is to say of the frames on a line; nothing is an empty note."""

    def known(self, frames: Sequence[TextFrame]) -> bytes | None:
        """The note, if it is known already."""

    def found(self, frames: Sequence[TextFrame]) -> bytes:
        """The note, which may take a while."""


class NotedLog:
    """Takes a log in blocks of any size and hands it out with notes; one object takes one log.

    What is handed out does not depend on the blocks. What of a block is no whole line is handed out as it is: only
    when the line's end comes is it read.
    """

    def __init__(self, notes: Notes, releases: StatedReleases | None = None) -> None:
        """`releases` is told what the log states of them."""
        self._releases = releases or StatedReleases()
        self._readers = readers()
        self._usual = usual(self._readers)
        self._places = self._readers[-1]
        self._scanner = line_scanner()
        self._notes = notes
        self._lines = Lines()
        self._number = 0  # of the lines that were read
        self._begun = bytearray()  # what counts of the line that has no end yet; it was handed out
        self._held = b""  # a carriage return, if it may be the first half of a line break
        self._of_words: Recall[tuple[bytes, ...], bytes] = Recall()

    def take(self, block: bytes) -> Iterator[bytes]:
        """The block as it is to be handed out, in pieces; what takes a while comes after what can be shown already."""
        block, self._held = self._held + block, b""
        end = block.rfind(b"\n") + 1
        if end:
            text, shown = bytes(self._begun) + block[:end], len(self._begun)
            self._begun.clear()
            yield from self._noted(text, shown)
        rest = block[end:]
        if rest.endswith(b"\r") and self._may_count(rest):
            rest, self._held = rest[:-1], b"\r"
        if rest:
            self._begin(rest)
            yield rest

    def end(self) -> Iterator[bytes]:
        """What is to be handed out at the end of the log."""
        text = bytes(self._begun) + self._held
        self._begun.clear()
        if text:
            yield from self._noted(text, len(text) - len(self._held))

    def _begin(self, piece: bytes) -> None:
        begun = self._begun
        written_over = piece.rfind(b"\r", 0, len(piece) - 1) + 1
        if written_over or begun.endswith(b"\r"):
            begun.clear()
        begun += piece[written_over:]
        if len(begun) > _LONGEST_BYTES + 2:
            begun[_LONGEST_BYTES + 1 :] = begun[-1:]  # too long to be read, unless it is written over

    def _may_count(self, rest: bytes) -> bool:
        return self._lines.is_open or bool(self._scanner.scan(bytes(self._begun) + rest, {}))

    def _noted(self, text: bytes, shown: int) -> Iterator[bytes]:
        """Whole lines from byte `shown` on, with their notes."""
        pieces: list[bytes] = []
        for begin, stop, asked, words, note in self._lines_that_count(text):
            if note is None:
                frames = self._frames(asked, text[begin:stop]) if words is None else self._frames_of_words(words)
                note = self._notes.known(frames) if frames else b""
                if note is None:
                    yield b"".join((*pieces, text[shown:stop]))
                    pieces, shown = [], stop
                    note = self._notes.found(frames)
                if words is not None:
                    self._of_words.keep(words, note, sum(map(len, words)) + len(note))
            if note:
                pieces += text[shown:stop], note
                shown = stop
        yield b"".join((*pieces, text[shown:]))

    def _lines_that_count(
        self, text: bytes
    ) -> Iterator[tuple[int, int, Sequence[Reader], tuple[bytes, ...] | None, bytes | None]]:
        """The lines to be read, without their breaks, and by whom: those with a trigger, others while a stack is open.

        The words of a line are those that it can be read by, if the line around them does not matter; with the note
        that is known of them. Lines of which it is known that there is nothing to note are left out.
        """
        position = 0
        lines = self._lines
        asked = Asked(self._readers, self._usual, text)
        nothing = len(text), len(text), len(text), None, None
        for begin, stop, end, words, note in (*self._scanner.scan(text, self._of_words.kept), nothing):
            while lines.is_open and position < begin:
                following = text.find(b"\n", position) + 1 or len(text)
                yield position, _before_break(text, following), (), None, None
                position = following
            if lines.is_open or end - begin > LONGEST_LINE:
                yield begin, stop, asked.on(begin), None, None
            else:
                yield begin, stop, asked.on(begin) if words is None else (), words, note
            position = end

    def _frames(self, asked: Sequence[Reader], line: bytes) -> Sequence[TextFrame]:
        """The frames that a line has, or completes."""
        body = line[line.rfind(b"\r") + 1 :]
        text = without_escapes(body.decode("utf-8", "surrogateescape")) if len(body) <= _LONGEST_BYTES else None
        if text is None or len(text) > LONGEST_LINE:
            self._lines.close()
            return ()
        if not text:
            return ()
        self._number += 1
        self._releases.take(text)
        before = self._lines.last
        meaning = self._lines.take(asked, self._number, text)
        if meaning is None:
            return ()
        if meaning.longer is not None:
            return (meaning.longer,) if _tells_more(meaning.longer, before, text) else ()
        if meaning.piece is None:
            return ()
        if meaning.piece.format is Format.PLAIN:
            self._lines.close()  # a stack of places goes on only where there are more of them
        return [frame for frame in meaning.piece.frames if _tells_more(frame, None, text)]

    def _frames_of_words(self, words: Sequence[bytes]) -> Sequence[TextFrame]:
        pieces = (self._places.piece(0, word.decode("utf-8", "surrogateescape"), inside=False) for word in words)
        return [frame for piece in pieces if piece is not None for frame in piece.frames]


def _tells_more(frame: TextFrame, before: TextFrame | None, line: str) -> bool:
    """Whether a line says more of where its frame is than those `before` did.

    gdb wraps frames, and puts the place, or the library, last: only behind all arguments may the name be all there is.
    """
    if frame.format is Format.GDB and not frame.place and not frame.module:
        return line.rstrip().endswith(")")
    return before is None or (frame.place, frame.module) != (before.place, before.module)


def _before_break(text: bytes, end: int) -> int:
    """Where the line break of the line that ends at byte `end` begins."""
    if text[end - 1 : end] != b"\n":
        return end
    return end - 2 if text[end - 2 : end - 1] == b"\r" else end - 1
