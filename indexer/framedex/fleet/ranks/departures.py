"""Find and classify the differences between a rank's calls and those of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from framedex import words
from framedex.fleet.ranks.model import Kind
from framedex.fleet.ranks.sequences import Departure, aligned, closely_aligned

if TYPE_CHECKING:
    from framedex.fleet.ranks.reading import Token

Integers = npt.NDArray[np.int64]

_FOLLOWING = frozenset({Kind.SHAPE, Kind.PROGRAM, Kind.RECOMPILED})
_FEW = 8  # differences close to one another
_SOON = 64  # calls: a difference this close behind another shape is its consequence


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: the rank makes `count` calls at `at`, the others make `other_count` calls at `other_at`.

    `token` is the call that gives the line, preferably one of the rank. `tells` is a sentence about the difference.
    """

    kind: Kind
    at: int
    count: int
    other_at: int
    other_count: int
    token: int
    tells: str


@dataclass(frozen=True, slots=True)
class Compared:
    """The differences between a sequence of calls and the reference.

    `matched` has the place of the corresponding call for each call of the reference, or -1 if there is none.
    """

    departures: tuple[Departure, ...]
    differences: tuple[Difference, ...]
    matched: Integers


class Comparing:
    """Compares sequences of calls, given as indices into `tokens`."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        numbers: dict[tuple[str, str], int] = {}
        self._coarse = np.array([numbers.setdefault(token.at, len(numbers)) for token in tokens], np.int64)

    def compared(self, sequence: Integers, reference: Integers) -> Compared:
        """Compare a sequence with the reference."""
        whole = aligned(sequence, reference)
        matched = whole.matched.copy()
        found: list[Difference] = []
        for departure in whole.departures:
            found += self._within(departure, sequence, reference, matched)
        return Compared(whole.departures, tuple(_first_causes(found, self._tokens, sequence)), matched)

    def _within(
        self, departure: Departure, sequence: Integers, reference: Integers, matched: Integers
    ) -> Iterator[Difference]:
        """Yield the differences of one departure. Calls that differ only in shape or program are matched."""
        mine = sequence[departure.at : departure.at + departure.count]
        theirs = reference[departure.other_at : departure.other_at + departure.other_count]
        if len(mine) == len(theirs) > 1 and np.array_equal(np.sort(mine), np.sort(theirs)):
            yield self._of_order(departure, mine, theirs)
            return
        inner = closely_aligned(self._coarse[mine], self._coarse[theirs])
        for other_place in np.flatnonzero(inner.matched >= 0).tolist():
            place = int(inner.matched[other_place])
            matched[departure.other_at + other_place] = departure.at + place
        places = [
            Departure(int(inner.matched[place]), 1, place, 1)
            for place in np.flatnonzero(inner.matched >= 0).tolist()
            if mine[inner.matched[place]] != theirs[place]
        ]
        found = []
        for each in sorted([*places, *inner.departures], key=lambda each: (each.other_at, each.at)):
            whole = Departure(departure.at + each.at, each.count, departure.other_at + each.other_at, each.other_count)
            found.append(self._told(whole, sequence, reference, is_same_call=each in places))
        # A shape is the cause of a compilation, even if its data reach the device later.
        at_once = [each for each in found[:_FEW] if each.other_at - departure.other_at <= _SOON]
        at_once.sort(key=lambda each: each.kind is not Kind.SHAPE)
        yield from (*at_once, *found[len(at_once) :])

    def _told(self, place: Departure, sequence: Integers, reference: Integers, is_same_call: bool) -> Difference:
        mine = [self._tokens[token] for token in sequence[place.at : place.at + place.count].tolist()]
        theirs = [
            self._tokens[token] for token in reference[place.other_at : place.other_at + place.other_count].tolist()
        ]
        token = int(sequence[place.at] if mine else reference[place.other_at])
        if is_same_call:
            kind, tells = _of_same_call(mine[0], theirs[0])
        elif not mine and place.at == len(sequence) and place.other_at + place.other_count == len(reference):
            kind, tells = Kind.ENDED, f"{_ended(self._tokens, sequence)} The others continue with {_call(theirs[0])}."
            token = int(sequence[-1]) if len(sequence) else token
        elif not mine:
            kind, tells = (
                Kind.MISSING_CALL,
                f"{_calls(theirs)} {'is' if len(theirs) == 1 else 'are'} missing; the others make"
                f" {'it' if len(theirs) == 1 else 'them'} here.",
            )
        elif compiled := [each for each in mine if each.obtains]:
            kind = Kind.RECOMPILED
            token = int(
                next(token for token in sequence[place.at : place.at + place.count] if self._tokens[token].obtains)
            )
            tells = f"{compiled[0].function} is called where the others compile nothing."
        elif not theirs:
            kind, tells = (
                Kind.EXTRA_CALL,
                f"{_calls(mine)} {'is' if len(mine) == 1 else 'are'} extra; the others do not make"
                f" {'it' if len(mine) == 1 else 'them'} here.",
            )
        else:
            kind, tells = Kind.OTHER_CALL, f"{_call(mine[0])} is called where the others call {_call(theirs[0])}."
        return Difference(kind, place.at, place.count, place.other_at, place.other_count, token, tells)

    def _of_order(self, departure: Departure, mine: Integers, theirs: Integers) -> Difference:
        first, other = self._tokens[mine[0]], self._tokens[theirs[0]]
        tells = f"{_call(first)} comes before {_call(other)}; in the others it comes after it."
        return Difference(
            Kind.ORDER, departure.at, departure.count, departure.other_at, departure.other_count, int(mine[0]), tells
        )


def _of_same_call(mine: Token, theirs: Token) -> tuple[Kind, str]:
    """Classify a difference between two calls of a function on one line."""
    if mine.program != theirs.program:
        verb, their_verb = ("compiled", "compile") if mine.obtains else ("run", "run")
        other = theirs.program or "(unknown)"
        return Kind.PROGRAM, f"Program {mine.program or '(unknown)'} is {verb}; the others {their_verb} {other}."
    if mine.shape != theirs.shape:
        other = theirs.shape or "nothing"
        return Kind.SHAPE, f"{mine.function} is called with {mine.shape or 'nothing'}; the others call it with {other}."
    return Kind.OTHER_CALL, f"{mine.function} is called; the others call {theirs.function}."


def _ended(tokens: Sequence[Token], sequence: Integers) -> str:
    return f"{_call(tokens[sequence[-1]])} was its last call." if len(sequence) else "It made no compared call."


def _call(token: Token) -> str:
    return f"{token.function} at {token.place}"


def _calls(tokens: Sequence[Token]) -> str:
    more = len(tokens) - 1
    return _call(tokens[0]) + (f" (and {words.count(more, 'more call')})" if more else "")


def _first_causes(found: Sequence[Difference], tokens: Sequence[Token], sequence: Integers) -> Iterator[Difference]:
    """Yield the differences that are not consequences of an earlier one.

    Another shape, for example, needs another program, which then runs repeatedly.
    """
    known: set[str] = set()  # programs of earlier differences
    shaped: Difference | None = None
    for each in found:
        programs = {tokens[token].program for token in sequence[each.at : each.at + each.count].tolist()} - {""}
        follows = each.kind is Kind.PROGRAM and not tokens[each.token].obtains and programs <= known
        if shaped is not None and each.kind in _FOLLOWING and each.other_at - shaped.other_at <= _SOON:
            is_other_call = tokens[each.token].at != tokens[shaped.token].at
            follows |= each.kind is not Kind.SHAPE or is_other_call
        if each.kind is Kind.SHAPE and not follows:
            shaped = each
        if each.kind in (Kind.PROGRAM, Kind.RECOMPILED):
            known |= programs
        if not follows:
            yield each
