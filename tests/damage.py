"""Damage to a file, as disks, copies and programs cause it; the same seed gives the same damage."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

_SIZES = (8, 24, 64, 100, 512, 4096)
_EXTREMES = (bytes(8), b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\xff" * 4, b"\xff" * 3 + b"\x7f")


def damaged(content: bytes, seed: int, *, block: int = 4096, marks: Sequence[int] = (0,)) -> bytes:
    """The content with one kind of damage, chosen and placed by `seed`: always changed, and never longer.

    `block` is the size in bytes of the units in which the file is written. `marks` are the positions of its headers: a
    third of all damage begins near one. Zeros at the end of the content do not change.
    """
    place = _Places(content, random.Random(seed), block, marks)
    while (result := bytes(place.chosen.choice(_KINDS)(bytearray(content), place)[: len(content)])) == content:
        pass
    return result


class _Places:
    """The position of the damage."""

    def __init__(self, content: bytes, chosen: random.Random, block: int, marks: Sequence[int]) -> None:
        self.chosen = chosen
        self._written = len(content.rstrip(b"\0"))
        self._block = block
        self._blocks = max(len(content) // block, 1)
        self._marks = marks

    def byte(self) -> int:
        if self.chosen.randrange(3):
            return self.chosen.randrange(self._written)
        near = self.chosen.choice(self._marks) + self.chosen.randrange(self.chosen.choice((100, 4096)))
        return min(near, self._written - 1)

    def part(self) -> slice:
        """A section that begins with a given word."""
        begin = self.byte() // 8 * 8
        return slice(begin, begin + self.chosen.choice(_SIZES))

    def block(self) -> slice:
        begin = self.chosen.randrange(self._blocks) * self._block
        return slice(begin, begin + self._block)


_Kind = Callable[[bytearray, _Places], bytearray]


def _bytes_changed(content: bytearray, place: _Places) -> bytearray:
    for _ in range(place.chosen.choice((1, 1, 4, 64))):
        content[place.byte()] = place.chosen.randrange(256)
    return content


def _bit_flipped(content: bytearray, place: _Places) -> bytearray:
    content[place.byte()] ^= 1 << place.chosen.randrange(8)
    return content


def _number_changed(content: bytearray, place: _Places) -> bytearray:
    begin = place.byte() // 4 * 4
    number = place.chosen.choice(_EXTREMES)
    content[begin : begin + len(number)] = number
    return content


def _text_changed(content: bytearray, place: _Places) -> bytearray:
    """Change one byte among letters: the structure stays valid, only the text changes."""
    for _ in range(1000):
        at = place.byte()
        if content[at] < 128 and chr(content[at]).isalnum():
            content[at] = ord(place.chosen.choice("0123456789abcdefxyz")) if place.chosen.random() < 0.8 else 0xFF
            break
    return content


def _overwritten(content: bytearray, place: _Places) -> bytearray:
    part = place.part()
    size = len(content[part])
    content[part] = place.chosen.choice((bytes(size), b"\xff" * size, place.chosen.randbytes(size)))
    return content


def _repeated(parts: Callable[[_Places], slice]) -> _Kind:
    def repeat(content: bytearray, place: _Places) -> bytearray:
        source, target = parts(place), parts(place)
        content[target] = content[source]
        return content

    return repeat


def _swapped(parts: Callable[[_Places], slice]) -> _Kind:
    def swap(content: bytearray, place: _Places) -> bytearray:
        first, second = sorted((parts(place), parts(place)), key=lambda part: part.start)
        size = min(first.stop - first.start, second.start - first.start)
        first, second = slice(first.start, first.start + size), slice(second.start, second.start + size)
        content[first], content[second] = content[second], content[first]
        return content

    return swap


def _dropped(content: bytearray, place: _Places) -> bytearray:
    del content[place.block()]
    return content


def _cut_off(content: bytearray, place: _Places) -> bytearray:
    return content[: place.byte()]


def _never_written(content: bytearray, place: _Places) -> bytearray:
    begin = place.byte()
    content[begin:] = bytes(len(content) - begin)
    return content


_KINDS: tuple[_Kind, ...] = (
    _bytes_changed,
    _bit_flipped,
    _number_changed,
    _text_changed,
    _text_changed,
    _overwritten,
    _repeated(_Places.part),
    _repeated(_Places.block),
    _swapped(_Places.part),
    _swapped(_Places.block),
    _dropped,
    _cut_off,
    _never_written,
)
