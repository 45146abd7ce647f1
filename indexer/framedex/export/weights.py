"""Weighted stacks of an export, in the units of sample formats."""

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
    """The weight of a stack."""

    TIME = "time"  # ns in its calls, without nested calls, which have their own stacks
    CALLS = "calls"
    BYTES = "bytes"  # size of the objects that the calls created

    @property
    def unit(self) -> str:
        """The unit, in pprof's words."""
        return {Weight.TIME: "nanoseconds", Weight.CALLS: "count", Weight.BYTES: "bytes"}[self]

    def of(self, weights: Weights) -> int:
        """Return this weight; at least 0, even if the clocks disagree."""
        return max({Weight.TIME: weights.time, Weight.CALLS: weights.calls, Weight.BYTES: weights.bytes}[self], 0)


def usual_weight(content: Content) -> Weight:
    """Return the default weight: time, or calls if no call took time, as in profiles that count samples."""
    return Weight.TIME if content.calls.took_time else Weight.CALLS


@dataclass(frozen=True, slots=True)
class Sample:
    """The calls of one kind with one label, and their weights."""

    kind: KindRow
    label: tuple[str, ...]
    weights: Weights

    @property
    def values(self) -> list[int]:
        """The values of all weights, in the order of `Weight`."""
        return [weight.of(self.weights) for weight in Weight]


def samples(content: Content, labelling: Labelling | None = None) -> Iterator[Sample]:
    """Yield the calls by kind and by the label of their arguments, if `labelling` is given."""
    for (kind, label), weights in content.calls.weights(labelling).items():
        if weights.calls:
            yield Sample(content.kind(kind), label, weights)
