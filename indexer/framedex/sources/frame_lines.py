"""The possible lines of a frame in its function's source, for frames without debug information.

This is the only entry point to `call_lines` for code with stacks: indexed captures, texts, cores, and the benchmark.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from framedex.base.lazy import compile_on_use
from framedex.model import Location, LocationEvidence
from framedex.sources.bodies import BasicBlock, CallerBody, CallForm, FunctionBodies, UnnamedCallee, call_form_of
from framedex.sources.call_lines import find_call_lines, find_line_range
from framedex.sources.calls import Span

if TYPE_CHECKING:  # most runs do not need it
    from framedex.binaries import Binary
    from framedex.binaries.code import CallInstruction, FunctionCode

_MAX_LOCATIONS = 8
# A lambda as a function pointer, by GCC and by Clang; the functions that NB_MODULE and PYBIND11_MODULE register.
_WRAPPER = compile_on_use(r"(?:4_FUN|8__invoke)E|_ZL\d+(?:nanobind_\w+_exec|pybind11_exec_\w+)P7_object$")
_DELETING_DESTRUCTOR = compile_on_use(r"D0Ev$")
_MAX_CALLERS = 64  # the number of cached functions: frames of several stacks share a function


@dataclass(frozen=True, slots=True)
class LineEstimate:
    """The possible lines (1-based) of a frame, most likely first, and how the first is known.

    For a range (`between`), `lines` has its first and last line.
    """

    how: LocationEvidence
    lines: tuple[int, ...]

    def locations_in(self, path: str) -> tuple[Location, ...]:
        """The lines as locations in the file at `path`: the most likely first, then a few others as candidates.

        A range is one location.
        """
        if self.how is LocationEvidence.BETWEEN:
            first, last = self.lines
            return (Location(path, first, self.how, last_line=last),)
        first, *others = self.lines[:_MAX_LOCATIONS]
        return Location(path, first, self.how), *(Location(path, line, LocationEvidence.CANDIDATES) for line in others)


class FrameLines:
    """Finds the lines of frames. Caches the callee names of binaries, so use one object per task."""

    def __init__(self) -> None:
        self._callees: defaultdict[Binary, dict[int, CallForm | None]] = defaultdict(dict)
        self._caller = lru_cache(_MAX_CALLERS)(self._make_caller)

    def find(
        self, path: str, span: Span, bodies: FunctionBodies, binary: Binary | None, offset: int, callees: Sequence[str]
    ) -> LineEstimate | None:
        """The possible lines of a frame in the function defined in `span` of the file `path`; None if unknown.

        `bodies` finds the calls in that file and in the callees. `offset` is the frame's return address in the ELF file
        `binary`, which is None if it is missing. `callees` are the demangled names of the functions that the frame
        called: the next inner frames, from one or several stacks.
        """
        code = binary.code_around(offset - 1) if binary else None
        calls = code.calls if code else []
        caller = self._caller(span, path, bodies, binary, code)
        index = next((i for i, call in enumerate(calls) if call.return_address == offset), None)
        answers = []
        target = calls[index].target if index is not None else 0
        symbols = self._find_callees(binary, target, callees)
        if binary is not None and _find_deleting_destructor(binary, offset) in symbols:
            line = span[1] if binary.compiler == "gcc" else bodies.find_opening_line(path, span)
            return LineEstimate(LocationEvidence.RANKED, (line,))
        for callee in filter(None, map(call_form_of, symbols)):
            how, lines = find_call_lines(caller, callee, index, bodies.reaches)
            if how is not None:
                answers.append((how, lines))
        found = _merge_answers(answers)
        is_single = found is not None and found.how is LocationEvidence.SINGLE
        if binary is not None and _is_wrapper(binary, offset):
            return replace(found, how=LocationEvidence.INLINED_HOP) if found and is_single else found
        if index is None or is_single:
            return found
        return _narrow_lines(found, find_line_range(caller, index, bodies.reaches))

    def find_locations(
        self,
        definitions: Sequence[tuple[str, Span]],
        bodies: FunctionBodies,
        binary: Binary | None,
        offset: int,
        callees: Sequence[str],
        is_certain: bool,
    ) -> tuple[Location, ...]:
        """The possible locations of a frame, most likely first, with several possible functions.

        `definitions` has the functions by path and lines. Unless `is_certain` says that only one is possible, all lines
        are candidates. Definitions that share most callees with the machine code come first, because overloads and
        namesakes rarely make the same calls. See `find`.
        """
        found = {
            each: standing
            for each in definitions
            if (standing := self.find(*each, bodies, binary, offset, callees)) is not None
            and (is_certain or standing.how is not LocationEvidence.BETWEEN)
        }
        if is_certain:
            return tuple(place for (path, _), standing in found.items() for place in standing.locations_in(path))
        compiled = self._compiled_names(binary, offset)
        likeliest = sorted(found, key=lambda each: -len(compiled & _find_written_names(bodies, *each)))
        places = (place for each in likeliest for place in found[each].locations_in(each[0]))
        return tuple(replace(place, how=LocationEvidence.CANDIDATES) for place in islice(places, _MAX_LOCATIONS))

    def _compiled_names(self, binary: Binary | None, offset: int) -> set[str]:
        code = binary.code_around(offset - 1) if binary else None
        names = (self._callee_at(binary, call.target) for call in code.calls) if binary and code else ()
        return {each.name for each in names if each is not None}

    def _find_callees(self, binary: Binary | None, target: int, callees: Sequence[str]) -> Sequence[str]:
        """The possible callees of a call. The target in the machine code is more reliable than the next inner frame.

        A function that ends in a tail call is replaced by the callee on the stack. If the linker folded identical
        functions, the source may call any of them.
        """
        if binary is None or not target:
            return callees
        return binary.function_names_at(target) or callees

    def _make_caller(
        self, span: Span, path: str, bodies: FunctionBodies, binary: Binary | None, code: FunctionCode | None
    ) -> CallerBody:
        written = bodies.calls_in_file(path)
        if binary is None or code is None:
            return CallerBody(span, written, (), lambda _: ((), ()))

        def names(targets: Sequence[int]) -> list[CallForm | None]:
            return [self._callee_at(binary, target) for target in targets]

        return CallerBody(
            span,
            written,
            self._find_compiled_calls(binary, code.calls),
            lambda i: (names(code.calls_before(i)), names(code.calls_after(i))),
            code.constants_before,
            frozenset(i for i, call in enumerate(code.calls) if call.return_address == 0),
            lambda i: frozenset(filter(None, map(binary.text_at, code.addresses_before(i)))),
            lambda: [BasicBlock(*block) for block in code.control_flow],
            binary.compiler,
            code.endless_calls,
        )

    def _find_compiled_calls(
        self, binary: Binary, calls: Sequence[CallInstruction]
    ) -> list[CallForm | UnnamedCallee | None]:
        callees = {target: self._callee_at(binary, target) for target in {call.target for call in calls}}
        return [
            callees[target] or (UnnamedCallee(target, slot) if target or slot is not None else None)
            for _, target, slot in calls
        ]

    def _callee_at(self, binary: Binary, target: int) -> CallForm | None:
        callees = self._callees[binary]
        if target not in callees:
            symbol = binary.function_at(target)
            callees[target] = call_form_of(symbol) if symbol else None
        return callees[target]


def _is_wrapper(binary: Binary, offset: int) -> bool:
    """Whether a function is a wrapper, by the compiler or a macro, with the written function inlined into it."""
    symbol = binary.symbols.find(offset - 1) if binary.symbols else None
    return symbol is not None and _WRAPPER.search(symbol.mangled) is not None


def _find_deleting_destructor(binary: Binary, offset: int) -> str | None:
    """The name of the destructor around an offset that also frees the memory; None for another function.

    It calls the destructor without deallocation, which has the same name: clang on the line of the opening brace, gcc
    on that of the closing brace.
    """
    symbol = binary.symbols.find(offset - 1) if binary.symbols else None
    return binary.function_at(symbol.start) if symbol and _DELETING_DESTRUCTOR.search(symbol.mangled) else None


def _find_written_names(bodies: FunctionBodies, path: str, span: Span) -> set[str]:
    first, last = span
    written = bodies.calls_in_file(path)
    inside = (each for each in written if first <= each[0] and each[1] <= last)
    return {call.callee for each in inside for call in written[each]}


def _merge_answers(answers: Sequence[tuple[LocationEvidence, tuple[int, ...]]]) -> LineEstimate | None:
    """The lines from all answers, most frequent first, because a return address has only one line."""
    counts = Counter(line for _, found in answers for line in dict.fromkeys(found))
    lines = tuple(line for line, _ in counts.most_common())
    if not lines:
        return None
    is_disputed = len({found[0] for _, found in answers}) > 1
    how = next(how for how, found in answers if lines[0] in found)
    return LineEstimate(LocationEvidence.CANDIDATES if is_disputed else how, lines)


def _narrow_lines(found: LineEstimate | None, line_range: tuple[int, int] | None) -> LineEstimate | None:
    """Put the lines in the range before the others; if no line is in the range, return the range itself."""
    if line_range is None:
        return found
    first, last = line_range
    inside = [line for line in found.lines if first <= line <= last] if found else []
    if found is None or not inside:
        return LineEstimate(LocationEvidence.BETWEEN, line_range)
    return LineEstimate(found.how, tuple(dict.fromkeys((*inside, *found.lines))))
