"""The totals of samples in imported profiles, by function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from framedex.model import FunctionRow


PROFILE: Final = "profile"
"""The boundary name of samples from imported profiles."""


@dataclass(frozen=True, slots=True)
class SampledFunction:
    """A function with the weight of the samples that ended in it, and of those with it on their stack."""

    function: FunctionRow
    self_weight: int
    total: int


@dataclass(frozen=True, slots=True)
class ProfileTotals:
    """The functions of all samples with one value, of one thread if threads are separate; most weight first.

    `value` is its name with its unit: `samples (count)`. `weight` is the total of all samples, in ns if `is_time`,
    otherwise in the unit of the value.
    """

    value: str
    thread: str | None
    is_time: bool
    weight: int
    functions: tuple[SampledFunction, ...]
