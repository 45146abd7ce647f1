"""The line of a call where no debug information says it: among the calls that are written in the caller.

What is known is the caller's body, the name of the function called, and the caller's machine code. The calls of that
name are the candidates; the ones made from inside a function that was inlined are those of that function. Between
several, the calls that run before and after decide, whose names the binary has too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from framedex.binaries.names import LAMBDA, parse_name
from framedex.model import How
from framedex.sources.calls import Span, WrittenCall, is_macro

_MOST_HOPS = 3
_MOST_NEIGHBOURS = 40  # sites to look at around a candidate
_NEARER = 0.85  # what the next neighbour in the binary counts, to the one before it
_NEARER_WRITTEN = 0.9
_INLINED = 1.0  # what a neighbour counts that was inlined or came from a macro
_ORDER = 0.3  # what the order of addresses counts: as much as a neighbour of a name used three times
_NUMBER = 0.25  # what a number counts that is written as an argument, and passed or not
_ARITY = 0.5
_LAST = 1.0  # what it counts against a call that something follows, where the machine code jumps to what it calls
_MOST_PAIRS = 400  # of calls alike, as compiled and as written; with more, each is judged by itself


@dataclass(frozen=True, slots=True)
class Called:
    """How calls of a function are written: its name, what kind of call, and how many parameters (None: any)."""

    name: str
    kind: str  # call, construct, operator
    parameters: int | None


@dataclass(frozen=True, slots=True)
class Unnamed:
    """What is called without a name: at an address, or through the pointer at `slot` (`CallInstruction`)."""

    target: int
    slot: int | None


Neighbours = Callable[[int], tuple[Sequence[Called | None], Sequence[Called | None]]]
"""What runs before and after a call of the machine code, nearest first; None for a function without a name."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A function as it is written and as it was compiled.

    `sites` are the calls in its lines, by function and lambda; `compiled` its calls in machine code in order of
    address (None: nothing tells what is called), empty where the binary is not there. `numbers` are the constants that
    the machine code passes to one of them; `jumps` those that are jumps, in place of a call that ends the function.
    """

    span: Span
    sites: Mapping[Span, Sequence[WrittenCall]]
    compiled: Sequence[Called | Unnamed | None]
    neighbours: Neighbours
    numbers: Callable[[int], Collection[int]] = lambda _: ()
    jumps: Collection[int] = ()


Reaches = Callable[[WrittenCall, Called, int], int]
"""How often what is called there calls the called, itself or through so many others; 0 for not at all."""


def called(symbol: str) -> Called | None:
    """How a function of this demangled name is called; None where that cannot be looked for, as with destructors."""
    name = parse_name(symbol)
    if not name.parts or name.key[-1] == LAMBDA:
        return None
    own = name.parts[-1].text
    parameters = name.parameters
    count = None if parameters is None or parameters[-1:] == ("...",) else len(parameters)
    if own.startswith("operator"):
        return Called(own, "operator", None) if own != "operator()" and not own[8:9].isspace() else None
    if own.startswith(("~", "{")):
        return None
    if len(name.parts) > 1 and own == name.parts[-2].text:
        return Called(own, "construct", count)
    return Called(own, "call", count)


def call_line(
    caller: Caller, callee: Called, instruction: int | None, reaches: Reaches
) -> tuple[How | None, tuple[int, ...]]:
    """How the line of a call is known and the lines it can be, the likeliest first; (None, ()) where nothing fits.

    `instruction` is the index of the call in `caller.compiled`, None if it is not among them.
    """
    body = _Body(caller, reaches)
    own, nested = body.written(callee)
    compiled = _times_compiled(caller, callee, instruction)
    is_certain = callee.kind == "call" and 0 < compiled <= len(own)
    comes_from_elsewhere = 0 < len(own) < compiled
    own = own or body.by_macro(callee)
    direct = own if is_certain else [*own, *nested]
    lines = _lines(direct)
    through = () if is_certain else body.through(callee, direct)
    if len(lines) == 1 and not through and not comes_from_elsewhere:
        return (How.SINGLE if own else How.INLINED_HOP), lines
    if not direct and through:
        return How.INLINED_HOP, body.ordered(callee, (), through, instruction)
    if not direct:
        return None, ()
    return How.RANKED, body.ordered(callee, direct, through, instruction)


def _times_compiled(caller: Caller, callee: Called, instruction: int | None) -> int:
    """How often the machine code has this call: as often as it is written, or what was inlined calls it as well.

    0 where nobody can tell: a table of pointers can be that of another class, with another function at the same place.
    """
    call = None if instruction is None else caller.compiled[instruction]
    if isinstance(call, Unnamed):
        return caller.compiled.count(call) if call.target else 0
    return caller.compiled.count(callee)


def _fits(site: WrittenCall, callee: Called) -> bool:
    """Whether a call as written can be one of the callee: defaults add arguments, nothing takes any away."""
    if site.callee != callee.name or (site.kind == "operator") != (callee.kind == "operator"):
        return False
    if callee.kind == "call" and site.kind != "call":
        return False
    if callee.parameters is None or site.arguments is None:
        return True
    if callee.kind == "construct" and callee.parameters > 0 and site.arguments == 0:
        return False
    return site.arguments <= callee.parameters


def _lines(sites: Sequence[WrittenCall]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(site.line for site in sites))


class _Body:
    """The calls written in a function, those of its lambdas included."""

    def __init__(self, caller: Caller, reaches: Reaches) -> None:
        first, last = caller.span
        self._caller = caller
        self._reaches = reaches
        self._own = caller.sites.get(caller.span, ())
        inside = [span for span in caller.sites if span != caller.span and first <= span[0] and span[1] <= last]
        nested = [site for span in inside for site in caller.sites[span]]
        # The function's own are in the order of evaluation already, which lines are not: f(\n g()).
        self._all = sorted([*self._own, *nested], key=lambda site: site.line) if nested else list(self._own)
        self._uses = Counter(site.callee for site in self._all)
        self._compiled = Counter(call.name for call in caller.compiled if isinstance(call, Called))
        self._weights: dict[tuple[str, bool, str], float] = {}

    def written(self, callee: Called) -> tuple[list[WrittenCall], list[WrittenCall]]:
        """The calls of the callee by name: in the function itself, and in its lambdas."""
        own = [site for site in self._own if _fits(site, callee)]
        return own, [site for site in self._all if _fits(site, callee) and site not in self._own]

    def by_macro(self, callee: Called) -> list[WrittenCall]:
        """The calls of macros that call the callee."""
        macros = [site for site in self._all if site.kind == "call" and is_macro(site.callee)]
        return [site for site in macros if self._reaches(site, callee, _MOST_HOPS)]

    def through(self, callee: Called, direct: Sequence[WrittenCall]) -> tuple[WrittenCall, ...]:
        """The calls of functions that call the callee and were inlined here at least once, over the fewest hops."""
        inlined = [
            site
            for site in self._all
            if site.kind != "operator"
            and not is_macro(site.callee)
            and site.callee != callee.name
            and self._is_opened(site)
        ]
        for hops in range(1, (_MOST_HOPS if not direct else 2) + 1):
            if found := tuple(site for site in inlined if self._reaches(site, callee, hops)):
                return found
        return ()

    def ordered(
        self,
        callee: Called,
        direct: Sequence[WrittenCall],
        through: Sequence[WrittenCall],
        instruction: int | None,
    ) -> tuple[int, ...]:
        """The lines of the sites, the likeliest for this instruction first.

        `direct` are the calls of the callee, `through` those of functions that were inlined.
        """
        candidates = [site for site in self._all if site in direct or site in through]
        if instruction is None or len(_lines(candidates)) == 1:
            return _lines(candidates)
        # CHECK, LOG and their kind pass on __LINE__.
        passed = self._caller.numbers(instruction)
        told = [site for site in candidates if site.line in passed and is_macro(site.callee)]
        if len(_lines(told)) == 1:
            return _lines([*told, *candidates])
        compiled = self._caller.compiled
        alike = [i for i, call in enumerate(compiled) if call == compiled[instruction]]
        shares = [self._reaches(site, callee, _MOST_HOPS) if site in through else 1 for site in candidates]
        own = self._scores(instruction, alike, candidates, shares)
        ordered = sorted(range(len(candidates)), key=lambda i: -own[i])
        # More than written: some were made twice, as when a loop is unrolled.
        if len(alike) <= sum(shares) and len(alike) * len(candidates) <= _MOST_PAIRS:
            scores = [own if i == instruction else self._scores(i, alike, candidates, shares) for i in alike]
            ordered.insert(0, _assignment(scores, shares)[alike.index(instruction)])
        return _lines([candidates[i] for i in ordered])

    def _scores(
        self, instruction: int, alike: Sequence[int], candidates: Sequence[WrittenCall], shares: Sequence[int]
    ) -> list[float]:
        """How well each site fits this instruction, one of those alike. `shares`: how many of them each may be."""
        called = self._caller.compiled[instruction]
        before, after = self._caller.neighbours(instruction)
        passed = {*self._caller.numbers(instruction), 0}
        rank = self._rank(instruction, alike, candidates, shares)
        ranks_before = 0
        scores = []
        for site, share in zip(candidates, shares, strict=True):
            at = self._all.index(site)
            score = self._common(before, self._all[max(at - _MOST_NEIGHBOURS, 0) : at][::-1])
            score += self._common(after, self._all[at + 1 : at + 1 + _MOST_NEIGHBOURS])
            beyond = abs(ranks_before + share / 2 - rank) - (share - 1) / 2
            score += _ORDER * max(0.0, 1 - max(0.0, beyond))
            score += _NUMBER * (len(site.numbers & passed) - len(site.numbers - passed))
            score += _ARITY * (isinstance(called, Called) and site.arguments == called.parameters)
            score -= _LAST * (instruction in self._caller.jumps and not site.is_last)
            scores.append(score)
            ranks_before += share
        return scores

    def _rank(
        self, instruction: int, alike: Sequence[int], candidates: Sequence[WrittenCall], shares: Sequence[int]
    ) -> float:
        """The place among all shares by the order of addresses: of those alike, or of all calls if none is."""
        if len(alike) > 1:
            return (alike.index(instruction) + 0.5) / len(alike) * sum(shares)
        at = (instruction + 0.5) / len(self._caller.compiled) * len(self._all)
        return sum(share for site, share in zip(candidates, shares, strict=True) if self._all.index(site) < at)

    def _common(self, compiled: Sequence[Called | None], written: Sequence[WrittenCall]) -> float:
        """The weight of the longest common subsequence of names: rare ones count more, and near ones."""
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
        """What it says that a call is written and compiled here: by its name, or from inside what is called."""
        key = site.callee, site.is_member, callee.name
        if key not in self._weights:
            if site.callee == callee.name:
                weight = 1 / self._uses[callee.name]
            elif site.kind != "operator" and self._is_opened(site) and self._reaches(site, callee, 1):
                weight = _INLINED / self._uses[site.callee]
            else:
                weight = 0.0
            self._weights[key] = weight
        return self._weights[key]

    def _is_opened(self, site: WrittenCall) -> bool:
        """Whether what is called there can be part of this function: a macro, or inlined at least once."""
        return self._compiled[site.callee] < self._uses[site.callee]


def _assignment(scores: Sequence[Sequence[float]], shares: Sequence[int]) -> list[int]:
    """A site for each instruction, no more than its share for one site, taking the best pairs first."""
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
