"""Chooses the value of a profile's samples that becomes the weight.

The index stores calls and their durations. A weight that is a time becomes the duration of a call. Any other weight
becomes a number of calls. The other values become arguments of the call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from framedex.base.errors import FramedexError
from framedex.model import Function
from framedex.model.totals import PROFILE_BOUNDARY

_NANOSECONDS = {
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), 1),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "microsecond", "microseconds"), 1_000),  # two letters look like mu
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1_000_000),
    **dict.fromkeys(("s", "second", "seconds"), 1_000_000_000),
}
_COUNTS = frozenset(("count", "counts", "sample", "samples", "none", ""))


class ValueType(NamedTuple):
    """A value that samples have, such as `cpu` in `nanoseconds`."""

    name: str
    unit: str

    def __str__(self) -> str:
        return f"{self.name} ({self.unit or 'count'})"


class SampleWeight(NamedTuple):
    """The weight of a sample: its number of calls, and their total `duration` in nanoseconds."""

    calls: int
    duration: int


class WeightRules:
    """Splits the values of a sample into its weight and the rest."""

    def __init__(self, values: Sequence[ValueType], wanted: str | None, usual: int = -1) -> None:
        """Choose the value named `wanted` as the weight; by default the one at index `usual`.

        Raises FramedexError if no value has that name.
        """
        names = [value.name for value in values]
        if wanted is not None and wanted not in names:
            raise FramedexError(
                f"Its samples have no value '{wanted}'.",
                f"Choose one of these: {', '.join(dict.fromkeys(names))}.",
            )
        self._chosen = usual % len(values) if wanted is None else names.index(wanted)
        self._scale = _NANOSECONDS.get(values[self._chosen].unit.lower())
        before = self._chosen - 1  # a count comes right before its time
        has_count = self._scale is not None and before >= 0 and values[before].unit.lower() in _COUNTS
        self._count = before if has_count else None
        used = {self._chosen, self._count}
        self._others = [(index, str(value)) for index, value in enumerate(values) if index not in used]
        self.value = values[self._chosen]
        self.names = tuple(names)

    @property
    def function(self) -> Function:
        """The function of all samples in the index, named after the value and its unit."""
        return Function(PROFILE_BOUNDARY, str(self.value))

    def weight(self, values: Sequence[int]) -> SampleWeight:
        """The weight of a sample with these values."""
        chosen = values[self._chosen]
        if self._scale is None:
            return SampleWeight(chosen, 0)
        count = 0 if self._count is None else values[self._count]
        return SampleWeight(count or int(chosen != 0), chosen * self._scale)

    def unweighted(self, values: Sequence[int]) -> dict[str, int]:
        """The values of a sample that are not in its weight."""
        return {name: values[place] for place, name in self._others}
