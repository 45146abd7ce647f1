"""Match an instruction to one of several written calls, by call order, neighbouring calls and arguments.

Every path through the machine code executes calls in source order. Dynamic programming finds two best matches for
each compiled call: for the paths before it, and for the paths after it. The best match has the most calls that appear
in the source in the same order. Loops are traversed once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cache, cached_property
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from framedex.sources.bodies import BasicBlock, CallerBody, CallForm, Reaches
from framedex.sources.calls import WrittenCall

Weights = npt.NDArray[np.float64]
"""The evidence of one compiled call for each written call; 0 means no match."""

Positions = npt.NDArray[np.intp]
"""Indices of written calls."""


class CalleeWeights(NamedTuple):
    """The weights of the written calls of one callee.

    `direct` has the weights of calls of this callee. `through_callee` has those of calls of functions that call it.
    Either is None if all its weights are 0. `total` is their sum, with a 0 for the index after the last written call.
    """

    direct: Weights | None
    through_callee: Weights | None
    total: Weights


_MAX_CELLS = 1 << 20  # compiled calls times written calls; more would take too long for one line
_MAX_STEPS = 1 << 24  # edges between basic blocks times written calls: the number of 8-byte scores in memory


class CallAlignment:
    """Scores for the calls before and after each compiled call, matched with those around each written call."""

    def __init__(
        self, flow: Sequence[BasicBlock], weights: Callable[[int], CalleeWeights | None], written: int
    ) -> None:
        """Align the compiled calls of `flow` with `written` calls.

        `flow` has each block after its predecessors. `weights` returns the weights of the callee of a compiled call.
        One written call whose callee makes this call can match several compiled calls in a row.
        """
        self._before: dict[int, Weights] = {}
        self._after: dict[int, Weights] = {}
        steps = sum(len(block.predecessors) + 1 for block in flow)
        if sum(len(block.calls) for block in flow) * written > _MAX_CELLS or steps * written > _MAX_STEPS:
            return
        nothing = np.zeros(written + 1)
        ends: list[Weights] = []
        for block in flow:
            so_far = _merge_scores([ends[i] for i in block.predecessors], nothing)
            for call in block.calls:
                self._before[call] = so_far
                if (found := weights(call)) is not None:
                    so_far = _extend_scores(so_far, found.direct, found.through_callee)
            ends.append(so_far)
        begins: list[list[Weights]] = [[] for _ in flow]
        for block, later in zip(reversed(flow), reversed(begins), strict=True):
            so_far = _merge_scores(later, nothing)
            for call in reversed(block.calls):
                self._after[call] = so_far
                if (found := weights(call)) is not None:
                    direct, through_callee = (None if each is None else each[::-1] for each in found[:2])
                    so_far = _extend_scores(so_far[::-1], direct, through_callee)[::-1]
            for i in block.predecessors:
                begins[i].append(so_far)

    def fit(self, call: int, site: int, is_repeated: bool) -> float:
        """Return how well the calls around a compiled call match those around a written call.

        `is_repeated`: the written call can account for other compiled calls too.
        """
        if call not in self._before:
            return 0.0
        before, after = (site + 1, site) if is_repeated else (site, site + 1)
        return float(self._before[call][before] + self._after[call][after])


def _merge_scores(candidates_so_far: Sequence[Weights], empty: Weights) -> Weights:
    best: Weights | None = None
    for each in candidates_so_far:
        if best is None:
            best = each
        elif each is not best:  # blocks without calls pass on the same array
            best = np.maximum(best, each)
    return empty if best is None else best


def _extend_scores(scores: Weights, direct: Weights | None, through_callee: Weights | None) -> Weights:
    """Extend the best scores of all prefixes of the written calls by one compiled call."""
    extended = scores.copy()
    rest = extended[1:]
    if direct is not None:
        np.maximum(rest, scores[:-1] + direct, out=rest)
    if through_callee is not None:
        np.maximum(rest, scores[1:] + through_callee, out=rest)
    return np.maximum.accumulate(extended, out=extended)


MAX_HOPS = 3
"""The maximum number of inlined functions between a written call and the callee."""

_MAX_NEIGHBOURS = 40  # calls to compare on each side of a candidate
_NEIGHBOUR_DECAY = 0.85  # weight of each neighbour in the binary, relative to the next nearer one
_WRITTEN_NEIGHBOUR_DECAY = 0.9
# A name's weight falls with this power of its count, so that the order of many calls of one name counts too.
_RARITY_POWER = 0.5
_INLINED_WEIGHT = 1.0  # weight of a neighbour that was inlined or expanded from a macro
_ALIGNMENT_WEIGHT = 2.0  # weight of the alignment of all calls, relative to the nearest calls
_ORDER_WEIGHT = 0.1  # weight of the address order: only breaks ties
_HOP_PENALTY = 0.3  # penalty for each inlined function between the written call and the callee
_STRING_WEIGHT = 1.0  # weight of a string that is both written and passed: the same as a name used once
# The preprocessor joins literals, so one of at least this length may match part of a string.
_MIN_LITERAL_BYTES = 4
_NUMBER_WEIGHT = 0.25  # weight of a written number: added if it is passed, subtracted if not
_ARITY_WEIGHT = 0.5
_NOT_LAST_PENALTY = 1.0  # for a written call that is not the last of its function, if a tail call is compiled
_MIN_NEIGHBOUR_SCORE = 1.0  # minimum neighbour score for an implicit call; below, two of three lines were wrong
_SCORE_DIGITS = 9  # digits to which neighbour scores are rounded, so that equal scores stay equal
_MAX_COMPARED = 200  # candidates whose neighbours are compared: those nearest in order
_MAX_SAMPLE = 64  # compiled calls whose constants are collected
_MAX_PAIRS = 400  # compiled calls times written calls of one callee; above this, each call is ranked separately


def find_lines(sites: Sequence[WrittenCall]) -> tuple[int, ...]:
    """The lines of calls, without duplicates."""
    return tuple(dict.fromkeys(site.line for site in sites))


class CallOrder:
    """Ranks the calls written in a function by how well they match one of its instructions."""

    def __init__(self, caller: CallerBody, written: Sequence[WrittenCall], reaches: Reaches) -> None:
        """`written` has all calls in the function's lines, including those of its lambdas."""
        self._caller = caller
        self._reaches = reaches
        self._written = written
        self._positions: dict[WrittenCall, int] = {}
        for position, site in enumerate(written):
            self._positions.setdefault(site, position)
        self._counts_by_callee = Counter(site.callee for site in written)
        self._counts_compiled = Counter(call.name for call in caller.compiled_calls if isinstance(call, CallForm))
        self._passed_numbers = cache(lambda call: frozenset(caller.passed_numbers(call)))
        self._weights_by_callee: dict[str, CalleeWeights | None] = {}
        # Sites with the same callee and kind have the same weight.
        kinds: dict[tuple[str, str, bool], WrittenCall] = {}
        for site in written:
            kinds.setdefault((site.callee, site.kind, site.is_member), site)
        numbers = {key: number for number, key in enumerate(kinds)}
        self._kinds = list(kinds.values())
        self._kind_of = np.array([numbers[site.callee, site.kind, site.is_member] for site in written], np.intp)

    @cached_property
    def _alignment(self) -> CallAlignment:
        return CallAlignment(self._caller.control_flow(), self._alignment_weights, len(self._written))

    def _alignment_weights(self, call: int) -> CalleeWeights | None:
        """The weights of the callee of a compiled call; None if it has no name or all are 0."""
        callee = self._caller.compiled_calls[call]
        return self._weights_of(callee) if isinstance(callee, CallForm) else None

    def _weights_of(self, callee: CallForm) -> CalleeWeights | None:
        """The weights of the written calls of a callee; None if all are 0."""
        if callee.name not in self._weights_by_callee:
            self._weights_by_callee[callee.name] = self._compute_weights(callee)
        return self._weights_by_callee[callee.name]

    def _compute_weights(self, callee: CallForm) -> CalleeWeights | None:
        weights = [self._weight(site, callee) for site in self._kinds]
        if not any(weights):
            return None
        is_own = [site.callee == callee.name for site in self._kinds]
        direct, through_callee = (
            np.array(part)[self._kind_of] if any(part) else None
            for part in (
                [weight if own else 0.0 for weight, own in zip(weights, is_own, strict=True)],
                [0.0 if own else weight for weight, own in zip(weights, is_own, strict=True)],
            )
        )
        return CalleeWeights(direct, through_callee, np.append(np.array(weights)[self._kind_of], 0.0))

    def sort_lines(
        self,
        callee: CallForm,
        direct: Sequence[WrittenCall],
        inlined_calls: Sequence[WrittenCall],
        instruction: int | None,
    ) -> tuple[int, ...]:
        """The lines of the sites, most likely for this instruction first.

        `direct` has calls of the callee, `inlined_calls` calls of inlined functions.
        """
        inlined_sites = frozenset(inlined_calls)
        chosen = inlined_sites.union(direct)
        candidates = [site for site in self._written if site in chosen]
        if instruction is None or len(find_lines(candidates)) == 1:
            return find_lines(candidates)
        # CHECK, LOG and similar macros pass __LINE__.
        passed = self._passed_numbers(instruction)
        named = [site for site in candidates if site.line in passed and site.is_macro_call]
        if len(find_lines(named)) == 1:
            return find_lines([*named, *candidates])
        compiled = self._caller.compiled_calls
        same_callee = [i for i, call in enumerate(compiled) if call == compiled[instruction]]
        shares = [self._reaches(site, callee, MAX_HOPS) if site in inlined_sites else 1 for site in candidates]
        own_scores = self._score_candidates(callee, instruction, same_callee, candidates, shares)
        ranked = sorted(range(len(candidates)), key=lambda i: -own_scores[i])
        # An unrolled loop compiles to more calls than are written: then no assignment exists.
        if len(same_callee) <= sum(shares) and len(same_callee) * len(candidates) <= _MAX_PAIRS:
            scores = [
                own_scores if i == instruction else self._score_candidates(callee, i, same_callee, candidates, shares)
                for i in same_callee
            ]
            ranked.insert(0, _assign_sites(scores, shares)[same_callee.index(instruction)])
        return find_lines([candidates[i] for i in ranked])

    def lines_near(
        self, instruction: int | None, is_before: bool, least: float = _MIN_NEIGHBOUR_SCORE
    ) -> tuple[int, ...]:
        """The lines of the written calls next to an implicit call, most likely first, by the calls that run around it.

        Returns nothing if the best score is below `least`. `is_before`: the implicit call constructs an argument of the
        written call. Otherwise it destroys an argument or the result.
        """
        if instruction is None:
            return ()
        positions = np.arange(len(self._written))
        between = positions + (not is_before)
        scores = []
        for position, score in enumerate(self._score_neighbours(instruction, between, between).tolist()):
            distance = abs(
                (position + 0.5) / len(self._written) - (instruction + 0.5) / len(self._caller.compiled_calls)
            )
            scores.append((-score - _ORDER_WEIGHT * (1 - distance), position, score))
        ranked = sorted(scores)
        is_certain = bool(ranked) and ranked[0][2] >= least
        return find_lines([self._written[position] for _, position, score in ranked if score]) if is_certain else ()

    def _score_candidates(
        self,
        callee: CallForm,
        instruction: int,
        same_callee: Sequence[int],
        candidates: Sequence[WrittenCall],
        shares: Sequence[int],
    ) -> list[float]:
        """Score each site for this instruction; `same_callee` has all compiled calls of this callee.

        `shares` has the maximum number of these compiled calls for each site.
        """
        called = self._caller.compiled_calls[instruction]
        passed = self._passed_numbers(instruction)
        texts = self._caller.passed_strings(instruction)
        # A number that no call of the callee passes is no evidence: it may be passed as a `double`, or not at all.
        known_numbers = frozenset[int]().union(*map(self._passed_numbers, same_callee[:_MAX_SAMPLE]))
        rank = self._expected_rank(instruction, same_callee, candidates, shares)
        middles = [end - share / 2 for end, share in zip(accumulate(shares), shares, strict=True)]
        rank_distances = [
            max(0.0, abs(middle - rank) - (share - 1) / 2) for middle, share in zip(middles, shares, strict=True)
        ]
        nearest = sorted(range(len(candidates)), key=rank_distances.__getitem__)[:_MAX_COMPARED]
        compared = np.array([self._positions[candidates[i]] for i in nearest], np.intp)
        # `new` runs before the constructor of the same site.
        is_after = np.array([callee.kind != "memory" or candidates[i].kind != "new" for i in nearest], np.intp)
        neighbour_scores = dict(
            zip(nearest, self._score_neighbours(instruction, compared, compared + is_after).tolist(), strict=True)
        )
        scores = []
        for i, site in enumerate(candidates):
            position = self._positions[site]
            score = _ALIGNMENT_WEIGHT * self._alignment.fit(
                instruction, position, is_repeated=site.callee != callee.name
            )
            score += neighbour_scores.get(i, 0.0)
            score += _ORDER_WEIGHT * max(0.0, 1 - rank_distances[i])
            # A zero that is not set just before the call is not evidence, because a register may still hold an old
            # zero.
            numbers = site.numbers & known_numbers
            score += _NUMBER_WEIGHT * (len(numbers & passed) - len(numbers - passed - {0}))
            score += _STRING_WEIGHT * _count_matching_texts(site.texts, texts)
            score += _ARITY_WEIGHT * (isinstance(called, CallForm) and site.arguments == called.parameters)
            score -= _NOT_LAST_PENALTY * (instruction in self._caller.tail_calls and not site.is_last)
            score -= _HOP_PENALTY * self._count_hops(site, callee)
            scores.append(score)
        return scores

    def _count_hops(self, site: WrittenCall, callee: CallForm) -> int:
        """The number of functions between the callee at a site and `callee`; 0 for a direct call."""
        if site.callee == callee.name:
            return 0
        return next((hops for hops in range(MAX_HOPS) if self._reaches(site, callee, hops + 1)), MAX_HOPS)

    def _expected_rank(
        self, instruction: int, same_callee: Sequence[int], candidates: Sequence[WrittenCall], shares: Sequence[int]
    ) -> float:
        """The position of an instruction, in address order, among all shares of the candidates.

        The position is relative to the calls in `same_callee`, or to all calls if the instruction is alone there.
        """
        if len(same_callee) > 1:
            return (same_callee.index(instruction) + 0.5) / len(same_callee) * sum(shares)
        written_position = (instruction + 0.5) / len(self._caller.compiled_calls) * len(self._written)
        return sum(
            share for site, share in zip(candidates, shares, strict=True) if self._positions[site] < written_position
        )

    def _score_neighbours(self, instruction: int, ends: Positions, begins: Positions) -> Weights:
        """Score the calls around an instruction against the written calls before `ends` and after `begins`."""
        preceding, following = self._caller.neighbours(instruction)
        steps = np.arange(_MAX_NEIGHBOURS)
        score = self._score_common_subsequences(preceding, ends[:, None] - 1 - steps)
        score += self._score_common_subsequences(following, begins[:, None] + steps)
        return np.round(score, _SCORE_DIGITS)

    def _score_common_subsequences(self, compiled: Sequence[CallForm | None], positions: Positions) -> Weights:
        """The weight of the longest common subsequence of names, for each row of positions of written calls.

        Rare names and near calls weigh more. Both sequences begin with the nearest call.
        """
        none = len(self._written)
        inside = np.where((positions >= 0) & (positions < none), positions, none)
        decay = _WRITTEN_NEIGHBOUR_DECAY ** np.arange(positions.shape[1])
        best = np.zeros((positions.shape[0], positions.shape[1] + 1))
        for i in reversed(range(len(compiled))):
            callee = compiled[i]
            weights = self._weights_of(callee) if callee is not None else None
            if weights is None:
                continue
            gained = weights.total[inside] * (decay * _NEIGHBOUR_DECAY**i)
            extended = np.maximum(best[:, :-1], gained + best[:, 1:])
            best[:, :-1] = np.maximum.accumulate(extended[:, ::-1], axis=1)[:, ::-1]
        result: Weights = best[:, 0]
        return result

    def _weight(self, site: WrittenCall, callee: CallForm) -> float:
        """The evidence that a written call is this compiled call: by name, or as a call from an inlined callee."""
        if site.callee == callee.name:
            return 1 / math.pow(self._counts_by_callee[callee.name], _RARITY_POWER)
        if site.kind != "operator" and self.is_inlined(site) and self._reaches(site, callee, 1):
            return _INLINED_WEIGHT / math.pow(self._counts_by_callee[site.callee], _RARITY_POWER)
        return 0.0

    def is_inlined(self, site: WrittenCall) -> bool:
        """Whether the callee at a site can be part of this function: a macro, or a function inlined at least once."""
        return self._counts_compiled[site.callee] < self._counts_by_callee[site.callee]


def _count_matching_texts(written: Collection[bytes], passed: Collection[bytes]) -> int:
    """Count the passed strings that are written, whole or as one of several concatenated literals."""
    return sum(
        any(text == each or (len(text) >= _MIN_LITERAL_BYTES and text in each) for text in written) for each in passed
    )


def _assign_sites(scores: Sequence[Sequence[float]], shares: Sequence[int]) -> list[int]:
    """Assign a site to each instruction, greedily by score, within each site's share."""
    pairs = sorted(
        ((score, -i, -j) for i, row in enumerate(scores) for j, score in enumerate(row)),
        reverse=True,
    )
    chosen = [-1] * len(scores)
    remaining = list(shares)
    for _, i, j in pairs:
        if chosen[-i] < 0 and remaining[-j] > 0:
            chosen[-i] = -j
            remaining[-j] -= 1
    return chosen
