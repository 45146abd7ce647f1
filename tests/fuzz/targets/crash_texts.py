"""Stacks in texts: parsing never raises, frames are within the text, and streamed logs give the same frames."""

from __future__ import annotations

from collections.abc import Sequence

from framedex.text_stacks import read
from framedex.text_stacks.log_text import remove_escapes
from framedex.text_stacks.model import StackFormat, TextFrame
from framedex.text_stacks.stream import AnnotatedLog
from tests.fuzz.inputs import text_of

MAX_SIZE = 1 << 16


def run(data: bytes) -> None:
    """Parse the text at once, and as a log that arrives in pieces."""
    text = text_of(data)
    lines = text.split("\n")
    frames = list(read(text).frames())
    for frame in frames:
        assert 0 <= frame.first_line <= frame.last_line < len(lines), frame
        assert 0 <= frame.start <= len(lines[frame.first_line]) and frame.end <= len(lines[frame.last_line]), frame
        for part in frame.parts:
            assert 0 <= part.start <= part.end <= len(lines[part.line]), part
    assert _streamed(data, len(data) or 1, _EmptyNotes()) == data, "a log was changed on output"
    notes = _TellingNotes()
    noted = _streamed(data, len(data) or 1, notes)
    assert noted == _streamed(data, 61, _TellingNotes()), "the notes depend on the pieces in which a log arrives"
    twice = _streamed(data * 2, 2 * len(data) or 1, _TellingNotes())
    assert twice == _streamed(data * 2, 2 * len(data) or 1, _TellingNotes(), cache_bytes=-1), (
        "a cache changes the notes"
    )
    if _is_plain(text):
        missing = {_without_address(frame) for frame in frames if frame.format not in _WHOLE_ONLY} - notes.told
        assert not missing, f"found only when read as a whole: {missing}"


# Frames of several lines: a stream reports the first line before the others arrive.
_WHOLE_ONLY = (StackFormat.GDB, StackFormat.MLIR, StackFormat.PY_SPY_JSON, StackFormat.PYSTACK)


def _is_plain(text: str) -> bool:
    """Whether a stream must give the same frames: no overwritten or coloured text, and no aliases, which come last."""
    return "\r" not in text and "#loc" not in text and remove_escapes(text) == text


def _without_address(frame: TextFrame) -> tuple[object, ...]:
    return frame.format, frame.function, frame.place  # no note depends on the address


class _EmptyNotes:
    """Empty notes."""

    def cached_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes | None:
        return None

    def find_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes:
        return b""


class _TellingNotes(_EmptyNotes):
    """Notes that distinguish the frames."""

    def __init__(self) -> None:
        self.told: set[tuple[object, ...]] = set()

    def find_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes:
        self.told.update(map(_without_address, frames))
        return f" <{[_without_address(frame) for frame in frames]!r}>".encode("utf-8", "backslashreplace")


def _streamed(data: bytes, size: int, notes: _EmptyNotes, cache_bytes: int = 1 << 20) -> bytes:
    log = AnnotatedLog(notes, cache_bytes=cache_bytes)
    pieces = [piece for at in range(0, len(data), size) for piece in log.annotate(data[at : at + size])]
    return b"".join((*pieces, *log.finish()))
