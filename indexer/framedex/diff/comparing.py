"""Compare two recordings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from framedex.costtext import change_text, program_text
from framedex.diff.aligning import LineTexts, aligned
from framedex.diff.loops import loops_that_differ
from framedex.diff.model import About, Differences, OfFunction, OfLine, OfLoop, Quantity, Side
from framedex.diff.noise import NO_TIME, Time
from framedex.diff.quantities import counts_that_differ, each_that_differs, figures_that_differ
from framedex.diff.recorded import Recorded, RecordedLine, ends_objects, recorded
from framedex.diff.roads import divided, roads_of
from framedex.index.ask.costs.programs import changes_between, without_identity
from framedex.model import Cause

if TYPE_CHECKING:
    from framedex.diff.noise import Noise
    from framedex.diff.recorded import RecordedFunction
    from framedex.index import Index
    from framedex.index.ask.costs.programs import CompiledProgram
    from framedex.model import Change, PythonLine
    from framedex.model.guidebook.observed import Road

_Pair = tuple["PythonLine | None", "PythonLine | None"]
_Programs = tuple[str, "CompiledProgram", "CompiledProgram"]  # function, program before, program after


def differences(
    before: tuple[Index, Side], after: tuple[Index, Side], noise: Noise, wanted: Collection[About]
) -> Differences:
    """Compare two indexes, each restricted to the captures of its side, in the `wanted` aspects."""
    left, right = recorded(before[0]), recorded(after[0])
    if _xla(before[1]) != _xla(after[1]):  # each release sets hundreds of its own options
        for line in (*left.lines.values(), *right.lines.values()):
            line.programs = {name: program.without_options() for name, program in line.programs.items()}
    pairs = _pairs(left, right)
    same = {one: other for one, other in pairs if _is_in_both((one, other))}
    lines = [_line(pair, left, right, noise, wanted) for pair in pairs]
    different = [each for each in lines if each.quantities or each.roads or each.why]
    return Differences(
        before=before[1],
        after=after[1],
        functions=tuple(_functions(left, right, noise, wanted)),
        lines=tuple(sorted(different, key=_place)),
        loops=tuple(_chosen_loops(loops_that_differ(left.loops, right.loops, same, noise), wanted)),
        devices=_chosen(figures_that_differ(left.devices, right.devices, noise), wanted),
        unchanged=len(lines) - len(different),
    )


def _xla(side: Side) -> str | None:
    return dict(side.versions).get("jaxlib")


def _pairs(left: Recorded, right: Recorded) -> list[_Pair]:
    sides = [{line: of.functions for line, of in each.lines.items() if line is not None} for each in (left, right)]
    nowhere: list[_Pair] = [(None, None)] if None in left.lines or None in right.lines else []
    return [*aligned(sides[0], sides[1], LineTexts()), *nowhere]


def _is_in_both(pair: _Pair) -> bool:
    return (pair[0] is None) is (pair[1] is None)


def _line(pair: _Pair, left: Recorded, right: Recorded, noise: Noise, wanted: Collection[About]) -> OfLine:
    is_in_both = _is_in_both(pair)
    one, other = (
        side.lines.get(line, RecordedLine()) if line is not None or is_in_both else RecordedLine()
        for side, line in zip((left, right), pair, strict=True)
    )
    figures = figures_that_differ(one.figures, other.figures, noise)
    programs = list(_programs_that_differ(one, other))
    ops = (each for function, before, after in programs for each in _ops(function, before, after))
    quantities = _chosen((*figures, *ops), wanted)
    return OfLine(
        before=pair[0],
        after=pair[1],
        quantities=quantities,
        roads=divided(_roads(one), _roads(other)) if is_in_both and About.ROADS in wanted else (),
        why=tuple(dict.fromkeys(_why(one, other, programs))) if About.COMPILES in wanted else (),
        duration_before=one.duration,
        duration_after=other.duration,
    )


def _roads(line: RecordedLine) -> tuple[Road, ...]:
    return roads_of(each for each in line.below if not ends_objects(each.function))


def _programs_that_differ(before: RecordedLine, after: RecordedLine) -> Iterator[_Programs]:
    """Yield the functions compiled in both recordings whose first programs differ.

    With threads, the first of several programs may be arbitrary. Then only programs for the same arguments are
    compared.
    """
    for function in sorted(before.programs.keys() & after.programs.keys()):
        one, other = before.programs[function], after.programs[function]
        changes = changes_between(one, other)
        compiled = {side.figures.counts[About.COMPILES, "compiles", function] for side in (before, after)}
        if changes and (compiled == {1} or all(map(_is_of_content, changes))):
            yield function, one, other


def _is_of_content(change: Change) -> bool:
    """Whether a change is between programs for the same arguments, with the same results."""
    return change.cause is Cause.CONSTANTS or (change.cause is Cause.CODE and not change.values)


def _ops(function: str, before: CompiledProgram, after: CompiledProgram) -> Iterator[Quantity]:
    for kind in sorted({*before.ops, *after.ops}):
        counts = before.ops.get(kind, 0), after.ops.get(kind, 0)
        yield from counts_that_differ(About.COMPILES, f"ops of {function}", kind, *counts)


def _why(before: RecordedLine, after: RecordedLine, programs: Iterable[_Programs]) -> Iterator[str]:
    """Yield the changes in programs, and the reasons for recompilations that only the later recording has."""
    for function, one, other in programs:
        yield from (program_text(function, change) for change in changes_between(one, other))
    known = set(map(_in_any_order, before.changes))
    yield from sorted({change_text(change) for change in after.changes if _in_any_order(change) not in known})


def _in_any_order(change: Change) -> tuple[Cause, str, frozenset[str]]:
    """Return a change as a key that does not depend on the order of threads."""
    return change.cause, change.what, frozenset(map(without_identity, change.values))


def _functions(left: Recorded, right: Recorded, noise: Noise, wanted: Collection[About]) -> Iterator[OfFunction]:
    for name in sorted({*left.functions, *right.functions}):
        before, after = left.functions.get(name), right.functions.get(name)
        quantities = _chosen(_of_function(before, after, noise), wanted)
        if quantities:
            calls = (each.totals.longest_call if each else None for each in (before, after))
            yield OfFunction(name, quantities, *calls)


def _of_function(before: RecordedFunction | None, after: RecordedFunction | None, noise: Noise) -> Iterator[Quantity]:
    calls, errors, unreturned = zip(_counts(before), _counts(after), strict=True)
    yield from counts_that_differ(About.CALLS, "calls", "", *calls)
    yield from counts_that_differ(About.CALLS, "errors", "", *errors)
    yield from counts_that_differ(About.CALLS, "never returned", "", *unreturned)
    yield from each_that_differs("quick call", "", _time(before), _time(after), noise)


def _time(function: RecordedFunction | None) -> Time:
    return function.time if function else NO_TIME


def _counts(function: RecordedFunction | None) -> tuple[int, int, int]:
    totals = function.totals if function else None
    return (totals.calls, totals.errors, totals.never_returned) if totals else (0, 0, 0)


def _chosen(quantities: Iterable[Quantity], wanted: Collection[About]) -> tuple[Quantity, ...]:
    return tuple(each for each in quantities if each.about in wanted)


def _chosen_loops(loops: Iterable[OfLoop], wanted: Collection[About]) -> Iterator[OfLoop]:
    for loop in loops:
        quantities = _chosen(loop.quantities, wanted)
        rounds = tuple(
            replace(each, quantities=chosen) for each in loop.rounds if (chosen := _chosen(each.quantities, wanted))
        )
        if quantities or rounds:
            yield replace(loop, quantities=quantities, rounds=rounds)


def _place(line: OfLine) -> tuple[bool, str, int, str]:
    """Return a sort key by file and line; calls without a program line come last."""
    shown = line.after or line.before
    return (False, shown.location.path, shown.location.line, shown.function) if shown else (True, "", 0, "")
