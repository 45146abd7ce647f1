"""Compare the loops of two recordings, round by round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from framedex.diff.aligning import plain_line
from framedex.diff.model import About, OfLoop, OfRound, Quantity
from framedex.diff.noise import time_of_all
from framedex.diff.quantities import counts_that_differ, each_that_differs
from framedex.model import PARTS_OF_STEPS

if TYPE_CHECKING:
    from framedex.diff.noise import Noise
    from framedex.model import Loop, PythonLine


def loops_that_differ(
    before: Sequence[Loop], after: Sequence[Loop], same: Mapping[PythonLine | None, PythonLine | None], noise: Noise
) -> Iterator[OfLoop]:
    """Yield the loops that differ. `same` maps lines of the first recording to lines of the second.

    Several loops of one line (of threads or captures) are paired in order. Loops are detected by repetition, so a loop
    of a single recording is not reported: only the differences in its lines are.
    """
    remaining = list(after)
    for loop in before:
        line = plain_line(loop.line)
        other = next((each for each in remaining if line in same and plain_line(each.line) == same[line]), None)
        if other is not None:
            remaining.remove(other)
            quantities = tuple(_of_all(loop, other, noise))
            rounds = tuple(_rounds(loop, other))
            if quantities or rounds:
                yield OfLoop(line, plain_line(other.line), quantities, rounds)


def _of_all(before: Loop, after: Loop, noise: Noise) -> Iterator[Quantity]:
    yield from counts_that_differ(About.CALLS, "rounds", "", before.rounds, after.rounds)
    for part in ("duration", *PARTS_OF_STEPS, "own"):
        one, other = (time_of_all([getattr(step, part) for step in loop.steps]) for loop in (before, after))
        yield from each_that_differs("quick round", "" if part == "duration" else part, one, other, noise)


def _rounds(before: Loop, after: Loop) -> Iterator[OfRound]:
    """Yield the rounds in both recordings that differ. The time of a single round is too short to compare."""
    others = {step.number: step for step in after.steps}
    for step in before.steps:
        other = others.get(step.number)
        if other is not None and bool(step.compile) != bool(other.compile):
            compiled = (int(each.compile > 0) or None for each in (step, other))
            yield OfRound(step.number, (Quantity(About.COMPILES, "compiles on its thread", "", *compiled),))
