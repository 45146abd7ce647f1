"""Random edits of a text with remembered line numbers: typing, deleting, moving and renaming."""

from __future__ import annotations

import random
from collections import Counter

Text = list[tuple[int, str]]
"""The lines of a text, each with its number before the edits; 0 for a typed line."""


def edited_at_random(seed: int, lines: Text) -> Text:
    """The text after one to three edits."""
    chance = random.Random(seed)
    for _ in range(chance.randrange(1, 4)):
        lines = chance.choice(_EDITS)(chance, lines) or lines
    return lines


def is_decided(then: int, line: str, lines: Text, original: Text) -> bool:
    """Whether the answers of an edited line are defined: those of the line `then`, or none if that is 0.

    If either text has a line more than once, an edit may have removed any of them. Lines of a few characters are not
    followed out of order.
    """
    if not _is_known_once(line, lines):
        return False
    return not then or (_is_known_once(line, original) and len(line.strip()) >= 6)


def _insert(chance: random.Random, lines: Text) -> Text:
    at = chance.randrange(len(lines) + 1)
    typed = [(0, f"typed_{chance.randrange(10**9)} = {number}") for number in range(chance.randrange(1, 4))]
    return [*lines[:at], *typed, *lines[at:]]


def _delete(chance: random.Random, lines: Text) -> Text:
    at, count = chance.randrange(len(lines)), chance.randrange(1, 4)
    return [*lines[:at], *lines[at + count :]]


def _change(chance: random.Random, lines: Text) -> Text:
    at = chance.randrange(len(lines))
    return [*lines[:at], (0, f"{lines[at][1]}  # changed {chance.randrange(10**9)}"), *lines[at + 1 :]]


def _rename(chance: random.Random, lines: Text) -> Text:
    words = sorted({word for _, line in lines for word in line.split() if word.isidentifier() and len(word) > 2})
    word = chance.choice(words) if words else "x"
    return [(number if word not in line else 0, line.replace(word, f"{word}_renamed")) for number, line in lines]


def _move(chance: random.Random, lines: Text) -> Text:
    at, count = chance.randrange(len(lines)), chance.randrange(1, 6)
    block, rest = lines[at : at + count], [*lines[:at], *lines[at + count :]]
    to = chance.randrange(len(rest) + 1)
    return [*rest[:to], *block, *rest[to:]]


def _indent(chance: random.Random, lines: Text) -> Text:
    at, count = chance.randrange(len(lines)), chance.randrange(1, 10)
    return [(number, f"    {line}" if at <= i < at + count else line) for i, (number, line) in enumerate(lines)]


def _is_known_once(line: str, lines: Text) -> bool:
    return Counter(other.strip() for _, other in lines)[line.strip()] == 1


_EDITS = (_insert, _delete, _change, _rename, _move, _indent)
