"""Find and classify the differences between a rank's calls and those of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from framedex.base import words
from framedex.fleet.ranks.model import Kind
from framedex.fleet.ranks.sequences import Departure, align_closely, align_sequences

if TYPE_CHECKING:
    from framedex.fleet.ranks.reading import CallToken

Integers = npt.NDArray[np.int64]

_CONSEQUENCE_KINDS = frozenset({Kind.SHAPE, Kind.PROGRAM, Kind.RECOMPILED})
_MAX_COMBINED = 8  # differences of one departure in which a shape is sorted first
_CONSEQUENCE_DISTANCE = 64  # calls: a difference this close after a different shape is its consequence


@dataclass(frozen=True, slots=True)
class SequenceDifference:
    """One difference: the rank makes `count` calls at `start`, the others make `other_count` calls at `other_start`.

    `token` is the call that gives the line, preferably one of the rank. `description` is a sentence about the
    difference.
    """

    kind: Kind
    start: int
    count: int
    other_start: int
    other_count: int
    token: int
    description: str


@dataclass(frozen=True, slots=True)
class SequenceComparison:
    """The differences between a sequence of calls and the reference.

    For each call of the reference, `matched` has the index of the corresponding call in the sequence, or -1.
    """

    departures: tuple[Departure, ...]
    differences: tuple[SequenceDifference, ...]
    matched: Integers


class SequenceComparer:
    """Compares sequences of calls, given as indices into `tokens`."""

    def __init__(self, tokens: Sequence[CallToken]) -> None:
        self._tokens = tokens
        numbers: dict[tuple[str, str], int] = {}
        self._coarse = np.array([numbers.setdefault(token.key, len(numbers)) for token in tokens], np.int64)

    def compare(self, sequence: Integers, reference: Integers) -> SequenceComparison:
        """Compare a sequence with the reference."""
        whole = align_sequences(sequence, reference)
        matched = whole.matched.copy()
        found: list[SequenceDifference] = []
        for departure in whole.departures:
            found += self._split_departure(departure, sequence, reference, matched)
        return SequenceComparison(whole.departures, tuple(_drop_consequences(found, self._tokens, sequence)), matched)

    def _split_departure(
        self, departure: Departure, sequence: Integers, reference: Integers, matched: Integers
    ) -> Iterator[SequenceDifference]:
        """Yield the differences of one departure. Calls that differ only in shape or program are matched."""
        mine = sequence[departure.start : departure.start + departure.count]
        theirs = reference[departure.other_start : departure.other_start + departure.other_count]
        if len(mine) == len(theirs) > 1 and np.array_equal(np.sort(mine), np.sort(theirs)):
            yield self._describe_order(departure, mine, theirs)
            return
        inner = align_closely(self._coarse[mine], self._coarse[theirs])
        for other_place in np.flatnonzero(inner.matched >= 0).tolist():
            place = int(inner.matched[other_place])
            matched[departure.other_start + other_place] = departure.start + place
        places = [
            Departure(int(inner.matched[place]), 1, place, 1)
            for place in np.flatnonzero(inner.matched >= 0).tolist()
            if mine[inner.matched[place]] != theirs[place]
        ]
        found = []
        for each in sorted([*places, *inner.departures], key=lambda each: (each.other_start, each.start)):
            whole = Departure(
                departure.start + each.start, each.count, departure.other_start + each.other_start, each.other_count
            )
            found.append(self._build_difference(whole, sequence, reference, is_same_call=each in places))
        # A different shape causes a compilation, even if its data is transferred only later.
        at_once = [
            each for each in found[:_MAX_COMBINED] if each.other_start - departure.other_start <= _CONSEQUENCE_DISTANCE
        ]
        at_once.sort(key=lambda each: each.kind is not Kind.SHAPE)
        yield from (*at_once, *found[len(at_once) :])

    def _build_difference(
        self, departure: Departure, sequence: Integers, reference: Integers, is_same_call: bool
    ) -> SequenceDifference:
        mine = [self._tokens[token] for token in sequence[departure.start : departure.start + departure.count].tolist()]
        theirs = [
            self._tokens[token]
            for token in reference[departure.other_start : departure.other_start + departure.other_count].tolist()
        ]
        token = int(sequence[departure.start] if mine else reference[departure.other_start])
        if is_same_call:
            kind, description = _describe_same_call(mine[0], theirs[0])
        elif (
            not mine
            and departure.start == len(sequence)
            and departure.other_start + departure.other_count == len(reference)
        ):
            kind, description = (
                Kind.ENDED,
                f"{_format_last_call(self._tokens, sequence)} The others continue with {_call_text(theirs[0])}.",
            )
            token = int(sequence[-1]) if len(sequence) else token
        elif not mine:
            kind, description = (
                Kind.MISSING_CALL,
                f"{_format_calls(theirs)} {'is' if len(theirs) == 1 else 'are'} missing; the others make"
                f" {'it' if len(theirs) == 1 else 'them'} here.",
            )
        elif compiled := [each for each in mine if each.creates_program]:
            kind = Kind.RECOMPILED
            token = int(
                next(
                    token
                    for token in sequence[departure.start : departure.start + departure.count]
                    if self._tokens[token].creates_program
                )
            )
            description = f"{compiled[0].function} is called where the others compile nothing."
        elif not theirs:
            kind, description = (
                Kind.EXTRA_CALL,
                f"{_format_calls(mine)} {'is' if len(mine) == 1 else 'are'} extra; the others do not make"
                f" {'it' if len(mine) == 1 else 'them'} here.",
            )
        else:
            kind, description = (
                Kind.OTHER_CALL,
                f"{_call_text(mine[0])} is called where the others call {_call_text(theirs[0])}.",
            )
        return SequenceDifference(
            kind, departure.start, departure.count, departure.other_start, departure.other_count, token, description
        )

    def _describe_order(self, departure: Departure, mine: Integers, theirs: Integers) -> SequenceDifference:
        first, other = self._tokens[mine[0]], self._tokens[theirs[0]]
        description = f"{_call_text(first)} comes before {_call_text(other)}; in the others it comes after it."
        return SequenceDifference(
            Kind.ORDER,
            departure.start,
            departure.count,
            departure.other_start,
            departure.other_count,
            int(mine[0]),
            description,
        )


def _describe_same_call(mine: CallToken, theirs: CallToken) -> tuple[Kind, str]:
    """Classify a difference between two calls of a function on one line."""
    if mine.program != theirs.program:
        verb, their_verb = ("compiled", "compile") if mine.creates_program else ("run", "run")
        other = theirs.program or "(unknown)"
        return Kind.PROGRAM, f"Program {mine.program or '(unknown)'} is {verb}; the others {their_verb} {other}."
    if mine.shape != theirs.shape:
        other = theirs.shape or "nothing"
        return Kind.SHAPE, f"{mine.function} is called with {mine.shape or 'nothing'}; the others call it with {other}."
    return Kind.OTHER_CALL, f"{mine.function} is called; the others call {theirs.function}."


def _format_last_call(tokens: Sequence[CallToken], sequence: Integers) -> str:
    return f"{_call_text(tokens[sequence[-1]])} was its last call." if len(sequence) else "It made no compared call."


def _call_text(token: CallToken) -> str:
    return f"{token.function} at {token.line_key}"


def _format_calls(tokens: Sequence[CallToken]) -> str:
    more = len(tokens) - 1
    return _call_text(tokens[0]) + (f" (and {words.count(more, 'more call')})" if more else "")


def _drop_consequences(
    found: Sequence[SequenceDifference], tokens: Sequence[CallToken], sequence: Integers
) -> Iterator[SequenceDifference]:
    """Yield the differences that are not consequences of an earlier one.

    For example, a different shape needs a different program, whose later runs are not reported again.
    """
    known: set[str] = set()  # programs of earlier differences
    shaped: SequenceDifference | None = None
    for each in found:
        programs = {tokens[token].program for token in sequence[each.start : each.start + each.count].tolist()} - {""}
        follows = each.kind is Kind.PROGRAM and not tokens[each.token].creates_program and programs <= known
        if (
            shaped is not None
            and each.kind in _CONSEQUENCE_KINDS
            and each.other_start - shaped.other_start <= _CONSEQUENCE_DISTANCE
        ):
            is_other_call = tokens[each.token].key != tokens[shaped.token].key
            follows |= each.kind is not Kind.SHAPE or is_other_call
        if each.kind is Kind.SHAPE and not follows:
            shaped = each
        if each.kind in (Kind.PROGRAM, Kind.RECOMPILED):
            known |= programs
        if not follows:
            yield each
