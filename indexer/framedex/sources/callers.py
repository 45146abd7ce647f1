"""A function as it is written and as it was compiled: what finds the lines of calls compares the two."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from framedex.binaries.names import LAMBDA, parse_name
from framedex.sources.alignment import Stretch
from framedex.sources.calls import Span, WrittenCall


@dataclass(frozen=True, slots=True)
class Called:
    """How calls of a function are written: its name, what kind of call, and how many parameters (None: any)."""

    name: str
    kind: str  # call, construct, destroy, operator; memory: operator new and delete
    parameters: int | None


@dataclass(frozen=True, slots=True)
class Unnamed:
    """What is called without a name: at an address, or through the pointer at `slot` (`CallInstruction`)."""

    target: int
    slot: int | None


Neighbours = Callable[[int], tuple[Sequence[Called | None], Sequence[Called | None]]]
"""What runs before and after a call of the machine code, nearest first; None for a function without a name."""


@dataclass(frozen=True, slots=True, eq=False)  # each is itself: what is found out about one is kept
class Caller:
    """A function as it is written and as it was compiled.

    `sites` are the calls in its lines, by function and lambda; `compiled` its calls in machine code in order of
    address (None: nothing tells what is called), empty where the binary is not there. `numbers` are the constants that
    the machine code passes to one of them; `jumps` those that are jumps, in place of a call that ends the function;
    `texts` are those that it passes, `flow` is in which order they can run. `compiler`: clang, gcc, or empty where
    nobody knows.
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
"""How often what is called there calls the called, itself or through so many others; 0 for not at all."""


def called(symbol: str) -> Called | None:
    """How a function of this demangled name is called; None where that cannot be looked for, as with destructors."""
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
    # Of std::string, the demangled name has `basic_string` for its last part alone.
    scope = name.parts[-2].text if len(name.parts) > 1 else ""
    is_string = scope == "string" and own.removeprefix("~") == "basic_string"
    if own.startswith("~"):
        return Called("~string" if is_string else own, "destroy", 0)
    if is_string or own == scope:
        return Called(scope, "construct", count)
    return Called(own, "call", count)
