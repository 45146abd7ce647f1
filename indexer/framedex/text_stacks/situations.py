"""Parser situations: the open stack and the state of the readers. Equal situations share one number.

Known lines are replayed from `LineMemory` instead of parsed. Before an unknown line is parsed, the readers are set to
the situation that the replay reached.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from framedex.nativepart import _scanner
from framedex.text_stacks.lines import Lines, State
from framedex.text_stacks.model import Reader, TextFrame


class Situation(NamedTuple):
    """The complete parser state; `remembered` holds the state of the readers that have one."""

    state: State
    remembered: tuple[object, ...]


class Situations:
    """Numbers the situations of one text, and restores them."""

    def __init__(self, memory: _scanner.LineMemory, lines: Lines, readers: Sequence[Reader]) -> None:
        self._memory = memory
        self._lines = lines
        self._remembered = [(vars(reader), name) for reader in readers for name in reader.remembers]
        self._numbers: dict[Hashable, int] = {}
        self._known: list[Situation] = []
        self._present = -1  # the current situation of the readers
        self.read(0)

    def __len__(self) -> int:
        return len(self._known)

    @property
    def present(self) -> Situation:
        """The current situation of the readers."""
        return Situation(self._lines.state, tuple([values[name] for values, name in self._remembered]))

    def enter(self, situation: Situation) -> None:
        """Restore the readers to a situation."""
        self._lines.state = situation.state
        for (values, name), value in zip(self._remembered, situation.remembered, strict=True):
            values[name] = value

    def catch_up(self, read: Callable[[int, bytes], object]) -> None:
        """Set the readers to the situation that the replay reached; `read` parses a line, given its number."""
        followed = self._memory.followed_frame
        if followed is not None:
            # Equal situations may differ in their last frame, so parse the line of that frame again.
            before, number, line = followed
            self.enter(self._known[before])
            read(number, line)
        elif self._memory.situation == self._present:
            return
        state, remembered = self._known[self._memory.situation]
        last = self._lines.state.last if state.last is not None else None
        self.enter(Situation(state._replace(last=last), remembered))

    def read(self, number: int) -> int:
        """Record that the readers have parsed the line of this number, and return the number of the new situation."""
        present = self.present
        key = alike(present)
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = self._memory.add_situation(self._lines.is_open)
            self._known.append(present)
        self._present = found
        self._memory.read(found, number)
        return found

    def clear(self, number: int) -> None:
        """Forget all situations except the current one."""
        self._memory.clear()
        self._numbers.clear()
        self._known.clear()
        self.read(number)


def alike(situation: Situation) -> Hashable:
    """Return a key that is equal for situations that parse lines in the same way.

    Of the last frame only its shape (`outline`) counts.
    """
    reader, last, source = situation.state
    return reader, source, outline(last) if last is not None else None, situation.remembered


def outline(frame: TextFrame) -> Hashable:
    """Return the shape of a frame: which fields are set, without names and positions."""
    place = frame.place
    return (
        *(frame.format, frame.language, frame.number if frame.number in (0, 1) else frame.number is None),
        *(bool(frame.function), bool(frame.module), frame.offset is None, frame.address is None),
        frame.function_offset is None,
        *((bool(place.line), bool(place.column), bool(place.function)) if place is not None else ()),
        *(frame.is_return_address, frame.is_alternative, bool(frame.build_id)),
    )
