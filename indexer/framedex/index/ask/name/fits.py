"""How well a name fits what was asked for: one order for every verb that takes names, and for the editors' searches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum

_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_LOCALS = ".<locals>"


class Fit(IntEnum):
    """From the best: a lower one is never worth a look where there is a better one, but in lists of everything."""

    NAME = 1
    ANY_CASE = 2  # the name in other letters: `loss` for `Loss`
    WORDS = 3  # whole words of it: `Buffer` in `PJRT_Buffer_Destroy` and in `CopyBuffer`
    BEGINNING = 4
    WORD_BEGINNING = 5  # `Exec` in `PJRT_LoadedExecutable_Execute`
    PART = 6

    @property
    def is_name(self) -> bool:
        """Whether what was asked for is the name, and not a part of it."""
        return self <= Fit.ANY_CASE


def fit(name: str, wanted: str) -> Fit | None:
    """How a text fits a name without scopes; None where it is no part of it."""
    if name == wanted:
        return Fit.NAME
    lower, part = name.lower(), wanted.lower()
    if lower == part:
        return Fit.ANY_CASE
    places = list(_places(lower, part))
    if not places:
        return None
    # Of a text that lower case makes longer (a dotted I) the places are not those of the name.
    begins, ends = _borders(name if len(name) == len(lower) else lower)
    if any(place in begins and place + len(part) in ends for place in places):
        return Fit.WORDS
    if places[0] == 0:
        return Fit.BEGINNING
    return Fit.WORD_BEGINNING if not begins.isdisjoint(places) else Fit.PART


def fit_of_function(name: str, short_name: str, wanted: str) -> Fit | None:
    """How a text fits a function: its whole name, the last parts of it (`Trainer.step`), or as `fit` tells."""
    bare, asked = name.replace(_LOCALS, ""), wanted.replace(_LOCALS, "")
    if wanted in (name, short_name) or _ends_with(bare, asked):
        return Fit.NAME
    if wanted.lower() in (name.lower(), short_name.lower()) or _ends_with(bare.lower(), asked.lower()):
        return Fit.ANY_CASE
    found = [each for each in (fit(short_name, wanted), fit(bare, asked)) if each is not None]
    return min(found, default=None)


def words_of(name: str) -> list[str]:
    """The words of a name in snake_case or CamelCase."""
    return _HUMP.findall(name)


def _ends_with(name: str, wanted: str) -> bool:
    return name == wanted or name.endswith((f"::{wanted}", f".{wanted}"))


def _places(name: str, part: str) -> Iterator[int]:
    place = name.find(part)
    while part and place >= 0:
        yield place
        place = name.find(part, place + 1)


def _borders(name: str) -> tuple[set[int], set[int]]:
    """Where words of a name begin, and where they end: those of snake_case and of CamelCase."""
    words = list(_HUMP.finditer(name))
    return {word.start() for word in words}, {word.end() for word in words}
