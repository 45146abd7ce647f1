"""Group ranks that do the same work, and compare each rank with its group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from framedex.fleet.ranks.departures import Compared, Comparing
from framedex.fleet.ranks.sequences import Departure

if TYPE_CHECKING:
    from framedex.fleet.ranks.reading import RankCalls, Token

Integers = npt.NDArray[np.int64]

_BELONGS = 0.5  # share of a sequence's calls that match the reference by line and function


@dataclass(frozen=True, slots=True)
class Family:
    """Ranks that do the same work, by their places among the members.

    `reference` is the sequence of calls that most of them make. `compared` has each rank's differences from it.
    """

    places: tuple[int, ...]
    reference: Integers
    compared: Mapping[int, Compared]


def families_of(sequences: Sequence[RankCalls], tokens: Sequence[Token]) -> list[Family]:
    """Return the families of ranks, largest first."""
    comparing = Comparing(tokens)
    same: dict[bytes, list[int]] = defaultdict(list)
    for place, sequence in enumerate(sequences):
        same[sequence.token.tobytes()].append(place)
    left = list(same.values())
    families = []
    while left:
        model = _model([(sequences[places[0]].token, places) for places in left])
        reference = sequences[model].token
        compared = {places[0]: comparing.compared(sequences[places[0]].token, reference) for places in left}
        near = [
            places for places in left if model in places or _belongs(compared[places[0]], sequences[places[0]].token)
        ]
        left = [places for places in left if places not in near]
        usual = _usual({place: compared[places[0]] for places in near for place in places}, reference, sequences)
        if not np.array_equal(usual, reference):
            compared = {places[0]: comparing.compared(sequences[places[0]].token, usual) for places in near}
        each = {place: compared[places[0]] for places in near for place in places}
        families.append(Family(tuple(sorted(each)), usual, each))
    return sorted(families, key=lambda family: (-len(family.places), family.places))


def _belongs(compared: Compared, sequence: Integers) -> bool:
    return int(np.count_nonzero(compared.matched >= 0)) >= _BELONGS * len(sequence)


def _model(classes: Sequence[tuple[Integers, list[int]]]) -> int:
    """Return the most typical rank: one of the largest class of equal ranks, if a class has several.

    Otherwise it is the rank whose calls are closest to those that most ranks make. Rank 0 often does extra work, so
    another rank is preferred.
    """
    most = max(len(places) for _, places in classes)
    if most > 1:
        return min((places for _, places in classes if len(places) == most), key=lambda places: places[-1] == 0)[-1]
    told, counts = np.unique(np.concatenate([np.unique(tokens) for tokens, _ in classes]), return_counts=True)
    usual = set(told[counts * 2 > len(classes)].tolist())
    length = sorted(len(tokens) for tokens, _ in classes)[len(classes) // 2]

    def oddness(tokens: Integers, place: int) -> tuple[int, int, bool]:
        return len(usual ^ {*np.unique(tokens).tolist()}), abs(len(tokens) - length), place == 0

    return min(((oddness(tokens, places[0]), places[0]) for tokens, places in classes))[1]


def _usual(compared: Mapping[int, Compared], reference: Integers, sequences: Sequence[RankCalls]) -> Integers:
    """Return the reference, corrected where most ranks differ from it in the same way."""

    def key(departure: Departure, place: int) -> tuple[int, int, bytes]:
        mine = sequences[place].token[departure.at : departure.at + departure.count]
        return departure.other_at, departure.other_count, mine.tobytes()

    shared = Counter(key(each, place) for place, of_rank in compared.items() for each in of_rank.departures)
    parts = []
    done = 0
    for at, count, mine in sorted(each for each, many in shared.items() if many * 2 > len(compared)):
        parts += [reference[done:at], np.frombuffer(mine, np.int64)]
        done = at + count
    return np.concatenate([*parts, reference[done:]])
