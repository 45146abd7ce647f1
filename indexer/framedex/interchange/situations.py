"""What lines are read by: the stack that is open, and what readers remember. Equal situations have one number.

Lines that are known are followed (`LineMemory`) and not read. So before one is read, the readers are put where
following has led.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from framedex.interchange.lines import Lines, State
from framedex.interchange.model import Reader, TextFrame
from framedex.nativepart import _scanner


class Situation(NamedTuple):
    """What a line is read by; `remembered` is what the readers with a memory have in it."""

    state: State
    remembered: tuple[object, ...]


class Situations:
    """Numbers the situations of one text, and returns to them."""

    def __init__(self, memory: _scanner.LineMemory, lines: Lines, readers: Sequence[Reader]) -> None:
        self._memory = memory
        self._lines = lines
        self._remembered = [(vars(reader), name) for reader in readers for name in reader.remembers]
        self._numbers: dict[Hashable, int] = {}
        self._known: list[Situation] = []
        self._present = -1  # the situation that the readers are in
        self.read(0)

    def __len__(self) -> int:
        return len(self._known)

    @property
    def present(self) -> Situation:
        """That in which the readers are."""
        return Situation(self._lines.state, tuple([values[name] for values, name in self._remembered]))

    def enter(self, situation: Situation) -> None:
        """Put the readers into a situation."""
        self._lines.state = situation.state
        for (values, name), value in zip(self._remembered, situation.remembered, strict=True):
            values[name] = value

    def catch_up(self, read: Callable[[int, bytes], object]) -> None:
        """Put the readers where following has led; `read` has them read a line, by its number."""
        followed = self._memory.followed_frame
        if followed is not None:
            # An equal situation may have another frame, but reading the frame's line makes no difference to that.
            before, number, line = followed
            self.enter(self._known[before])
            read(number, line)
        elif self._memory.situation == self._present:
            return
        state, remembered = self._known[self._memory.situation]
        last = self._lines.state.last if state.last is not None else None
        self.enter(Situation(state._replace(last=last), remembered))

    def read(self, number: int) -> int:
        """Note that the readers have read the line of this number, and return the number of the situation now."""
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
        """Forget all situations but the present one."""
        self._memory.clear()
        self._numbers.clear()
        self._known.clear()
        self.read(number)


def alike(situation: Situation) -> Hashable:
    """What is equal for situations in which lines are read alike: of the last frame, what there is of it."""
    reader, last, source = situation.state
    return reader, source, outline(last) if last is not None else None, situation.remembered


def outline(frame: TextFrame) -> Hashable:
    """What a frame has, whatever it is named and wherever it is."""
    place = frame.place
    return (
        *(frame.format, frame.language, frame.number if frame.number in (0, 1) else frame.number is None),
        *(bool(frame.function), bool(frame.module), frame.offset is None, frame.address is None),
        frame.function_offset is None,
        *((bool(place.line), bool(place.column), bool(place.function)) if place is not None else ()),
        *(frame.is_return_address, frame.is_alternative, bool(frame.build_id)),
    )
