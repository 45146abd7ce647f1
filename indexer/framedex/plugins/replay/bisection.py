"""Bisect the program of the first execution with NaN, or with a difference: find the op where it begins."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from framedex.plugins.replay.comparison import (
    ElementMask,
    Tolerance,
    compute_difference_mask,
    compute_infinity_mask,
    compute_nan_mask,
)
from framedex.plugins.replay.isolation import CannotProbeError, isolate
from framedex.plugins.replay.judging import Bisection, Difference, NonFinite, judge_against, judge_reads
from framedex.plugins.replay.origins import Measure, find_origin
from framedex.plugins.replay.plan import Plan
from framedex.plugins.replay.probes import Prober
from framedex.plugins.replay.runner import Array, Target

_UNSUITABLE = "the mock TPU does not give the recorded content either: name a plug-in that does with --against"


def bisect_non_finite(plan: Plan, target: Target, found: NonFinite, seed: int) -> Bisection:
    """Find the op in which the NaN or the infinity of a result begins."""
    return _bisect(plan, found.row, found.index, [target], build_non_finite_mask(has_nan=found.nans > 0), seed)


def bisect_difference(
    plan: Plan, targets: Sequence[Target], tolerance: Tolerance, first: Difference, seed: int, *, is_recorded: bool
) -> Bisection | None:
    """Find the op in which a difference between two targets begins; None if no execution computed the content.

    If the difference is from the recording (`is_recorded`), the second target must reproduce the recorded content.
    """
    if first.execution is None:
        return None
    found = find_first_differing_result(plan, targets, tolerance, first, seed, is_recorded=is_recorded)
    if isinstance(found, str):
        return Bisection(first.execution, None, found)
    return _bisect(plan, *found, targets, build_difference_mask(tolerance), seed)


def find_first_differing_result(
    plan: Plan, targets: Sequence[Target], tolerance: Tolerance, first: Difference, seed: int, *, is_recorded: bool
) -> tuple[int, int] | str:
    """Return the row of the first execution that differs, and the index of a result; or a reason why it is unknown."""
    assert first.execution is not None
    target, reference = targets
    number = [each.row for each in plan.executions].index(first.execution) + 1
    before = plan.restrict(number, number)
    if is_recorded and judge_reads(before, reference, tolerance, seed=seed).status:
        return _UNSUITABLE
    if first.row == first.execution:
        return first.row, first.index
    if len(before.executions) == 1:
        return first.execution, before.result_index(next(each for each in before.operations if each.row == first.row))
    verdict = judge_against(before, target, reference, tolerance, seed=seed, every_output=True)
    computed = [each for each in verdict.differences if each.row == each.execution]
    if not computed:
        return "the results of executions do not differ from the reference"
    earliest = min(computed, key=lambda each: each.row)
    return earliest.row, earliest.index


def build_non_finite_mask(*, has_nan: bool) -> Measure:
    """Return the measure that finds NaN, or infinities."""
    places = compute_nan_mask if has_nan else compute_infinity_mask

    def find_wrong(arrays: Sequence[Array]) -> ElementMask:
        return places(arrays[0].type, arrays[0].content)

    return find_wrong


def build_difference_mask(tolerance: Tolerance) -> Measure:
    """Return the measure that finds differences between the arrays of two targets."""

    def find_wrong(arrays: Sequence[Array]) -> ElementMask:
        here, other = arrays
        return compute_difference_mask(here.type, other.content, here.content, tolerance)

    return find_wrong


def _bisect(plan: Plan, row: int, result: int, targets: Sequence[Target], find_wrong: Measure, seed: int) -> Bisection:
    """Isolate an execution, with arguments that the last target computes, and search its program."""
    execution = next(each for each in plan.executions if each.row == row)
    try:
        with tempfile.TemporaryDirectory(prefix="framedex-replay-") as folder:
            isolated = isolate(plan, execution, targets[-1], seed, Path(folder))
            with Prober(isolated, targets) as prober:
                return Bisection(row, find_origin(prober, result, find_wrong)[0])
    except CannotProbeError as error:
        return Bisection(row, None, str(error))
