"""Rank the lines of a comparison by how much worse they got, to find regressions."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.diff.model import IN_THE_RUNTIME, About

if TYPE_CHECKING:
    from framedex.diff.model import OfLine, Quantity

MIN_BYTES = 1 << 20
"""Minimum change of a line's bytes that makes it worse or better."""

_COMPILES = ("compiles", "failed compiles")


class Verdict(enum.Enum):
    """How the cost of a line changed. The members are in display order."""

    WORSE = "worse"
    BETTER = "better"
    OTHER = "other"


def verdict_of(line: OfLine) -> Verdict:
    """Judge a line by its times beyond noise, else by its compilations, else by its bytes; OTHER without any."""
    for change in (_time_change(line), _change(_compiles(line)), _change(_bytes(line), MIN_BYTES)):
        if change:
            return Verdict.WORSE if change > 0 else Verdict.BETTER
    return Verdict.OTHER


@dataclass(frozen=True, slots=True)
class Cost:
    """A time of a line in both captures, ns, and its name: in the runtime, or the one that differs most."""

    name: str
    before: int
    after: int

    @property
    def change(self) -> int:
        """How much longer the line took, ns."""
        return self.after - self.before


def cost_of(line: OfLine) -> Cost:
    """Return the line's time in the runtime, unless another time beyond noise, such as waiting, changed more."""
    runtime = Cost(IN_THE_RUNTIME, line.duration_before, line.duration_after)
    others = [Cost(f"{each.name} {each.of}".strip(), each.before or 0, each.after or 0) for each in _times(line)]
    return max((runtime, *others), key=lambda cost: abs(cost.change))


def worst_first(lines: Iterable[OfLine]) -> list[tuple[Verdict, OfLine]]:
    """Sort lines: worse ones by how much, then better ones by how much, then the others in their order."""
    judged = [(verdict_of(line), line) for line in lines]
    order = {verdict: number for number, verdict in enumerate(Verdict)}
    sizes = {Verdict.WORSE: -1, Verdict.BETTER: 1, Verdict.OTHER: 0}
    return sorted(judged, key=lambda each: (order[each[0]], sizes[each[0]] * cost_of(each[1]).change))


def _time_change(line: OfLine) -> int:
    """Return the largest change of a time beyond noise, in ns; 0 if there is none."""
    return max((each.change for each in _times(line)), key=abs, default=0)


def _times(line: OfLine) -> Iterable[Quantity]:
    return (each for each in line.quantities if each.about is About.TIMES)


def _compiles(line: OfLine) -> Iterable[Quantity]:
    return (each for each in line.quantities if each.about is About.COMPILES and each.name in _COMPILES)


def _bytes(line: OfLine) -> Iterable[Quantity]:
    return (each for each in line.quantities if each.about is About.BYTES)


def _change(quantities: Iterable[Quantity], least: int = 1) -> int:
    """Return the sum of all changes; 0 if it is smaller than `least`."""
    change = sum(each.change for each in quantities)
    return change if abs(change) >= least else 0
