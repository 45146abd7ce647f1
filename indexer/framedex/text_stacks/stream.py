"""Annotate a log while it is written. The log's bytes pass unchanged and without delay.

A note is added at the end of a line, before its line break, as soon as the line is complete. So it cannot use
information from later lines, such as the aliases at the end of an MLIR module. Memory is bounded for any log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from framedex.base.lazy import TextCache
from framedex.base.nativepart import _scanner
from framedex.model import Language
from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks.lines import (
    MAX_LINE_LENGTH,
    LineAssigner,
    OpenStack,
    PlainScanner,
    ReaderSelection,
    build_line_scanner,
    create_readers,
)
from framedex.text_stacks.log_text import remove_escapes
from framedex.text_stacks.model import PartKind, Reader, StackFormat, TextFrame, TextPart
from framedex.text_stacks.source_lookup.frame_context import find_callee

_MAX_LINE_BYTES = 4 * MAX_LINE_LENGTH
_MAX_CACHE_BYTES = 16 << 20
_MAX_SITUATIONS = 8192
_MAX_PATHS = 4096
_NAMES_BEFORE_LOADING = 256
"""Number of unknown names after which loading all known names pays off."""

_MAX_LINE_DISTANCE = 50
"""Number of lines after a frame within which the distance to it affects parsing."""

# Lines of the same form may state a release with different numbers.
_MAY_STATE_RELEASE = re.compile("|".join(re.sub(r"\d", r"\\d", re.escape(each)) for each in StatedReleases.triggers))
_TEXT_KINDS = frozenset(
    (PartKind.FUNCTION, PartKind.PATH, PartKind.LINE, PartKind.COLUMN, PartKind.MODULE, PartKind.LABEL)
)

Spans = list[tuple[int, int]]


class _NoteInputs(NamedTuple):
    """The byte ranges of a line that determine its note (see `LineMemory`); empty if the line never has a note."""

    determining: Spans
    names: Spans
    paths: Spans
    depends_on_frame: bool = False
    """Whether the note also depends on the previous frame, which is the callee of this one."""


class NoteSource(Protocol):
    """Provides the note for the frames on a line. An empty note means there is nothing to report."""

    def cached_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes | None:
        """Return the note if cached, else None; `callee_frame` is the callee of the first frame, if the log has it."""

    def find_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes:
        """Return the note; may be slow."""


class SkipRules(Protocol):
    """Decides which frames never have a note, without a look-up per frame."""

    def may_have_note(self, frame: TextFrame) -> bool:
        """Whether a frame with these fields can have a note."""

    def depends_on_name(self, frame: TextFrame) -> bool:
        """Whether such a frame has a note only if its path resolves or its function's name is known.

        The name counts for native code only.
        """

    def is_unresolvable(self, path: str) -> bool:
        """Whether the path of such a frame has no local file, until the known names change."""

    def names(self) -> Sequence[str] | None:
        """Return strings with the words of every known name; None if unchanged since the last call."""


class _LineFrames(NamedTuple):
    """The frames that begin or end on a line. `is_typical`: similar lines give similar frames."""

    frames: Sequence[TextFrame]
    is_typical: bool
    callee_frame: TextFrame | None = None
    """The previous frame, if it is the callee of the first of `frames`."""


class _FramesToNote(NamedTuple):
    """The frames to annotate on a line, as in `_LineFrames`, and what to cache.

    `is_cacheable`: the note may be cached. `has_frame`: the last frame of the stack is on this line.
    """

    frames: Sequence[TextFrame] = ()
    callee_frame: TextFrame | None = None
    is_cacheable: bool = False
    has_frame: bool = False


class AnnotatedLog:
    """Annotates a log that arrives in blocks of any size; one object per log.

    The output does not depend on the block boundaries. An incomplete line is passed on unchanged, and parsed when its
    end arrives.
    """

    def __init__(
        self,
        notes: NoteSource,
        releases: StatedReleases | None = None,
        skip_rules: SkipRules | None = None,
        cache_bytes: int = _MAX_CACHE_BYTES,
    ) -> None:
        """`releases` collects the releases that the log states. About `cache_bytes` bytes of lines are cached."""
        self._skip_rules = skip_rules
        self._releases = releases or StatedReleases()
        self._max_cached = cache_bytes
        self._readers = create_readers()
        self._reader_choice = ReaderSelection(self._readers)
        self._places = self._readers[-1]
        self._scanner = scanner = build_line_scanner()
        assert not isinstance(scanner, PlainScanner), "the native part is present, since `_scanner` was imported"
        self._source_notes = notes
        self._knows_names = False
        self._paths: set[str] = set()  # already checked for whether they resolve
        self._lines = LineAssigner()
        self._memory = _scanner.LineMemory(scanner)
        self._states = ParserStates(self._memory, self._lines, self._readers)
        self._incomplete_line = bytearray()  # the visible part of the incomplete line, already passed on
        self._held_carriage_return = b""  # a carriage return that may be the first half of a line break
        self._notes_of_words: TextCache[tuple[bytes, ...], bytes] = TextCache()

    def annotate(self, block: bytes) -> Iterator[bytes]:
        """Yield the block with its notes, in pieces. Bytes that are ready are yielded before a slow look-up."""
        block, self._held_carriage_return = self._held_carriage_return + block, b""
        end = block.rfind(b"\n") + 1
        if end:
            text, shown = bytes(self._incomplete_line) + block[:end], len(self._incomplete_line)
            self._incomplete_line.clear()
            yield from self._annotate_lines(text, shown)
        rest = block[end:]
        if rest.endswith(b"\r") and self._may_need_line_break(rest):
            rest, self._held_carriage_return = rest[:-1], b"\r"
        if rest:
            self._store_incomplete_line(rest)
            yield rest

    def finish(self) -> Iterator[bytes]:
        """Yield the remaining bytes at the end of the log."""
        text = bytes(self._incomplete_line) + self._held_carriage_return
        self._incomplete_line.clear()
        if text:
            yield from self._annotate_lines(text, len(text) - len(self._held_carriage_return))

    def _store_incomplete_line(self, piece: bytes) -> None:
        begun = self._incomplete_line
        written_over = piece.rfind(b"\r", 0, len(piece) - 1) + 1
        if written_over or begun.endswith(b"\r"):
            begun.clear()
        begun += piece[written_over:]
        if len(begun) > _MAX_LINE_BYTES + 2:
            begun[_MAX_LINE_BYTES + 1 :] = begun[-1:]  # too long to be parsed, unless a carriage return overwrites it

    def _may_need_line_break(self, rest: bytes) -> bool:
        if self._scanner.holds(bytes(self._incomplete_line) + rest):
            return True
        self._catch_up()
        return self._lines.is_open

    def _annotate_lines(self, text: bytes, shown: int) -> Iterator[bytes]:
        """Yield whole lines from byte `shown` on, with their notes."""
        pieces: list[bytes] = []
        position = counted = 0
        if self._knows_names:
            self._learn_names()
        while True:
            noted, unknown = self._memory.follow(text, position, shown, self._notes_of_words.values)
            pieces.append(noted)
            if unknown is None:
                break
            begin, stop, position, words, has_outcome, is_worth_keeping = unknown
            shown = max(shown, begin)
            line, before = text[begin:stop], self._memory.situation
            if words is None:
                self._skip_lines(text, counted, begin)
                counted = position
                taken = self._parse_new_line(line, has_outcome, is_worth_keeping)
            else:
                taken = _FramesToNote(self._frames_of_words(words))
            frames = taken.frames
            note = self._source_notes.cached_note(frames, taken.callee_frame) if frames else b""
            if note is None:
                yield b"".join((*pieces, text[shown:stop]))
                pieces, shown = [], stop
                note = self._source_notes.find_note(frames, taken.callee_frame)
            if frames and self._knows_names and not note:
                self._learn_paths(frames)
            if words is not None:
                self._notes_of_words.store(words, note, sum(map(len, words)) + len(note))
            elif taken.is_cacheable:
                self._memory.keep_note(before, line, note)
                self._limit_cache()
            if taken.has_frame:
                self._memory.read_frame(before, line)
            if note:
                pieces += text[shown:stop], note
                shown = stop
            if not self._knows_names and self._memory.names_seen > _NAMES_BEFORE_LOADING:
                self._learn_names()
        self._skip_lines(text, counted, len(text))
        yield b"".join(pieces)

    def _skip_lines(self, text: bytes, begin: int, end: int) -> None:
        if self._releases.depends_on_lines_before:
            self._releases.skip_lines(text.count(b"\n", begin, end))

    def _learn_names(self) -> None:
        names = self._skip_rules.names() if self._skip_rules is not None else None
        if names is not None:
            self._memory.set_known_names(names)
            self._knows_names = True
            self._paths.clear()

    def _learn_paths(self, frames: Sequence[TextFrame]) -> None:
        for frame in frames:
            path = frame.place.path if frame.place is not None else ""
            is_new = path and path not in self._paths and len(self._paths) < _MAX_PATHS
            if is_new and self._skip_rules is not None and self._skip_rules.depends_on_name(frame):
                self._paths.add(path)
                if self._skip_rules.is_unresolvable(path):
                    self._memory.add_missing_path(path.encode("utf-8", "surrogateescape"))

    def _limit_cache(self) -> None:
        if self._memory.weight > self._max_cached or len(self._states) > _MAX_SITUATIONS:
            self._states.clear(self._memory.number)

    def _catch_up(self) -> None:
        self._states.catch_up(lambda number, line: self._parse_line(number, line, _to_displayed_text(line) or ""))

    def _parse_new_line(self, line: bytes, has_outcome: bool, is_worth_keeping: bool) -> _FramesToNote:
        """Return the frames that begin or end on a line, and whether their note may be cached."""
        text = _to_displayed_text(line)
        if text == "":
            return _FramesToNote()
        self._catch_up()
        number = self._memory.number
        if text is None:
            self._lines.close()
            self._states.read(number)
            return _FramesToNote()
        known, depends_on_before = self._releases.count, self._releases.depends_on_lines_before
        self._releases.read_line(text)
        depends_on_before |= self._releases.depends_on_lines_before or self._releases.depended_on_lines_before
        before, situation = self._states.current, self._memory.situation
        read = self._parse_line(number + 1, line, text)
        after = self._states.read(number + 1)
        last = self._lines.state.last
        has_frame = last is not None and last is not before.state.last
        taken = _FramesToNote(read.frames, read.callee_frame, has_outcome and is_worth_keeping, has_frame)
        if self._releases.count != known:
            self._states.clear(number + 1)  # notes depend on the releases
            return taken._replace(is_cacheable=False)
        if has_outcome or not is_worth_keeping or not read.is_typical or depends_on_before:
            return taken
        by_form = not _MAY_STATE_RELEASE.search(text) and self._is_parsed_like_form(before, number + 1, line, read)
        self._memory.keep(situation, line, by_form, after, has_frame, *self._find_note_spans(read.frames, line, text))
        return taken._replace(is_cacheable=True)

    def _is_parsed_like_form(self, before: ParserState, number: int, line: bytes, read: _LineFrames) -> bool:
        """Whether a line of the same form with other numbers is parsed in the same way.

        Then the form is a cache key.
        """
        sibling = _scanner.sibling_of(line)
        if sibling == line:
            return True
        present = self._states.current
        self._states.restore(before)
        other = self._parse_line(number, sibling, _to_displayed_text(sibling) or "")
        is_alike = other.is_typical and situation_key(self._states.current) == situation_key(present)
        self._states.restore(present)
        return is_alike and [*map(_frame_shape, other.frames)] == [*map(_frame_shape, read.frames)]

    def _find_note_spans(self, frames: Sequence[TextFrame], line: bytes, text: str) -> _NoteInputs:
        skip_rules = self._skip_rules
        possible = [frame for frame in frames if skip_rules is None or skip_rules.may_have_note(frame)]
        if not possible:
            return _NoteInputs([], [], [])
        parts = [part for frame in possible for part in frame.parts]
        calls = any(map(_needs_callee, possible))
        if not text.isascii() or text.encode() != line or not all(map(_is_determined_by_parts, possible)):
            return _NoteInputs([(0, len(line))], [], [], calls)
        if any(_is_in_binary(frame) or frame.build_id for frame in possible):  # a build-id has no part
            addresses = [part for part in parts if part.kind is PartKind.ADDRESS]
            return _NoteInputs(_spans_between(addresses, len(line)), [], [], calls)
        counted = [(part.start, part.end) for part in parts if part.kind in _TEXT_KINDS]
        if skip_rules is None or not all(map(skip_rules.depends_on_name, possible)):
            return _NoteInputs(counted or [(0, len(line))], [], [], calls)
        native = [part for frame in possible if frame.language is Language.NATIVE for part in frame.parts]
        names = [(part.start, part.end) for part in native if part.kind is PartKind.FUNCTION]
        paths = [(part.start, part.end) for part in parts if part.kind is PartKind.PATH]
        return _NoteInputs(counted, names, paths, calls)

    def _parse_line(self, number: int, line: bytes, text: str) -> _LineFrames:
        """Parse a line; `text` is the line without overwritten characters and colours."""
        before = self._lines.state.last
        meaning = self._lines.assign(self._reader_choice.readers_for(line), number, text)
        is_near = before is None or number - before.first_line < _MAX_LINE_DISTANCE
        if meaning is None:
            return _LineFrames((), is_near)
        if meaning.extended_frame is not None:
            return _LineFrames(
                (meaning.extended_frame,) if _is_more_precise(meaning.extended_frame, before, text) else (),
                is_typical=False,
            )
        if meaning.piece is None:
            return _LineFrames((), is_near)
        if meaning.piece.format is StackFormat.PLAIN:
            self._lines.close()  # a stack of locations continues only on lines with more locations
        frames = [frame for frame in meaning.piece.frames if _is_more_precise(frame, None, text)]
        callee_frame = None
        if frames and before is not None and not meaning.begins_stack and meaning.piece.innermost_first:
            callee_frame = find_callee(frames[0], before)
        return _LineFrames(frames, is_near and not meaning.piece.depends_on_values, callee_frame)

    def _frames_of_words(self, words: Sequence[bytes]) -> Sequence[TextFrame]:
        pieces = (
            self._places.parse_line(0, word.decode("utf-8", "surrogateescape"), is_in_stack=False) for word in words
        )
        return [frame for piece in pieces if piece is not None for frame in piece.frames]


def _to_displayed_text(line: bytes) -> str | None:
    """Return a line as a terminal shows it; None if it is too long to be parsed."""
    body = line[line.rfind(b"\r") + 1 :]
    text = remove_escapes(body.decode("utf-8", "surrogateescape")) if len(body) <= _MAX_LINE_BYTES else None
    return text if text is None or len(text) <= MAX_LINE_LENGTH else None


def _frame_shape(frame: TextFrame) -> object:
    return frame.start, frame.end, frame.parts, frame_outline(frame)


def _needs_callee(frame: TextFrame) -> bool:
    """Whether the callee helps to locate a frame."""
    return frame.language is Language.NATIVE and (frame.place is None or not frame.place.line)


def _is_in_binary(frame: TextFrame) -> bool:
    """Whether a frame has an offset in its binary or function."""
    return frame.offset is not None or frame.function_offset is not None


def _is_determined_by_parts(frame: TextFrame) -> bool:
    """Whether the parts of one line hold everything that determines a frame's note: its function and location."""
    if frame.outward or frame.first_line != frame.last_line or (_is_in_binary(frame) and frame.address is None):
        return False
    kinds = {part.kind for part in frame.parts}
    place = frame.place
    if place is not None and (place.function or not {PartKind.PATH, PartKind.LINE} <= kinds):
        return False
    return PartKind.FUNCTION in kinds or not frame.function


def _spans_between(parts: Iterable[TextPart], end: int) -> Spans:
    """Return the spans between these parts."""
    spans, position = [], 0
    for part in sorted(parts, key=lambda part: part.start):
        spans.append((position, part.start))
        position = part.end
    return [*spans, (position, end)]


def _is_more_precise(frame: TextFrame, before: TextFrame | None, line: str) -> bool:
    """Whether a line locates its frame more precisely than the lines before it, which gave the frame `before`.

    gdb wraps frames, and prints the location or the library last. A frame has neither only if its arguments end the
    line.
    """
    if frame.format is StackFormat.GDB and not frame.place and not frame.module:
        return line.rstrip().endswith(")")
    return before is None or (frame.place, frame.module) != (before.place, before.module)


class ParserState(NamedTuple):
    """The complete parser state: that of the line assigner, and that of each reader with a state."""

    state: OpenStack
    reader_states: tuple[object, ...]


class ParserStates:
    """Assigns numbers to the parser states of one text, and restores states."""

    def __init__(self, memory: _scanner.LineMemory, lines: LineAssigner, readers: Sequence[Reader]) -> None:
        self._memory = memory
        self._lines = lines
        self._state_slots = [(vars(reader), name) for reader in readers for name in reader.state_attributes]
        self._numbers: dict[Hashable, int] = {}
        self._known: list[ParserState] = []
        self._present = -1  # the current state of the readers
        self.read(0)

    def __len__(self) -> int:
        return len(self._known)

    @property
    def current(self) -> ParserState:
        """The current parser state."""
        return ParserState(self._lines.state, tuple([values[name] for values, name in self._state_slots]))

    def restore(self, situation: ParserState) -> None:
        """Restore a parser state."""
        self._lines.state = situation.state
        for (values, name), value in zip(self._state_slots, situation.reader_states, strict=True):
            values[name] = value

    def catch_up(self, read: Callable[[int, bytes], object]) -> None:
        """Set the parser to the state that `LineMemory` has reached without it.

        `read` parses a line, given its number.
        """
        followed = self._memory.followed_frame
        if followed is not None:
            # States with equal numbers may differ in their last frame, so parse the line of that frame again.
            before, number, line = followed
            self.restore(self._known[before])
            read(number, line)
        elif self._memory.situation == self._present:
            return
        state, reader_states = self._known[self._memory.situation]
        last = self._lines.state.last if state.last is not None else None
        self.restore(ParserState(state._replace(last=last), reader_states))

    def read(self, number: int) -> int:
        """Record that the readers have parsed the line with this number, and return the number of their new state."""
        present = self.current
        key = situation_key(present)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = self._memory.add_situation(self._lines.is_open)
            self._known.append(present)
        self._present = found
        self._memory.read(found, number)
        return found

    def clear(self, number: int) -> None:
        """Forget all states except the current one."""
        self._memory.clear()
        self._numbers.clear()
        self._known.clear()
        self.read(number)


def situation_key(situation: ParserState) -> Hashable:
    """Return a key that is equal for parser states that parse lines in the same way.

    It contains only the shape of the last frame (`frame_outline`).
    """
    reader, last, source = situation.state
    return reader, source, frame_outline(last) if last is not None else None, situation.reader_states


def frame_outline(frame: TextFrame) -> Hashable:
    """Return the shape of a frame: which fields are set, without names and positions."""
    place = frame.place
    return (
        *(frame.format, frame.language, frame.number if frame.number in (0, 1) else frame.number is None),
        *(bool(frame.function), bool(frame.module), frame.offset is None, frame.address is None),
        frame.function_offset is None,
        *((bool(place.line), bool(place.column), bool(place.function)) if place is not None else ()),
        *(frame.is_return_address, frame.is_alternative, bool(frame.build_id)),
    )
