"""Which ranks do the same work, and what each does otherwise than those with whom it belongs together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from framedex.fleet.ranks.departures import Compared, Comparing, Difference
from framedex.fleet.ranks.sequences import Departure

if TYPE_CHECKING:
    from framedex.fleet.ranks.reading import RankCalls, Token

Integers = npt.NDArray[np.int64]

_BELONGS = 0.5  # of a sequence's calls that the reference has by line and function


@dataclass(frozen=True, slots=True)
class Family:
    """Ranks that do the same work, by their places among the members, and what each differs in from most of them.

    `reference` is the sequence of one of them, `model`, and `compared` holds each rank against that.
    """

    places: tuple[int, ...]
    model: int
    reference: Integers
    compared: Mapping[int, Compared]


def families_of(sequences: Sequence[RankCalls], tokens: Sequence[Token]) -> list[Family]:
    """The families of ranks, the largest first."""
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
        each = {place: compared[places[0]] for places in near for place in places}
        places = tuple(sorted(each))
        each = _by_most(each, model, sequences, comparing)
        families.append(Family(places, model, reference, each))
    return sorted(families, key=lambda family: (-len(family.places), family.places))


def _belongs(compared: Compared, sequence: Integers) -> bool:
    return int(np.count_nonzero(compared.matched >= 0)) >= _BELONGS * len(sequence)


def _model(classes: Sequence[tuple[Integers, list[int]]]) -> int:
    """The rank whose calls are most like those of all: of the largest class, else one of those that have what most
    have.

    Rank 0 often does more than the others: another one is taken where it can be.
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


def _by_most(
    compared: Mapping[int, Compared], model: int, sequences: Sequence[RankCalls], comparing: Comparing
) -> dict[int, Compared]:
    """The differences from what most ranks do: where most differ from the model in the same way, the others depart."""
    shared = Counter(
        _key(each, sequences[place]) for place, of_rank in compared.items() for each in of_rank.differences
    )
    usual = {key for key, many in shared.items() if many * 2 > len(compared)}
    if not usual:
        return dict(compared)
    told = {}
    example = {}
    for place, of_rank in compared.items():
        for each in of_rank.differences:
            example.setdefault(_key(each, sequences[place]), (each, place))
    for place, of_rank in compared.items():
        own = {_key(each, sequences[place]): each for each in of_rank.differences}
        found = [each for key, each in own.items() if key not in usual]
        for key in usual - own.keys():
            each, of = example[key]
            found += _turned(each, sequences[of].token, sequences[place].token, of_rank, comparing)
        told[place] = replace(of_rank, differences=tuple(sorted(found, key=lambda each: each.other_at)))
    return told


def _key(difference: Difference, sequence: RankCalls) -> tuple[object, ...]:
    mine = sequence.token[difference.at : difference.at + difference.count].tobytes()
    return difference.kind, difference.other_at, difference.other_count, mine


def _turned(
    difference: Difference, usual: Integers, own: Integers, compared: Compared, comparing: Comparing
) -> list[Difference]:
    """What a rank that does as the model does differs in from one that does as most do, at one place."""
    before = compared.matched[: difference.other_at]
    at = int(before.max()) + 1 if len(before) and before.max() >= 0 else 0
    return [
        replace(each, other_at=difference.other_at)
        for each in comparing.of_places(
            own, Departure(at, difference.other_count, difference.at, difference.count), usual
        )
    ]
