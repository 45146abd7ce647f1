"""The quality of a name match: one order for all commands that take names and for editor searches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum

_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_LOCALS = ".<locals>"


class Fit(IntEnum):
    """Kinds of match, best first: outside full listings, a worse match is dropped if a better one exists."""

    NAME = 1
    ANY_CASE = 2  # the name in another case: `loss` for `Loss`
    WORDS = 3  # whole words of the name: `Buffer` in `PJRT_Buffer_Destroy` and in `CopyBuffer`
    BEGINNING = 4
    WORD_BEGINNING = 5  # `Exec` in `PJRT_LoadedExecutable_Execute`
    PART = 6

    @property
    def is_name(self) -> bool:
        """Whether the query is the whole name, not a part of it."""
        return self <= Fit.ANY_CASE


def fit(name: str, wanted: str) -> Fit | None:
    """Return how a text matches a name without scopes, or None if the name does not contain it."""
    if name == wanted:
        return Fit.NAME
    lower, part = name.lower(), wanted.lower()
    if lower == part:
        return Fit.ANY_CASE
    places = list(_places(lower, part))
    if not places:
        return None
    # Lower case can lengthen a text (a dotted I), which shifts its positions.
    begins, ends = _borders(name if len(name) == len(lower) else lower)
    if any(place in begins and place + len(part) in ends for place in places):
        return Fit.WORDS
    if places[0] == 0:
        return Fit.BEGINNING
    return Fit.WORD_BEGINNING if not begins.isdisjoint(places) else Fit.PART


def fit_of_function(name: str, short_name: str, wanted: str) -> Fit | None:
    """Return how a text matches a function: by its full name, its last parts (`Trainer.step`), or as in `fit`."""
    bare, asked = name.replace(_LOCALS, ""), wanted.replace(_LOCALS, "")
    if wanted in (name, short_name) or _ends_with(bare, asked):
        return Fit.NAME
    if wanted.lower() in (name.lower(), short_name.lower()) or _ends_with(bare.lower(), asked.lower()):
        return Fit.ANY_CASE
    found = [each for each in (fit(short_name, wanted), fit(bare, asked)) if each is not None]
    return min(found, default=None)


def words_of(name: str) -> list[str]:
    """Return the words of a name in snake_case or CamelCase."""
    return _HUMP.findall(name)


def _ends_with(name: str, wanted: str) -> bool:
    return name == wanted or name.endswith((f"::{wanted}", f".{wanted}"))


def _places(name: str, part: str) -> Iterator[int]:
    place = name.find(part)
    while part and place >= 0:
        yield place
        place = name.find(part, place + 1)


def _borders(name: str) -> tuple[set[int], set[int]]:
    """Return the start and end positions of the words of a snake_case or CamelCase name."""
    words = list(_HUMP.finditer(name))
    return {word.start() for word in words}, {word.end() for word in words}
