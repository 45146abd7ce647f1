"""The lines on which a frame can stand in its function's source, where no debug information says it.

The one door to `callline` for whoever has a stack: captures that are indexed, texts, cores, and the benchmark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from framedex.model import How, Location
from framedex.patterns import compiled_on_use
from framedex.sources.alignment import Stretch
from framedex.sources.bodies import Bodies
from framedex.sources.callers import Called, Caller, Unnamed, called
from framedex.sources.callline import call_line
from framedex.sources.calls import Span

if TYPE_CHECKING:  # few runs need it
    from framedex.binaries import Binary
    from framedex.binaries.code import CallInstruction, FunctionCode

_MOST_PLACES = 8
_OF_POINTER = compiled_on_use(r"(?:4_FUN|8__invoke)E")  # by GCC, by Clang
_MOST_CALLERS = 64  # functions to keep, as several frames of a stack and of others are in one


@dataclass(frozen=True, slots=True)
class Standing:
    """The lines (1-based) that a frame can stand on, the likeliest first, and how the first is known."""

    how: How
    lines: tuple[int, ...]

    def places(self, path: str) -> tuple[Location, ...]:
        """The lines in the file at `path`: the likeliest with how it is known, a few others as candidates."""
        first, *others = self.lines[:_MOST_PLACES]
        return Location(path, first, self.how), *(Location(path, line, How.CANDIDATES) for line in others)


class FrameLines:
    """Finds the lines of frames. Keeps the names of what binaries call, so an object lasts for one piece of work."""

    def __init__(self) -> None:
        self._called: dict[tuple[Binary, int], Called | None] = {}
        self._caller = lru_cache(_MOST_CALLERS)(self._make_caller)

    def find(
        self, path: str, span: Span, bodies: Bodies, binary: Binary | None, offset: int, callees: Sequence[str]
    ) -> Standing | None:
        """Where a frame stands in the function that is defined at `path`, in the lines of `span`; None if nobody knows.

        `bodies` has the calls of that file and of what they call. `offset` is the frame's return address, an address of
        the ELF file `binary`, which is None where it is not here. `callees` are the demangled names of the functions
        that it was seen to call from there: the next frame inward, of one stack or of several.
        """
        code = binary.code_around(offset - 1) if binary else None
        calls = code.calls if code else []
        caller = self._caller(span, path, bodies, binary, code)
        index = next((i for i, call in enumerate(calls) if call.returns_to == offset), None)
        answers = []
        target = calls[index].target if index is not None else 0
        for callee in filter(None, map(called, self._called_there(binary, target, callees))):
            how, lines = call_line(caller, callee, index, bodies.reaches)
            if how is not None:
                answers.append((how, lines))
        agreed = tuple(_agreed(answers))
        if not agreed:
            return None
        is_disputed = len({lines[0] for _, lines in answers}) > 1
        how = How.CANDIDATES if is_disputed else next(how for how, lines in answers if agreed[0] in lines)
        if how is How.SINGLE and binary is not None and _calls_a_lambda(binary, offset):
            how = How.INLINED_HOP
        return Standing(how, agreed)

    def places(
        self,
        definitions: Sequence[tuple[str, Span]],
        bodies: Bodies,
        binary: Binary | None,
        offset: int,
        callees: Sequence[str],
        is_certain: bool,
    ) -> tuple[Location, ...]:
        """Where a frame can stand in the functions, by path and lines, that its own can be; the likeliest place first.

        Unless it `is_certain` that its function is the only one of them, the lines are candidates, first those in what
        calls most of what the machine code calls: overloads and namesakes seldom call the same. See `find`.
        """
        found = {
            each: standing
            for each in definitions
            if (standing := self.find(*each, bodies, binary, offset, callees)) is not None
        }
        if is_certain:
            return tuple(place for (path, _), standing in found.items() for place in standing.places(path))
        compiled = self._names_in(binary, offset)
        likeliest = sorted(found, key=lambda each: -len(compiled & _names_written(bodies, *each)))
        places = (place for each in likeliest for place in found[each].places(each[0]))
        return tuple(replace(place, how=How.CANDIDATES) for place in islice(places, _MOST_PLACES))

    def _names_in(self, binary: Binary | None, offset: int) -> set[str]:
        code = binary.code_around(offset - 1) if binary else None
        names = (self._name(binary, call.target) for call in code.calls) if binary and code else ()
        return {each.name for each in names if each is not None}

    def _called_there(self, binary: Binary | None, target: int, callees: Sequence[str]) -> Sequence[str]:
        """The functions that a call is of, which the call's own target says better than the next frame inward.

        A function that ends in a call of another leaves its frame to that: the stack has the other in its place. Of
        equal functions that the linker has folded into one, any may be written.
        """
        if binary is None or not target:
            return callees
        return binary.functions_at(target) or callees

    def _make_caller(
        self, span: Span, path: str, bodies: Bodies, binary: Binary | None, code: FunctionCode | None
    ) -> Caller:
        written = bodies.written(path)
        if binary is None or code is None:
            return Caller(span, written, (), lambda _: ((), ()))

        def names(targets: Sequence[int]) -> list[Called | None]:
            return [self._name(binary, target) for target in targets]

        return Caller(
            span,
            written,
            [self._called_by(binary, call) for call in code.calls],
            lambda i: (names(code.before(i)), names(code.after(i))),
            code.numbers,
            frozenset(i for i, call in enumerate(code.calls) if call.returns_to == 0),
            lambda i: frozenset(filter(None, map(binary.text_at, code.addresses(i)))),
            lambda: [Stretch(calls, after) for calls, after in code.flow],
            binary.compiler,
        )

    def _called_by(self, binary: Binary, call: CallInstruction) -> Called | Unnamed | None:
        if call.target == 0 and call.slot is None:
            return None
        return self._name(binary, call.target) or Unnamed(call.target, call.slot)

    def _name(self, binary: Binary, target: int) -> Called | None:
        key = binary, target
        if key not in self._called:
            symbol = binary.function_at(target)
            self._called[key] = called(symbol) if symbol else None
        return self._called[key]


def _calls_a_lambda(binary: Binary, offset: int) -> bool:
    """Whether a function is what compilers make of a lambda that becomes a pointer: the lambda is inlined into it."""
    symbol = binary.symbols.find(offset - 1) if binary.symbols else None
    return symbol is not None and _OF_POINTER.search(symbol.mangled) is not None


def _names_written(bodies: Bodies, path: str, span: Span) -> set[str]:
    first, last = span
    written = bodies.written(path)
    inside = (each for each in written if first <= each[0] and each[1] <= last)
    return {call.callee for each in inside for call in written[each]}


def _agreed(answers: Sequence[tuple[How, tuple[int, ...]]]) -> Iterator[int]:
    """The lines that any answer has, those of most answers first: one return address is in one line."""
    lines = Counter(line for _, found in answers for line in dict.fromkeys(found))
    yield from (line for line, _ in lines.most_common())
