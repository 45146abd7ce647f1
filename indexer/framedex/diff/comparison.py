"""Compare two recordings: their functions, lines, loops and devices."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from framedex.diff.alignment import LineTexts, align_lines, remove_link
from framedex.diff.model import DiffAspect, Differences, DiffSide, FunctionDiff, LineDiff, LoopDiff, Quantity, RoundDiff
from framedex.diff.noise import NO_TIME, MeasuredTime, summarize_times
from framedex.diff.recorded import RecordedLine, RecordingData, deletes_objects, read_recording
from framedex.diff.stack_paths import build_path_trees, merge_differing_paths
from framedex.index.ask.costs.compilations import compare_programs
from framedex.index.ask.costs.compile_inputs import remove_identity
from framedex.model import PARTS_OF_STEPS, ChangeCause
from framedex.texts.compilations import format_change, format_program_change

if TYPE_CHECKING:
    from framedex.diff.noise import MeasuredTime, NoiseThresholds
    from framedex.diff.recorded import Measurements, Part, RecordedFunction
    from framedex.index import Index
    from framedex.index.ask.costs.compilations import CompiledProgram
    from framedex.model import CompileChange, Loop, PythonLine
    from framedex.model.guidebook import PathNode


_Pair = tuple["PythonLine | None", "PythonLine | None"]
_Programs = tuple[str, "CompiledProgram", "CompiledProgram"]  # function, program before, program after


def compare_recordings(
    before: tuple[Index, DiffSide],
    after: tuple[Index, DiffSide],
    noise: NoiseThresholds,
    aspects: Collection[DiffAspect],
) -> Differences:
    """Compare two indexes, each restricted to the captures of its side, in these aspects."""
    left, right = read_recording(before[0]), read_recording(after[0])
    if _jaxlib_version(before[1]) != _jaxlib_version(after[1]):  # each release sets hundreds of its own options
        for line in (*left.lines.values(), *right.lines.values()):
            line.programs = {name: program.without_options() for name, program in line.programs.items()}
    pairs = _pair_lines(left, right)
    same = {one: other for one, other in pairs if _is_in_both((one, other))}
    lines = [_compare_line(pair, left, right, noise, aspects) for pair in pairs]
    different = [each for each in lines if each.quantities or each.paths or each.why]
    return Differences(
        before=before[1],
        after=after[1],
        functions=tuple(_compare_functions(left, right, noise, aspects)),
        lines=tuple(sorted(different, key=_sort_key)),
        loops=tuple(_select_loops(compare_loops(left.loops, right.loops, same, noise), aspects)),
        devices=_select_aspects(compare_measurements(left.devices, right.devices, noise), aspects),
        unchanged=len(lines) - len(different),
    )


def _jaxlib_version(side: DiffSide) -> str | None:
    return dict(side.versions).get("jaxlib")


def _pair_lines(left: RecordingData, right: RecordingData) -> list[_Pair]:
    sides = [{line: of.functions for line, of in each.lines.items() if line is not None} for each in (left, right)]
    unattributed: list[_Pair] = [(None, None)] if None in left.lines or None in right.lines else []
    return [*align_lines(sides[0], sides[1], LineTexts()), *unattributed]


def _is_in_both(pair: _Pair) -> bool:
    return (pair[0] is None) is (pair[1] is None)


def _compare_line(
    pair: _Pair, left: RecordingData, right: RecordingData, noise: NoiseThresholds, aspects: Collection[DiffAspect]
) -> LineDiff:
    is_in_both = _is_in_both(pair)
    one, other = (
        side.lines.get(line, RecordedLine()) if line is not None or is_in_both else RecordedLine()
        for side, line in zip((left, right), pair, strict=True)
    )
    figures = compare_measurements(one.figures, other.figures, noise)
    programs = list(_find_different_programs(one, other))
    ops = (each for function, before, after in programs for each in _compare_ops(function, before, after))
    quantities = _select_aspects((*figures, *ops), aspects)
    return LineDiff(
        before=pair[0],
        after=pair[1],
        quantities=quantities,
        paths=merge_differing_paths(_stack_paths(one), _stack_paths(other))
        if is_in_both and DiffAspect.STACK_PATHS in aspects
        else (),
        why=tuple(dict.fromkeys(_find_reasons(one, other, programs))) if DiffAspect.COMPILES in aspects else (),
        duration_before=one.duration,
        duration_after=other.duration,
    )


def _stack_paths(line: RecordedLine) -> tuple[PathNode, ...]:
    return build_path_trees(each for each in line.callees if not deletes_objects(each.function))


def _find_different_programs(before: RecordedLine, after: RecordedLine) -> Iterator[_Programs]:
    """Yield the functions compiled in both recordings whose first programs differ.

    With threads, the first of several programs may be arbitrary. Then only programs for the same arguments are
    compared.
    """
    for function in sorted(before.programs.keys() & after.programs.keys()):
        one, other = before.programs[function], after.programs[function]
        changes = compare_programs(one, other)
        compiled = {side.figures.counts[DiffAspect.COMPILES, "compiles", function] for side in (before, after)}
        if changes and (compiled == {1} or all(map(_changes_content, changes))):
            yield function, one, other


def _changes_content(change: CompileChange) -> bool:
    """Whether the programs differ only in their code or constants, not in their arguments or results."""
    if change.cause is ChangeCause.CODE:
        return not change.values
    return change.cause in (ChangeCause.CONSTANTS, ChangeCause.OBJECT_ID)


def _compare_ops(function: str, before: CompiledProgram, after: CompiledProgram) -> Iterator[Quantity]:
    for kind in sorted({*before.ops, *after.ops}):
        counts = before.ops.get(kind, 0), after.ops.get(kind, 0)
        yield from compare_counts(DiffAspect.COMPILES, f"ops of {function}", kind, *counts)


def _find_reasons(before: RecordedLine, after: RecordedLine, programs: Iterable[_Programs]) -> Iterator[str]:
    """Yield the changes between the programs, and reasons for recompilations that occur only in the later recording."""
    for function, one, other in programs:
        yield from (format_program_change(function, change) for change in compare_programs(one, other))
    known = set(map(_unordered_key, before.changes))
    yield from sorted({format_change(change) for change in after.changes if _unordered_key(change) not in known})


def _unordered_key(change: CompileChange) -> tuple[ChangeCause, str, frozenset[str]]:
    """Return a change as a key that does not depend on the order of threads."""
    return change.cause, change.what, frozenset(map(remove_identity, change.values))


def _compare_functions(
    left: RecordingData, right: RecordingData, noise: NoiseThresholds, aspects: Collection[DiffAspect]
) -> Iterator[FunctionDiff]:
    for name in sorted({*left.functions, *right.functions}):
        before, after = left.functions.get(name), right.functions.get(name)
        quantities = _select_aspects(_compare_function(before, after, noise), aspects)
        if quantities:
            calls = (each.totals.longest_call if each else None for each in (before, after))
            yield FunctionDiff(name, quantities, *calls)


def _compare_function(
    before: RecordedFunction | None, after: RecordedFunction | None, noise: NoiseThresholds
) -> Iterator[Quantity]:
    calls, errors, unreturned = zip(_sum_function_counts(before), _sum_function_counts(after), strict=True)
    yield from compare_counts(DiffAspect.CALLS, "calls", "", *calls)
    yield from compare_counts(DiffAspect.CALLS, "errors", "", *errors)
    yield from compare_counts(DiffAspect.CALLS, "never returned", "", *unreturned)
    yield from compare_quick_times("quick call", "", _sum_function_time(before), _sum_function_time(after), noise)


def _sum_function_time(function: RecordedFunction | None) -> MeasuredTime:
    return function.time if function else NO_TIME


def _sum_function_counts(function: RecordedFunction | None) -> tuple[int, int, int]:
    totals = function.totals if function else None
    return (totals.calls, totals.errors, totals.never_returned) if totals else (0, 0, 0)


def _select_aspects(quantities: Iterable[Quantity], aspects: Collection[DiffAspect]) -> tuple[Quantity, ...]:
    return tuple(each for each in quantities if each.about in aspects)


def _select_loops(loops: Iterable[LoopDiff], aspects: Collection[DiffAspect]) -> Iterator[LoopDiff]:
    for loop in loops:
        quantities = _select_aspects(loop.quantities, aspects)
        rounds = tuple(
            replace(each, quantities=chosen)
            for each in loop.rounds
            if (chosen := _select_aspects(each.quantities, aspects))
        )
        if quantities or rounds:
            yield replace(loop, quantities=quantities, rounds=rounds)


def _sort_key(line: LineDiff) -> tuple[bool, str, int, str]:
    """Return a sort key by file and line; calls without a program line come last."""
    shown = line.after or line.before
    return (False, shown.location.path, shown.location.line, shown.function) if shown else (True, "", 0, "")


def compare_loops(
    before: Sequence[Loop],
    after: Sequence[Loop],
    same: Mapping[PythonLine | None, PythonLine | None],
    noise: NoiseThresholds,
) -> Iterator[LoopDiff]:
    """Yield the loops that differ. `same` maps lines of the first recording to lines of the second.

    Several loops of one line (of threads or captures) are paired in order. Loops are detected by repetition, so a loop
    that only one recording has is not reported. The differences in its lines are.
    """
    remaining = list(after)
    for loop in before:
        line = remove_link(loop.line)
        other = next((each for each in remaining if line in same and remove_link(each.line) == same[line]), None)
        if other is not None:
            remaining.remove(other)
            quantities = tuple(_compare_totals(loop, other, noise))
            rounds = tuple(_compare_rounds(loop, other))
            if quantities or rounds:
                yield LoopDiff(line, remove_link(other.line), quantities, rounds)


def _compare_totals(before: Loop, after: Loop, noise: NoiseThresholds) -> Iterator[Quantity]:
    yield from compare_counts(DiffAspect.CALLS, "iterations", "", before.rounds, after.rounds)
    for part in ("duration", *PARTS_OF_STEPS, "own"):
        one, other = (summarize_times([getattr(step, part) for step in loop.steps]) for loop in (before, after))
        yield from compare_quick_times("quick iteration", "" if part == "duration" else part, one, other, noise)


def _compare_rounds(before: Loop, after: Loop) -> Iterator[RoundDiff]:
    """Yield the iterations that both recordings have and that differ in compilations.

    An iteration's time is too short to compare.
    """
    others = {step.number: step for step in after.steps}
    for step in before.steps:
        other = others.get(step.number)
        if other is not None and bool(step.compile) != bool(other.compile):
            compiled = (int(each.compile > 0) or None for each in (step, other))
            yield RoundDiff(step.number, (Quantity(DiffAspect.COMPILES, "compiles on its thread", "", *compiled),))


def compare_measurements(before: Measurements, after: Measurements, noise: NoiseThresholds) -> Iterator[Quantity]:
    """Yield counts and bytes that differ, and times that differ by more than noise."""
    for part in _sort_parts({*before.counts, *after.counts}):
        yield from compare_counts(*part, before.counts.get(part, 0), after.counts.get(part, 0))
    for part in _sort_parts({*before.times, *after.times}):
        yield from compare_total_times(part[1], part[2], before.time(part), after.time(part), noise)


def _sort_parts(parts: Iterable[Part]) -> list[Part]:
    """Return the parts sorted by name, independent of the durations in a recording."""
    return sorted(parts, key=lambda part: part[1:])


def compare_counts(about: DiffAspect, name: str, part: str, before: int, after: int) -> Iterator[Quantity]:
    """Yield the number if it differs."""
    if before != after:
        yield Quantity(about, name, part, before or None, after or None)


def compare_total_times(
    name: str, part: str, before: MeasuredTime, after: MeasuredTime, noise: NoiseThresholds
) -> Iterator[Quantity]:
    """Yield the total time if it differs by more than noise."""
    if noise.is_exceeded(before, after):
        yield Quantity(DiffAspect.TIMES, name, part, before.total or None, after.total or None)


def compare_quick_times(
    name: str, part: str, before: MeasuredTime, after: MeasuredTime, noise: NoiseThresholds
) -> Iterator[Quantity]:
    """Yield the quick time of one event if it differs by more than noise."""
    if noise.is_exceeded(before, after):
        yield Quantity(DiffAspect.TIMES, name, part, before.undisturbed or None, after.undisturbed or None)
