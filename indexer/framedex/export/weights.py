"""The stacks of an export with what their calls come to, in the units that formats of samples have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.export.content import Content
    from framedex.index.ask.call.exported import Labelling
    from framedex.model.exported import KindRow, Weights


class Weight(StrEnum):
    """What a stack is weighed by."""

    TIME = "time"  # ns in its calls, without those made in them, which have stacks of their own
    CALLS = "calls"
    BYTES = "bytes"  # of the objects that the calls created

    @property
    def unit(self) -> str:
        """The unit, as pprof has it."""
        return {Weight.TIME: "nanoseconds", Weight.CALLS: "count", Weight.BYTES: "bytes"}[self]

    def of(self, weights: Weights) -> int:
        """This one of what calls come to; clocks that disagree make no time negative."""
        return max({Weight.TIME: weights.time, Weight.CALLS: weights.calls, Weight.BYTES: weights.bytes}[self], 0)


def usual_weight(content: Content) -> Weight:
    """What stacks are weighed by if nobody says: calls where none took time, as in profiles that count samples."""
    return Weight.TIME if content.calls.took_time else Weight.CALLS


@dataclass(frozen=True, slots=True)
class Sample:
    """What the calls of a kind with one label come to: one in each weight, in their order."""

    kind: KindRow
    label: tuple[str, ...]
    weights: Weights

    @property
    def values(self) -> list[int]:
        """The values of all weights."""
        return [weight.of(self.weights) for weight in Weight]


def samples(content: Content, labelling: Labelling | None = None) -> Iterator[Sample]:
    """The calls by their kinds, told apart by the label of their arguments where one is given."""
    for (kind, label), weights in content.calls.weights(labelling).items():
        if weights.calls:
            yield Sample(content.kind(kind), label, weights)
