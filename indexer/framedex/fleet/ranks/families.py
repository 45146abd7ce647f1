"""Group ranks that do the same work, and compare each rank with its group."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from framedex.fleet.ranks.departures import SequenceComparer, SequenceComparison
from framedex.fleet.ranks.sequences import Departure

if TYPE_CHECKING:
    from framedex.fleet.ranks.reading import CallToken, RankCalls

Integers = npt.NDArray[np.int64]

_MIN_MATCHED_SHARE = 0.5  # share of a sequence's calls that match the reference by line and function


@dataclass(frozen=True, slots=True)
class RankFamily:
    """Ranks that do the same work, by their indices among the members.

    `reference` is the sequence of calls that most of them make. `comparisons` has each rank's differences from it.
    """

    positions: tuple[int, ...]
    reference: Integers
    comparisons: Mapping[int, SequenceComparison]


def group_families(sequences: Sequence[RankCalls], tokens: Sequence[CallToken]) -> list[RankFamily]:
    """Return the families of ranks, largest first."""
    comparing = SequenceComparer(tokens)
    same: dict[bytes, list[int]] = defaultdict(list)
    for place, sequence in enumerate(sequences):
        same[sequence.token.tobytes()].append(place)
    left = list(same.values())
    families = []
    while left:
        model = _find_typical_rank([(sequences[places[0]].token, places) for places in left])
        reference = sequences[model].token
        compared = {places[0]: comparing.compare(sequences[places[0]].token, reference) for places in left}
        near = [
            places
            for places in left
            if model in places or _is_in_family(compared[places[0]], sequences[places[0]].token)
        ]
        left = [places for places in left if places not in near]
        usual = _find_typical_sequence(
            {place: compared[places[0]] for places in near for place in places}, reference, sequences
        )
        if not np.array_equal(usual, reference):
            compared = {places[0]: comparing.compare(sequences[places[0]].token, usual) for places in near}
        each = {place: compared[places[0]] for places in near for place in places}
        families.append(RankFamily(tuple(sorted(each)), usual, each))
    return sorted(families, key=lambda family: (-len(family.positions), family.positions))


def _is_in_family(compared: SequenceComparison, sequence: Integers) -> bool:
    return int(np.count_nonzero(compared.matched >= 0)) >= _MIN_MATCHED_SHARE * len(sequence)


def _find_typical_rank(classes: Sequence[tuple[Integers, list[int]]]) -> int:
    """Return the most typical rank: one of the largest class of equal ranks, if a class has several.

    Otherwise it is the rank whose calls are closest to those that most ranks make. Rank 0 often does extra work, so
    another rank is preferred.
    """
    most = max(len(places) for _, places in classes)
    if most > 1:
        return min((places for _, places in classes if len(places) == most), key=lambda places: places[-1] == 0)[-1]
    distinct, counts = np.unique(np.concatenate([np.unique(tokens) for tokens, _ in classes]), return_counts=True)
    usual = set(distinct[counts * 2 > len(classes)].tolist())
    length = sorted(len(tokens) for tokens, _ in classes)[len(classes) // 2]

    def dissimilarity(tokens: Integers, position: int) -> tuple[int, int, bool]:
        return len(usual ^ {*np.unique(tokens).tolist()}), abs(len(tokens) - length), position == 0

    return min(((dissimilarity(tokens, places[0]), places[0]) for tokens, places in classes))[1]


def _find_typical_sequence(
    compared: Mapping[int, SequenceComparison], reference: Integers, sequences: Sequence[RankCalls]
) -> Integers:
    """Return the reference, with each difference that most ranks share applied to it."""

    def key(departure: Departure, position: int) -> tuple[int, int, bytes]:
        mine = sequences[position].token[departure.start : departure.start + departure.count]
        return departure.other_start, departure.other_count, mine.tobytes()

    shared = Counter(key(each, place) for place, of_rank in compared.items() for each in of_rank.departures)
    parts = []
    done = 0
    for at, count, mine in sorted(each for each, many in shared.items() if many * 2 > len(compared)):
        parts += [reference[done:at], np.frombuffer(mine, np.int64)]
        done = at + count
    return np.concatenate([*parts, reference[done:]])
