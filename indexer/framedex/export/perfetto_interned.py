"""Interned data of a Perfetto trace: names, frames and stacks, each written once and referenced by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex.export.protobuf import integer, message, text

if TYPE_CHECKING:
    from framedex.export.content import Content, Step

# Field numbers of InternedData.
_CATEGORIES, _NAMES, _ANNOTATIONS, _FUNCTIONS, _FRAMES, _STACKS = 1, 2, 3, 5, 6, 7
_PATHS, _SOURCES, _MAPPINGS, _TEXTS = 17, 18, 19, 29


class Interned:
    """Assigns numbers, and returns new entries once."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._numbers: dict[tuple[int, str], int] = {}
        self._mappings: dict[str, int] = {}
        self._frames: dict[int, int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._new = bytearray()

    def news(self) -> bytes:
        """Return the entries added since the last call, as `InternedData`."""
        if not self._new:
            return b""
        told = bytes(self._new)
        self._new.clear()
        return told

    def name(self, name: str) -> int:
        """Return the number of an event name."""
        return self._number(_NAMES, name)

    def category(self, name: str) -> int:
        """Return the number of a category."""
        return self._number(_CATEGORIES, name)

    def annotation(self, name: str) -> int:
        """Return the number of an annotation name."""
        return self._number(_ANNOTATIONS, name)

    def text(self, value: str) -> int:
        """Return the number of an annotation's text value."""
        return self._number(_TEXTS, value)

    def stack(self, steps: tuple[int, ...]) -> int:
        """Return the number of a stack, given by its steps, outermost first."""
        if steps not in self._stacks:
            frames = [self._frame(number) for number in steps]
            self._stacks[steps] = len(self._stacks) + 1
            self._tell(_STACKS, integer(1, self._stacks[steps]) + b"".join(integer(2, each) for each in frames))
        return self._stacks[steps]

    def _frame(self, number: int) -> int:
        if number not in self._frames:
            step = self._content.step(number)
            told = integer(2, self._number(_FUNCTIONS, step.name)) + integer(3, self._mapping(step))
            told += integer(4, step.offset)
            if step.path:
                told += integer(5, self._number(_SOURCES, step.path)) + integer(6, step.line)
            self._frames[number] = len(self._frames) + 1
            self._tell(_FRAMES, integer(1, self._frames[number]) + told)
        return self._frames[number]

    def _mapping(self, step: Step) -> int:
        """Return the mapping of a frame: its binary, or the file of Python code, because every frame needs one."""
        path = step.module or step.path
        if path not in self._mappings:
            self._mappings[path] = len(self._mappings) + 1
            self._tell(_MAPPINGS, integer(1, self._mappings[path]) + integer(7, self._number(_PATHS, path)))
        return self._mappings[path]

    def _number(self, field: int, name: str) -> int:
        key = field, name
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers) + 1
            self._tell(field, integer(1, self._numbers[key]) + text(2, name))
        return self._numbers[key]

    def _tell(self, field: int, content: bytes) -> None:
        self._new += message(field, content)
