"""Annotate a log while it is written. The log's bytes pass unchanged and without delay.

A note is placed at the end of a line, before its line break, and is decided when the line is complete. Later lines
cannot change it (for example the aliases at the end of an MLIR module). Memory is bounded for any log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from framedex.model import Language
from framedex.nativepart import _scanner
from framedex.recall import Recall
from framedex.releases.stated import StatedReleases
from framedex.text_stacks.lines import LONGEST_LINE, Asked, Lines, line_scanner, readers
from framedex.text_stacks.model import Format, Part, PartKind, TextFrame
from framedex.text_stacks.placing.inward import called_from
from framedex.text_stacks.situations import Situation, Situations, alike, outline
from framedex.text_stacks.text.escapes import without_escapes
from framedex.text_stacks.text.plain_scanner import PlainScanner

_LONGEST_BYTES = 4 * LONGEST_LINE
_MOST_KEPT = 16 << 20
_MOST_SITUATIONS = 8192
_MOST_PATHS = 4096
_MANY_NAMES = 256
"""Number of unknown names after which loading all known names pays off."""

_FARTHEST = 50
"""Number of lines after a frame within which the distance to it affects parsing."""

# Lines of the same form may state a release with different numbers.
_MAY_STATE = re.compile("|".join(re.sub(r"\d", r"\\d", re.escape(each)) for each in StatedReleases.triggers))
_TEXTS = frozenset((PartKind.FUNCTION, PartKind.PATH, PartKind.LINE, PartKind.COLUMN, PartKind.MODULE, PartKind.LABEL))

Spans = list[tuple[int, int]]


class _Counted(NamedTuple):
    """The byte ranges of a line that determine its note (see `LineMemory`); empty if the line never has a note."""

    counted: Spans
    names: Spans
    paths: Spans
    depends_on_frame: bool = False
    """Whether the note also depends on the previous frame, which this one calls."""


class Notes(Protocol):
    """Provides the note for the frames on a line. An empty note means there is nothing to report."""

    def known(self, frames: Sequence[TextFrame], inward: TextFrame | None = None) -> bytes | None:
        """Return the note if it is cached, else None; `inward` is the callee of the first frame, if the log has it."""

    def found(self, frames: Sequence[TextFrame], inward: TextFrame | None = None) -> bytes:
        """Return the note; may be slow."""


class Unnoted(Protocol):
    """Decides which frames never have a note, without a look-up per frame."""

    def is_possible(self, frame: TextFrame) -> bool:
        """Whether a frame with these fields can have a note."""

    def goes_by_name(self, frame: TextFrame) -> bool:
        """Whether such a frame has a note only if its path resolves or its function's name is known.

        The name counts for native code only.
        """

    def leads_nowhere(self, path: str) -> bool:
        """Whether a path of such a frame does not resolve, as long as the names stay the same."""

    def names(self) -> Sequence[str] | None:
        """Return texts with the words of every known name; None if unchanged since the last call."""


class _Read(NamedTuple):
    """The frames begun or completed on a line, and whether similar lines give the same result."""

    frames: Sequence[TextFrame]
    is_typical: bool
    inward: TextFrame | None = None
    """The previous frame, which the first of `frames` calls."""


class _Taken(NamedTuple):
    """The frames to annotate on a line, as in `_Read`, and what to cache.

    `is_kept`: cache the note. `has_frame`: the last frame is now one of this line.
    """

    frames: Sequence[TextFrame] = ()
    inward: TextFrame | None = None
    is_kept: bool = False
    has_frame: bool = False


class NotedLog:
    """Takes a log in blocks of any size and yields it with notes; one object per log.

    The output does not depend on the block boundaries. An incomplete line is passed on unchanged, and parsed when its
    end arrives.
    """

    def __init__(
        self,
        notes: Notes,
        releases: StatedReleases | None = None,
        unnoted: Unnoted | None = None,
        most_kept: int = _MOST_KEPT,
    ) -> None:
        """`releases` collects the releases that the log states. About `most_kept` bytes of lines are cached."""
        self._unnoted = unnoted
        self._releases = releases or StatedReleases()
        self._most_kept = most_kept
        self._readers = readers()
        self._asked = Asked(self._readers)
        self._places = self._readers[-1]
        self._scanner = scanner = line_scanner()
        assert not isinstance(scanner, PlainScanner), "`_scanner` is there, and so is its scanner"
        self._notes = notes
        self._knows_names = False
        self._paths: set[str] = set()  # already checked for whether they resolve
        self._lines = Lines()
        self._memory = _scanner.LineMemory(scanner)
        self._situations = Situations(self._memory, self._lines, self._readers)
        self._begun = bytearray()  # the visible part of the incomplete line, already passed on
        self._held = b""  # a carriage return that may be the first half of a line break
        self._of_words: Recall[tuple[bytes, ...], bytes] = Recall()

    def take(self, block: bytes) -> Iterator[bytes]:
        """Yield the block with its notes, in pieces. Bytes that are ready are yielded before a slow look-up."""
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
        """Yield the remaining bytes at the end of the log."""
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
            begun[_LONGEST_BYTES + 1 :] = begun[-1:]  # too long to be parsed, unless a carriage return overwrites it

    def _may_count(self, rest: bytes) -> bool:
        if self._scanner.holds(bytes(self._begun) + rest):
            return True
        self._catch_up()
        return self._lines.is_open

    def _noted(self, text: bytes, shown: int) -> Iterator[bytes]:
        """Yield whole lines from byte `shown` on, with their notes."""
        pieces: list[bytes] = []
        position = counted = 0
        if self._knows_names:
            self._learn_names()
        while True:
            noted, unknown = self._memory.follow(text, position, shown, self._of_words.kept)
            pieces.append(noted)
            if unknown is None:
                break
            begin, stop, position, words, has_outcome, is_worth_keeping = unknown
            shown = max(shown, begin)
            line, before = text[begin:stop], self._memory.situation
            if words is None:
                self._skip_lines(text, counted, begin)
                counted = position
                taken = self._line(line, has_outcome, is_worth_keeping)
            else:
                taken = _Taken(self._frames_of_words(words))
            frames = taken.frames
            note = self._notes.known(frames, taken.inward) if frames else b""
            if note is None:
                yield b"".join((*pieces, text[shown:stop]))
                pieces, shown = [], stop
                note = self._notes.found(frames, taken.inward)
            if frames and self._knows_names and not note:
                self._learn_paths(frames)
            if words is not None:
                self._of_words.keep(words, note, sum(map(len, words)) + len(note))
            elif taken.is_kept:
                self._memory.keep_note(before, line, note)
                self._forget_if_much()
            if taken.has_frame:
                self._memory.read_frame(before, line)
            if note:
                pieces += text[shown:stop], note
                shown = stop
            if not self._knows_names and self._memory.names_met > _MANY_NAMES:
                self._learn_names()
        self._skip_lines(text, counted, len(text))
        yield b"".join(pieces)

    def _skip_lines(self, text: bytes, begin: int, end: int) -> None:
        if self._releases.depends_on_lines_before:
            self._releases.skip_lines(text.count(b"\n", begin, end))

    def _learn_names(self) -> None:
        names = self._unnoted.names() if self._unnoted is not None else None
        if names is not None:
            self._memory.know_names(names)
            self._knows_names = True
            self._paths.clear()

    def _learn_paths(self, frames: Sequence[TextFrame]) -> None:
        for frame in frames:
            path = frame.place.path if frame.place is not None else ""
            is_new = path and path not in self._paths and len(self._paths) < _MOST_PATHS
            if is_new and self._unnoted is not None and self._unnoted.goes_by_name(frame):
                self._paths.add(path)
                if self._unnoted.leads_nowhere(path):
                    self._memory.know_lost_path(path.encode("utf-8", "surrogateescape"))

    def _forget_if_much(self) -> None:
        if self._memory.weight > self._most_kept or len(self._situations) > _MOST_SITUATIONS:
            self._situations.clear(self._memory.number)

    def _catch_up(self) -> None:
        self._situations.catch_up(lambda number, line: self._read(number, line, _text(line) or ""))

    def _line(self, line: bytes, has_outcome: bool, is_worth_keeping: bool) -> _Taken:
        """Return the frames begun or completed on a line, and what to cache."""
        text = _text(line)
        if text == "":
            return _Taken()
        self._catch_up()
        number = self._memory.number
        if text is None:
            self._lines.close()
            self._situations.read(number)
            return _Taken()
        known, depends_on_before = self._releases.count, self._releases.depends_on_lines_before
        self._releases.take(text)
        depends_on_before |= self._releases.depends_on_lines_before or self._releases.depended_on_lines_before
        before, situation = self._situations.present, self._memory.situation
        read = self._read(number + 1, line, text)
        after = self._situations.read(number + 1)
        last = self._lines.state.last
        has_frame = last is not None and last is not before.state.last
        taken = _Taken(read.frames, read.inward, has_outcome and is_worth_keeping, has_frame)
        if self._releases.count != known:
            self._situations.clear(number + 1)  # notes depend on the releases
            return taken._replace(is_kept=False)
        if has_outcome or not is_worth_keeping or not read.is_typical or depends_on_before:
            return taken
        by_form = not _MAY_STATE.search(text) and self._is_of_its_form(before, number + 1, line, read)
        self._memory.keep(situation, line, by_form, after, has_frame, *self._counted(read.frames, line, text))
        return taken._replace(is_kept=True)

    def _is_of_its_form(self, before: Situation, number: int, line: bytes, read: _Read) -> bool:
        """Whether another line of the same form is parsed like this one, so that the form can be the cache key."""
        sibling = _scanner.sibling_of(line)
        if sibling == line:
            return True
        present = self._situations.present
        self._situations.enter(before)
        other = self._read(number, sibling, _text(sibling) or "")
        is_alike = other.is_typical and alike(self._situations.present) == alike(present)
        self._situations.enter(present)
        return is_alike and [*map(_shape, other.frames)] == [*map(_shape, read.frames)]

    def _counted(self, frames: Sequence[TextFrame], line: bytes, text: str) -> _Counted:
        unnoted = self._unnoted
        possible = [frame for frame in frames if unnoted is None or unnoted.is_possible(frame)]
        if not possible:
            return _Counted([], [], [])
        parts = [part for frame in possible for part in frame.parts]
        calls = any(map(_may_call, possible))
        if not text.isascii() or text.encode() != line or not all(map(_is_told, possible)):
            return _Counted([(0, len(line))], [], [], calls)
        if any(_is_in_binary(frame) or frame.build_id for frame in possible):  # a build-id has no part
            addresses = [part for part in parts if part.kind is PartKind.ADDRESS]
            return _Counted(_between(addresses, len(line)), [], [], calls)
        counted = [(part.start, part.end) for part in parts if part.kind in _TEXTS]
        if unnoted is None or not all(map(unnoted.goes_by_name, possible)):
            return _Counted(counted or [(0, len(line))], [], [], calls)
        native = [part for frame in possible if frame.language is Language.NATIVE for part in frame.parts]
        names = [(part.start, part.end) for part in native if part.kind is PartKind.FUNCTION]
        paths = [(part.start, part.end) for part in parts if part.kind is PartKind.PATH]
        return _Counted(counted, names, paths, calls)

    def _read(self, number: int, line: bytes, text: str) -> _Read:
        """Parse a line; `text` is the line without overwritten characters and colours."""
        before = self._lines.state.last
        meaning = self._lines.take(self._asked.on(line), number, text)
        is_near = before is None or number - before.first_line < _FARTHEST
        if meaning is None:
            return _Read((), is_near)
        if meaning.longer is not None:
            return _Read((meaning.longer,) if _tells_more(meaning.longer, before, text) else (), is_typical=False)
        if meaning.piece is None:
            return _Read((), is_near)
        if meaning.piece.format is Format.PLAIN:
            self._lines.close()  # a stack of locations continues only on lines with more locations
        frames = [frame for frame in meaning.piece.frames if _tells_more(frame, None, text)]
        inward = None
        if frames and before is not None and not meaning.begins and meaning.piece.innermost_first:
            inward = called_from(frames[0], before)
        return _Read(frames, is_near and not meaning.piece.depends_on_values, inward)

    def _frames_of_words(self, words: Sequence[bytes]) -> Sequence[TextFrame]:
        pieces = (self._places.piece(0, word.decode("utf-8", "surrogateescape"), inside=False) for word in words)
        return [frame for piece in pieces if piece is not None for frame in piece.frames]


def _text(line: bytes) -> str | None:
    """Return a line as a terminal shows it; None if it is too long to be parsed."""
    body = line[line.rfind(b"\r") + 1 :]
    text = without_escapes(body.decode("utf-8", "surrogateescape")) if len(body) <= _LONGEST_BYTES else None
    return text if text is None or len(text) <= LONGEST_LINE else None


def _shape(frame: TextFrame) -> object:
    return frame.start, frame.end, frame.parts, outline(frame)


def _may_call(frame: TextFrame) -> bool:
    """Whether the callee helps to locate a frame."""
    return frame.language is Language.NATIVE and (frame.place is None or not frame.place.line)


def _is_in_binary(frame: TextFrame) -> bool:
    """Whether a frame has an offset in its binary or function."""
    return frame.offset is not None or frame.function_offset is not None


def _is_told(frame: TextFrame) -> bool:
    """Whether the parts of one line hold everything that determines a frame's note: its function and location."""
    if frame.outward or frame.first_line != frame.last_line or (_is_in_binary(frame) and frame.address is None):
        return False
    kinds = {part.kind for part in frame.parts}
    place = frame.place
    if place is not None and (place.function or not {PartKind.PATH, PartKind.LINE} <= kinds):
        return False
    return PartKind.FUNCTION in kinds or not frame.function


def _between(parts: Iterable[Part], end: int) -> Spans:
    """Return the spans between these parts."""
    spans, position = [], 0
    for part in sorted(parts, key=lambda part: part.start):
        spans.append((position, part.start))
        position = part.end
    return [*spans, (position, end)]


def _tells_more(frame: TextFrame, before: TextFrame | None, line: str) -> bool:
    """Whether a line locates its frame more precisely than the lines `before`.

    gdb wraps frames and puts the location, or the library, last. Only after all arguments may the name be all there is.
    """
    if frame.format is Format.GDB and not frame.place and not frame.module:
        return line.rstrip().endswith(")")
    return before is None or (frame.place, frame.module) != (before.place, before.module)
