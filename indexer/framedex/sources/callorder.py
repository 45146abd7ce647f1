"""Match an instruction to one of several written calls, by call order, neighbouring calls and arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np

from framedex.sources.alignment import Alignment, Weights
from framedex.sources.callers import Called, Caller, Reaches
from framedex.sources.calls import WrittenCall

MOST_HOPS = 3
"""The maximum number of inlined functions between a written call and the callee."""

_MOST_NEIGHBOURS = 40  # sites compared on each side of a candidate
_NEARER = 0.85  # weight of each neighbour in the binary, relative to the next nearer one
_NEARER_WRITTEN = 0.9
_INLINED = 1.0  # weight of a neighbour that was inlined or expanded from a macro
_WAYS = 2.0  # weight of the alignment of all calls, relative to the nearest calls
_ORDER = 0.1  # weight of the address order: only breaks ties
_HOP = 0.3  # penalty for each inlined function between the written call and the callee
_TEXT = 1.0  # weight of a string that is both written and passed: the same as a name used once
_SHORTEST = 4  # bytes of a literal that may match part of a string, because the preprocessor concatenates literals
_NUMBER = 0.25  # weight of a written number: added if it is passed, subtracted if not
_ARITY = 0.5
_LAST = 1.0  # penalty for a written call that is not last in its function, if the compiled call is a tail call
_TOLD = 1.0  # minimum neighbour score for an implicit call: below it, two of three lines were wrong
_MOST_COMPARED = 200  # candidates whose neighbours are compared, nearest in order
_MOST_PAIRS = 400  # compiled times written calls of one callee; above it, each call is ranked separately


def lines_of(sites: Sequence[WrittenCall]) -> tuple[int, ...]:
    """The lines of calls, without duplicates."""
    return tuple(dict.fromkeys(site.line for site in sites))


class CallOrder:
    """Ranks the calls written in a function by how well they match one of its instructions."""

    def __init__(self, caller: Caller, written: Sequence[WrittenCall], reaches: Reaches) -> None:
        """`written` has all calls in the function's lines, including those of its lambdas."""
        self._caller = caller
        self._reaches = reaches
        self._all = written
        self._places: dict[WrittenCall, int] = {}
        for at, site in enumerate(written):
            self._places.setdefault(site, at)
        self._uses = Counter(site.callee for site in written)
        self._compiled = Counter(call.name for call in caller.compiled if isinstance(call, Called))
        self._weights: dict[tuple[str, bool, str], float] = {}
        self._rows: dict[str, tuple[Weights, Weights] | None] = {}
        # Sites with the same callee and kind have the same weight.
        kinds: dict[tuple[str, str, bool], WrittenCall] = {}
        for site in written:
            kinds.setdefault((site.callee, site.kind, site.is_member), site)
        numbers = {key: number for number, key in enumerate(kinds)}
        self._kinds = list(kinds.values())
        self._kind_of = [numbers[site.callee, site.kind, site.is_member] for site in written]

    @cached_property
    def _alignment(self) -> Alignment:
        return Alignment(self._caller.flow(), self._row, len(self._all))

    def _row(self, call: int) -> tuple[Weights, Weights] | None:
        """The weights of a compiled call, in the form that `Alignment` requires."""
        callee = self._caller.compiled[call]
        if not isinstance(callee, Called):
            return None
        if callee.name not in self._rows:
            of_kinds = [self._weight(site, callee) for site in self._kinds]
            weights = np.array(of_kinds)[self._kind_of] if of_kinds else np.zeros(0)
            is_own = np.array([site.callee == callee.name for site in self._all])
            self._rows[callee.name] = (weights * is_own, weights * ~is_own) if weights.any() else None
        return self._rows[callee.name]

    def ordered(
        self,
        callee: Called,
        direct: Sequence[WrittenCall],
        through: Sequence[WrittenCall],
        instruction: int | None,
    ) -> tuple[int, ...]:
        """The lines of the sites, most likely for this instruction first.

        `direct` has calls of the callee, `through` calls of inlined functions.
        """
        inside = frozenset(through)
        chosen = inside.union(direct)
        candidates = [site for site in self._all if site in chosen]
        if instruction is None or len(lines_of(candidates)) == 1:
            return lines_of(candidates)
        # CHECK, LOG and similar macros pass __LINE__.
        passed = self._caller.numbers(instruction)
        told = [site for site in candidates if site.line in passed and site.is_of_macro]
        if len(lines_of(told)) == 1:
            return lines_of([*told, *candidates])
        compiled = self._caller.compiled
        alike = [i for i, call in enumerate(compiled) if call == compiled[instruction]]
        shares = [self._reaches(site, callee, MOST_HOPS) if site in inside else 1 for site in candidates]
        own = self._scores(callee, instruction, alike, candidates, shares)
        ordered = sorted(range(len(candidates)), key=lambda i: -own[i])
        # An unrolled loop compiles to more calls than are written: then no assignment exists.
        if len(alike) <= sum(shares) and len(alike) * len(candidates) <= _MOST_PAIRS:
            scores = [own if i == instruction else self._scores(callee, i, alike, candidates, shares) for i in alike]
            ordered.insert(0, _assignment(scores, shares)[alike.index(instruction)])
        return lines_of([candidates[i] for i in ordered])

    def beside(self, instruction: int | None, is_before: bool, least: float = _TOLD) -> tuple[int, ...]:
        """The lines of the written calls next to an implicit call, most likely first, by the calls that run around it.

        Returns nothing if the best score is below `least`. `is_before`: the implicit call constructs an argument of the
        written call. Otherwise it destroys an argument or the result.
        """
        if instruction is None:
            return ()
        before, after = self._caller.neighbours(instruction)
        scores = []
        for at in range(len(self._all)):
            between = at + (not is_before)
            score = self._common(before, self._all[max(between - _MOST_NEIGHBOURS, 0) : between][::-1])
            score += self._common(after, self._all[between : between + _MOST_NEIGHBOURS])
            along = abs((at + 0.5) / len(self._all) - (instruction + 0.5) / len(self._caller.compiled))
            scores.append((-score - _ORDER * (1 - along), at, score))
        ordered = sorted(scores)
        is_told = bool(ordered) and ordered[0][2] >= least
        return lines_of([self._all[at] for _, at, score in ordered if score]) if is_told else ()

    def _scores(
        self,
        callee: Called,
        instruction: int,
        alike: Sequence[int],
        candidates: Sequence[WrittenCall],
        shares: Sequence[int],
    ) -> list[float]:
        """Score each site for this instruction; `alike` has all compiled calls of the same callee.

        `shares` has the maximum number of these compiled calls for each site.
        """
        called = self._caller.compiled[instruction]
        before, after = self._caller.neighbours(instruction)
        passed = frozenset(self._caller.numbers(instruction))
        texts = self._caller.texts(instruction)
        rank = self._rank(instruction, alike, candidates, shares)
        middles = [end - share / 2 for end, share in zip(accumulate(shares), shares, strict=True)]
        beyond = [max(0.0, abs(middle - rank) - (share - 1) / 2) for middle, share in zip(middles, shares, strict=True)]
        nearest = set(sorted(range(len(candidates)), key=beyond.__getitem__)[:_MOST_COMPARED])
        scores = []
        for i, site in enumerate(candidates):
            at = self._places[site]
            score = _WAYS * self._alignment.fit(instruction, at, is_repeated=site.callee != callee.name)
            if i in nearest:
                score += self._common(before, self._all[max(at - _MOST_NEIGHBOURS, 0) : at][::-1])
                score += self._common(after, self._all[at + 1 : at + 1 + _MOST_NEIGHBOURS])
            score += _ORDER * max(0.0, 1 - beyond[i])
            # A zero that is not set just before the call is no evidence: registers may still hold one.
            score += _NUMBER * (len(site.numbers & passed) - len(site.numbers - passed - {0}))
            score += _TEXT * _in_common(site.texts, texts)
            score += _ARITY * (isinstance(called, Called) and site.arguments == called.parameters)
            score -= _LAST * (instruction in self._caller.jumps and not site.is_last)
            score -= _HOP * self._hops(site, callee)
            scores.append(score)
        return scores

    def _hops(self, site: WrittenCall, callee: Called) -> int:
        """The number of functions between the callee at a site and `callee`; 0 for a direct call."""
        if site.callee == callee.name:
            return 0
        return next((hops for hops in range(MOST_HOPS) if self._reaches(site, callee, hops + 1)), MOST_HOPS)

    def _rank(
        self, instruction: int, alike: Sequence[int], candidates: Sequence[WrittenCall], shares: Sequence[int]
    ) -> float:
        """The position of an instruction, in address order, among all shares of the candidates.

        The position is relative to the calls in `alike`, or to all calls if the instruction is alone there.
        """
        if len(alike) > 1:
            return (alike.index(instruction) + 0.5) / len(alike) * sum(shares)
        at = (instruction + 0.5) / len(self._caller.compiled) * len(self._all)
        return sum(share for site, share in zip(candidates, shares, strict=True) if self._places[site] < at)

    def _common(self, compiled: Sequence[Called | None], written: Sequence[WrittenCall]) -> float:
        """The weight of the longest common subsequence of names. Rare names and near calls weigh more."""
        following = [0.0] * (len(written) + 1)
        for i in reversed(range(len(compiled))):
            callee = compiled[i]
            row = [0.0] * (len(written) + 1)
            for j in reversed(range(len(written))):
                row[j] = max(row[j + 1], following[j])
                if callee and (weight := self._weight(written[j], callee)):
                    row[j] = max(row[j], weight * _NEARER**i * _NEARER_WRITTEN**j + following[j + 1])
            following = row
        return following[0]

    def _weight(self, site: WrittenCall, callee: Called) -> float:
        """The evidence that a written call is this compiled call: by name, or as a call from an inlined callee."""
        key = site.callee, site.is_member, callee.name
        if key not in self._weights:
            if site.callee == callee.name:
                weight = 1 / self._uses[callee.name]
            elif site.kind != "operator" and self.is_opened(site) and self._reaches(site, callee, 1):
                weight = _INLINED / self._uses[site.callee]
            else:
                weight = 0.0
            self._weights[key] = weight
        return self._weights[key]

    def is_opened(self, site: WrittenCall) -> bool:
        """Whether the callee at a site can be part of this function: a macro, or a function inlined at least once."""
        return self._compiled[site.callee] < self._uses[site.callee]


def _in_common(written: Collection[bytes], passed: Collection[bytes]) -> int:
    """Count the passed strings that are written, whole or as one of several concatenated literals."""
    return sum(any(text == each or (len(text) >= _SHORTEST and text in each) for text in written) for each in passed)


def _assignment(scores: Sequence[Sequence[float]], shares: Sequence[int]) -> list[int]:
    """Assign a site to each instruction, greedily by score, within each site's share."""
    pairs = sorted(
        ((score, -i, -j) for i, row in enumerate(scores) for j, score in enumerate(row)),
        reverse=True,
    )
    chosen = [-1] * len(scores)
    left = list(shares)
    for _, i, j in pairs:
        if chosen[-i] < 0 and left[-j] > 0:
            chosen[-i] = -j
            left[-j] -= 1
    return chosen
