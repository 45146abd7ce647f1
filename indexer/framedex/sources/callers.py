"""A function as written and as compiled: the input for finding the lines of its calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from framedex.binaries.names import LAMBDA, parse_name
from framedex.sources.alignment import Stretch
from framedex.sources.calls import Span, WrittenCall


@dataclass(frozen=True, slots=True)
class Called:
    """The written form of a function's calls: its name, the kind of call, and its number of parameters (None: any)."""

    name: str
    kind: str  # call, construct, destroy, operator; memory: operator new and delete
    parameters: int | None


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A callee without a symbol: called by address, or through the pointer at `slot` (`CallInstruction`)."""

    target: int
    slot: int | None


Neighbours = Callable[[int], tuple[Sequence[Called | None], Sequence[Called | None]]]
"""The calls that run before and after a compiled call, nearest first; None for a callee without a name."""


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity, because results are cached per object
class Caller:
    """A function as written and as compiled.

    `sites` has the calls in its lines, by function and lambda. `compiled` has its calls in machine code, in address
    order (None: unknown callee); it is empty if the binary is missing. The callables take an index into `compiled`:
    `numbers` returns the constants that are passed, `texts` the strings that are passed. `jumps` has the indices of
    tail calls. `flow` returns the possible execution order. `compiler` is `clang`, `gcc`, or empty if unknown.
    """

    span: Span
    sites: Mapping[Span, Sequence[WrittenCall]]
    compiled: Sequence[Called | Unnamed | None]
    neighbours: Neighbours
    numbers: Callable[[int], Collection[int]] = lambda _: ()
    jumps: Collection[int] = ()
    texts: Callable[[int], Collection[bytes]] = lambda _: ()
    flow: Callable[[], Sequence[Stretch]] = lambda: ()
    compiler: str = ""


Reaches = Callable[[WrittenCall, Called, int], int]
"""How often the callee at a site calls the function, directly or within a number of hops; 0 if it never does."""


def called(symbol: str) -> Called | None:
    """The written form of calls to a function with this demangled name.

    Returns None if calls cannot be searched for: lambdas, call operators, conversions and names in braces.
    """
    name = parse_name(symbol)
    if not name.parts or name.key[-1] == LAMBDA:
        return None
    own = name.parts[-1].text
    parameters = name.parameters
    count = None if parameters is None or parameters[-1:] == ("...",) else len(parameters)
    if own in ("operator new", "operator new[]", "operator delete", "operator delete[]"):
        return Called(own, "memory", count)
    if own.startswith("operator"):
        return Called(own, "operator", None) if own != "operator()" and not own[8:9].isspace() else None
    if own.startswith("{"):
        return None
    # Demanglers print std::string's constructor as `std::string::basic_string`.
    scope = name.parts[-2].text if len(name.parts) > 1 else ""
    is_string = scope == "string" and own.removeprefix("~") == "basic_string"
    if own.startswith("~"):
        return Called("~string" if is_string else own, "destroy", 0)
    if is_string or own == scope:
        return Called(scope, "construct", count)
    return Called(own, "call", count)
