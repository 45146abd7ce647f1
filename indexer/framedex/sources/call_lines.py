"""The line of a call without debug information, chosen from the calls written in the caller.

The inputs are the caller's source, the callee's name, and the caller's machine code. The candidates are the written
calls with the callee's name. For a call from an inlined function, the candidate is the call of that function. Among
several candidates, the names of the preceding and following calls decide, with the constants and strings passed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from framedex.model import LocationEvidence
from framedex.sources.bodies import ASSERTION, CallerBody, CallForm, Reaches, UnnamedCallee
from framedex.sources.call_order import MAX_HOPS, CallOrder, find_lines
from framedex.sources.call_ranges import CallRanges
from framedex.sources.calls import WrittenCall
from framedex.sources.implicit import destroys, destroys_unknown_class, is_deletion, may_own
from framedex.sources.standard_library import REMAINING_CALLEES

_CONSTRUCTING_KINDS = frozenset(("call", "new", "braces", "variable", "initializer"))


_SIGNATURE = re.compile(rb"[^(]*\b(\w+)\([^\"]*\)[^()]*$")  # as `__PRETTY_FUNCTION__`


def find_call_lines(
    caller: CallerBody, callee: CallForm, instruction: int | None, reaches: Reaches
) -> tuple[LocationEvidence | None, tuple[int, ...]]:
    """Return how the line of a call is known and its possible lines, most likely first; (None, ()) if no call matches.

    `instruction` is the index of the call in `caller.compiled_calls`, or None if it is not there.
    """
    body = _read_cached_body(caller, reaches)
    if deletions := body.virtual_deletions(callee, instruction):
        return LocationEvidence.RANKED, body.sort_lines(callee, deletions, (), instruction)
    if callee.name == ASSERTION.name and instruction is not None and (found := body.find_assertion(instruction)):
        return found
    own_calls, nested = body.calls_named(callee)
    compiled = _count_compiled(caller, callee, instruction)
    is_certain = callee.kind == "call" and 0 < compiled <= len(own_calls)
    macros = body.macro_calls(callee)
    written = len(own_calls) or sum(reaches(site, callee, MAX_HOPS) for site in macros)
    comes_from_elsewhere = 0 < written < compiled
    if is_certain:
        direct, inlined_calls = own_calls, (*body.inlined_calls(callee, own_calls), *body.namesakes(callee))
    else:
        direct = [*own_calls, *nested] if own_calls else [*macros, *nested]
        if not direct and callee.kind == "destroy":
            return body.find_destructor_lines(callee, instruction)
        if callee.kind == "memory":
            return body.find_memory_lines(callee, direct, instruction)
        inlined_calls = body.inlined_calls(callee, direct)
    lines = body.lines_of(direct)
    if own_calls:
        known_lines = frozenset(lines)
        inlined_calls = (*inlined_calls, *(site for site in macros if site.line not in known_lines))
    if len(lines) == 1 and not inlined_calls and not comes_from_elsewhere:
        if not body.is_certain_line(callee, lines[0]):
            return LocationEvidence.RANKED, lines
        return (LocationEvidence.SINGLE if own_calls or macros else LocationEvidence.INLINED_HOP), lines
    if not direct:
        return body.find_lines_without_site(callee, inlined_calls, instruction)
    if 0 < compiled <= written:
        return LocationEvidence.RANKED, tuple(
            dict.fromkeys((*body.sort_lines(callee, direct, (), instruction), *find_lines(inlined_calls)))
        )
    return LocationEvidence.RANKED, body.sort_lines(callee, direct, inlined_calls, instruction)


def find_line_range(caller: CallerBody, instruction: int, reaches: Reaches) -> tuple[int, int] | None:
    """Return the first and last line of a compiled call, by the calls that run before and after it; None if unknown."""
    return _read_cached_body(caller, reaches).ranges.lines(instruction)


def _count_compiled(caller: CallerBody, callee: CallForm, instruction: int | None) -> int:
    """Count the occurrences of this call in the machine code, written or from an inlined function.

    Returns 0 if unknown: a call through a table of pointers may belong to another class with the same slot.
    """
    call = None if instruction is None else caller.compiled_calls[instruction]
    if isinstance(call, UnnamedCallee):
        return caller.compiled_calls.count(call) if call.target else 0
    return caller.compiled_calls.count(callee)


def _can_call(site: WrittenCall, callee: CallForm) -> bool:
    """Whether a written call can be a call of the callee. Default arguments allow fewer arguments, never more."""
    if callee.kind == "destroy":
        return destroys(site, callee.name)
    if callee.kind == "memory":
        return site.kind == "new" if "new" in callee.name else is_deletion(site, callee.name)
    if site.callee != callee.name or (site.kind == "operator") != (callee.kind == "operator"):
        return False
    if callee.kind == "call" and site.kind != "call":
        return False
    if callee.parameters is None or site.arguments is None:
        return True
    if callee.kind == "construct" and callee.parameters > 0 and site.arguments == 0:
        return False
    return site.arguments <= callee.parameters


@lru_cache(maxsize=32)
def _read_cached_body(caller: CallerBody, reaches: Reaches) -> _Body:
    """The written calls of a function, cached across its compiled calls."""
    return _Body(caller, reaches)


class _Body:
    """The calls written in a function, including those of its lambdas."""

    def __init__(self, caller: CallerBody, reaches: Reaches) -> None:
        first, last = caller.span
        self._caller = caller
        self._reaches = reaches
        self._own = self._with_compiler_lines(caller.written_calls.get(caller.span, ()))
        inside = [span for span in caller.written_calls if span != caller.span and first <= span[0] and span[1] <= last]
        nested = [site for span in inside for site in self._with_compiler_lines(caller.written_calls[span])]
        # The function's own calls are already in evaluation order, which differs from line order: f(\n g()).
        self._all = sorted([*self._own, *nested], key=lambda site: site.line) if nested else list(self._own)
        self.order = CallOrder(caller, self._all, reaches)
        self.ranges = CallRanges(caller, self._all, frozenset(self._own))

    def _with_compiler_lines(self, sites: Sequence[WrittenCall]) -> list[WrittenCall]:
        """The calls with the lines that the compiler assigns."""
        if self._caller.compiler != "gcc":
            return list(sites)
        return [site._replace(line=site.gcc_lines[0]) if site.gcc_lines else site for site in sites]

    def lines_of(self, sites: Sequence[WrittenCall]) -> tuple[int, ...]:
        """The lines of calls without duplicates, then the alternative lines of this compiler."""
        others = () if self._caller.compiler == "clang" else (line for site in sites for line in site.gcc_lines)
        return tuple(dict.fromkeys((*find_lines(sites), *others)))

    def sort_lines(
        self,
        callee: CallForm,
        direct: Sequence[WrittenCall],
        inlined_calls: Sequence[WrittenCall],
        instruction: int | None,
    ) -> tuple[int, ...]:
        """The possible lines of calls, most likely for this instruction first."""
        lines = self.order.sort_lines(callee, direct, inlined_calls, instruction)
        return tuple(dict.fromkeys((*lines, *self.lines_of([*direct, *inlined_calls]))))

    def calls_named(self, callee: CallForm) -> tuple[list[WrittenCall], list[WrittenCall]]:
        """The calls with the callee's name: in the function itself, then in its lambdas."""
        own = [site for site in self._own if _can_call(site, callee)]
        known = frozenset(own)
        return own, [site for site in self._all if _can_call(site, callee) and site not in known]

    def is_certain_line(self, callee: CallForm, line: int) -> bool:
        """Whether the only line with a call of the callee is certain.

        Operators are uncertain because built-in types have them too, and `assert` because macros without arguments can
        contain it. Copies are uncertain because inlined library code makes some. A destructor is uncertain if objects
        are destroyed on other lines: these may hold an object of its class. gcc may assign the line of the last
        initializer to the constructor of a base.
        """
        if callee.kind == "destroy":
            return all(site.line == line for site in self._all if site.kind == "destroy")
        if callee.kind == "construct" and self._caller.compiler != "clang":
            initializers = {site.line for site in self._all if site.kind == "initializer"}
            if line in initializers and len(initializers) > 1:
                return False
        return callee.kind != "operator" and callee.name != ASSERTION.name and not callee.is_copy

    def constructions_of(self, callee: CallForm) -> list[WrittenCall]:
        """The sites that construct an object of the callee's class with at most its number of parameters.

        Calls may omit arguments with defaults.
        """
        return [
            site
            for site in self._all
            if site.callee == callee.name
            and site.kind in _CONSTRUCTING_KINDS
            and (site.arguments is None or callee.parameters is None or site.arguments <= callee.parameters)
        ]

    def find_lines_without_site(
        self, callee: CallForm, inlined_calls: Sequence[WrittenCall], instruction: int | None
    ) -> tuple[LocationEvidence | None, tuple[int, ...]]:
        """The line of a call that is not written: in an inlined function, or an implicit construction."""
        if callee.kind == "construct" and (passing := self._find_calls_with_passed_string(instruction)):
            return LocationEvidence.RANKED, self.sort_lines(callee, passing, inlined_calls, instruction)
        if inlined_calls:
            return LocationEvidence.INLINED_HOP, self.sort_lines(callee, (), inlined_calls, instruction)
        if callee.kind != "construct":
            return None, ()
        if defaults := self.constructions_of(callee):
            return LocationEvidence.RANKED, self.sort_lines(callee, defaults, (), instruction)
        lines = self.order.lines_near(instruction, is_before=True)
        return (LocationEvidence.RANKED, lines) if lines else (None, ())

    def _find_calls_with_passed_string(self, instruction: int | None) -> list[WrittenCall]:
        """The calls with a literal that the instruction passes: `f("x")` converts it before `f` runs.

        Excludes constructions over several lines: a literal in their braces may be on a later line.
        """
        passed = frozenset(() if instruction is None else self._caller.passed_strings(instruction))
        sites = [site for site in self._all if not passed.isdisjoint(site.texts)] if passed else []
        return [site for site in sites if site.kind == "call" or max(site.gcc_lines, default=0) <= site.line]

    def find_destructor_lines(
        self, callee: CallForm, instruction: int | None
    ) -> tuple[LocationEvidence | None, tuple[int, ...]]:
        """The line of a destructor call if no object of its class is declared in the function.

        Objects that may hold such an object come first, with functions that destroy one. Then come objects of unknown
        classes, then the calls around the destructor, which may destroy a temporary.
        """
        near = [site for site in self._all if may_own(site, callee.name)] + self._inlined_calls_reaching(callee, 1)
        if near:
            return LocationEvidence.INLINED_HOP, self.sort_lines(callee, (), near, instruction)
        unknown = [site for site in self._all if destroys_unknown_class(site)]
        if far := self.inlined_calls(callee, ()):
            return LocationEvidence.INLINED_HOP, self.sort_lines(callee, unknown, far, instruction)
        if unknown:
            return LocationEvidence.RANKED, self.sort_lines(callee, unknown, (), instruction)
        if lines := self.order.lines_near(instruction, is_before=False, least=0):
            return LocationEvidence.RANKED, tuple(dict.fromkeys((*lines, self._caller.span[1])))
        return None, ()

    def virtual_deletions(self, callee: CallForm, instruction: int | None) -> list[WrittenCall]:
        """The sites that can delete an object through its virtual destructor, which is of any derived class.

        The destructor then frees the memory, often by a jump, which leaves no frame of its own.
        """
        called = None if instruction is None else self._caller.compiled_calls[instruction]
        if instruction is None or isinstance(called, CallForm) or (called is not None and called.target):
            return []
        if callee.kind != "destroy" and callee.name not in ("operator delete", "free"):
            return []
        if not any(site.kind in ("delete", "argument") for site in self._all):
            return []
        written = "~" if callee.kind == "destroy" else callee.name  # a call in the text can be this call too
        return [
            site
            for site in self._all
            if site.kind in ("delete", "argument") or (site.kind == "call" and site.callee.startswith(written))
        ]

    def find_assertion(self, instruction: int) -> tuple[LocationEvidence, tuple[int, ...]] | None:
        """The line of a failed `assert` by its arguments: its own line, and the function that contains it.

        In a function that was inlined here, the line is that of the function's call. None if nothing matches.
        """
        passed = self._caller.passed_numbers(instruction)
        own = [site for site in (*self.calls_named(ASSERTION)[0], *self.macro_calls(ASSERTION)) if site.line in passed]
        if own:
            return LocationEvidence.RANKED, self.sort_lines(ASSERTION, own, (), instruction)
        signatures = map(_SIGNATURE.match, self._caller.passed_strings(instruction))
        functions = [CallForm(each[1].decode("ascii", "replace"), "call", None) for each in signatures if each]
        sites = [
            site
            for site in self._all
            if any(site.callee == each.name or self._reaches(site, each, MAX_HOPS - 1) for each in functions)
        ]
        return (LocationEvidence.INLINED_HOP, self.sort_lines(ASSERTION, (), sites, instruction)) if sites else None

    def find_memory_lines(
        self, callee: CallForm, direct: Sequence[WrittenCall], instruction: int | None
    ) -> tuple[LocationEvidence | None, tuple[int, ...]]:
        """The line of an allocation or deallocation: a `new`, a `delete`, or a call of a function that contains one.

        A `new` in the text comes first if the machine code has no more calls: a virtual call may only look inlined.
        """
        inlined_calls = self._inlined_calls_reaching(callee, 1)
        if not direct and not inlined_calls:
            return None, ()
        if 0 < _count_compiled(self._caller, callee, instruction) <= len(direct) and "new" in callee.name:
            lines = self.sort_lines(callee, direct, (), instruction)
            return LocationEvidence.RANKED, tuple(dict.fromkeys((*lines, *find_lines(inlined_calls))))
        how = LocationEvidence.RANKED if direct else LocationEvidence.INLINED_HOP
        return how, self.sort_lines(callee, direct, inlined_calls, instruction)

    def macro_calls(self, callee: CallForm) -> list[WrittenCall]:
        """The calls of macros that call the callee, or that construct the object that it destroys."""
        forms = [callee]
        if callee.kind == "destroy":
            forms.append(CallForm(callee.name.removeprefix("~"), "construct", None))
        macros = [site for site in self._all if site.is_macro_call]
        return [site for site in macros if any(self._reaches(site, form, MAX_HOPS) for form in forms)]

    def inlined_calls(self, callee: CallForm, direct: Sequence[WrittenCall]) -> tuple[WrittenCall, ...]:
        """The calls of functions that were inlined here at least once and reach the callee.

        With `direct` calls of the callee, only a few hops are followed.
        """
        return tuple(self._inlined_calls_reaching(callee, 2 if direct else MAX_HOPS))

    def namesakes(self, callee: CallForm) -> list[WrittenCall]:
        """The calls with the callee's name but other parameters that were inlined at least once.

        Such a function may forward to the callee, as `swap(a, b)` does to `a.swap(b)`.
        """
        named = (site for site in self._all if site.callee == callee.name and site.kind == "call")
        return [site for site in named if not _can_call(site, callee) and self.order.is_inlined(site)]

    def _inlined_calls_reaching(self, callee: CallForm, hops: int) -> list[WrittenCall]:
        """The calls of functions that were inlined at least once and reach the callee within `hops` hops."""
        return [
            site
            for site in self._all
            if (site.kind != "operator" or callee.name in REMAINING_CALLEES)
            and not site.is_macro_call
            and site.callee != callee.name
            and self.order.is_inlined(site)
            and self._reaches(site, callee, hops)
        ]
