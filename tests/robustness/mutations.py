"""Damage to a file, as disks, copies and programs do it: the same for the same number."""

from __future__ import annotations

import random
from collections.abc import Callable

PAGE = 4096


def mutated(content: bytes, seed: int) -> bytes:
    """The content with one kind of damage, chosen and placed by `seed`; never the content itself."""
    chosen = random.Random(seed)
    while (damaged := bytes(chosen.choice(_KINDS)(bytearray(content), chosen))) == content:
        pass
    return damaged


def _bytes_changed(content: bytearray, chosen: random.Random) -> bytearray:
    for _ in range(chosen.choice((1, 1, 4, 64))):
        content[chosen.randrange(len(content))] = chosen.randrange(256)
    return content


def _bit_flipped(content: bytearray, chosen: random.Random) -> bytearray:
    content[chosen.randrange(len(content))] ^= 1 << chosen.randrange(8)
    return content


def _run_overwritten(content: bytearray, chosen: random.Random) -> bytearray:
    start, length = chosen.randrange(len(content)), chosen.choice((8, 100, PAGE))
    length = min(length, len(content) - start)
    content[start : start + length] = chosen.choice((bytes(length), b"\xff" * length, chosen.randbytes(length)))
    return content


def _pages_swapped(content: bytearray, chosen: random.Random) -> bytearray:
    first, second = (PAGE * chosen.randrange(len(content) // PAGE) for _ in range(2))
    one, other = content[first : first + PAGE], content[second : second + PAGE]
    content[first : first + PAGE], content[second : second + PAGE] = other, one
    return content


def _page_repeated(content: bytearray, chosen: random.Random) -> bytearray:
    source, target = (PAGE * chosen.randrange(len(content) // PAGE) for _ in range(2))
    content[target : target + PAGE] = content[source : source + PAGE]
    return content


def _cut_off(content: bytearray, chosen: random.Random) -> bytearray:
    return content[: chosen.randrange(len(content))]


def _header_changed(content: bytearray, chosen: random.Random) -> bytearray:
    content[chosen.randrange(100)] = chosen.randrange(256)
    return content


def _text_changed(content: bytearray, chosen: random.Random) -> bytearray:
    """A byte among letters: the structure stays whole, and only what is said changes."""
    for _ in range(1000):
        place = chosen.randrange(len(content))
        if chr(content[place]).isascii() and chr(content[place]).isalnum():
            content[place] = ord(chosen.choice("0123456789abcdefxyz")) if chosen.random() < 0.8 else 0xFF
            break
    return content


_KINDS: tuple[Callable[[bytearray, random.Random], bytearray], ...] = (
    _bytes_changed,
    _bit_flipped,
    _run_overwritten,
    _pages_swapped,
    _page_repeated,
    _cut_off,
    _header_changed,
    _text_changed,
    _text_changed,
)
