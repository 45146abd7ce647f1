"""The values of a profile's samples, and which of them is the weight that the index counts.

The index knows calls and their time. So one value of a profile is its weight: a time is the time of a call, any other
value is how many calls it stands for, in its own unit. What the others are stays with each call as its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from framedex.errors import FramedexError
from framedex.model import Function
from framedex.model.totals import PROFILE_BOUNDARY

_NANOSECONDS = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), 1),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "microsecond", "microseconds"), 1_000),  # two letters look like mu
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1_000_000),
    **dict.fromkeys(("s", "second", "seconds"), 1_000_000_000),
}
_COUNTS = frozenset(("count", "counts", "sample", "samples", "none", ""))


class Value(NamedTuple):
    """A value that samples have, such as `cpu` in `nanoseconds`."""

    name: str
    unit: str

    def __str__(self) -> str:
        return f"{self.name} ({self.unit or 'count'})"


class Weight(NamedTuple):
    """What a sample counts: so many calls, which took `duration` nanoseconds together."""

    calls: int
    duration: int


class Weighing:
    """Which of the values of a profile's samples is the weight."""

    def __init__(self, values: Sequence[Value], wanted: str | None, usual: int = -1) -> None:
        """`wanted` is the name of the value to weigh by; without it, that at the place `usual` is.

        Raises FramedexError where no value has that name.
        """
        names = [value.name for value in values]
        if wanted is not None and wanted not in names:
            raise FramedexError(
                f"Its samples have no value '{wanted}'.",
                f"Choose one of those that they have: {', '.join(dict.fromkeys(names))}.",
            )
        self._chosen = usual % len(values) if wanted is None else names.index(wanted)
        self._scale = _NANOSECONDS.get(values[self._chosen].unit.lower())
        before = self._chosen - 1  # how often stands before how long, beside which there may be more of both
        has_count = self._scale is not None and before >= 0 and values[before].unit.lower() in _COUNTS
        self._count = before if has_count else None
        told = {self._chosen, self._count}
        self._others = [(place, str(value)) for place, value in enumerate(values) if place not in told]
        self.value = values[self._chosen]
        self.names = tuple(names)

    @property
    def function(self) -> Function:
        """What the index has in place of the function that was called: the value, by its name and unit."""
        return Function(PROFILE_BOUNDARY, str(self.value))

    def weight(self, values: Sequence[int]) -> Weight:
        """The weight of a sample, by its values."""
        chosen = values[self._chosen]
        if self._scale is None:
            return Weight(chosen, 0)
        count = 0 if self._count is None else values[self._count]
        return Weight(count or int(chosen != 0), chosen * self._scale)

    def others(self, values: Sequence[int]) -> dict[str, int]:
        """The values of a sample that its weight does not tell."""
        return {name: values[place] for place, name in self._others}
