"""What the samples of imported profiles come to by function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from framedex.model import FunctionRow


PROFILE: Final = "profile"
"""The boundary of the samples of imported profiles."""


@dataclass(frozen=True, slots=True)
class SampledFunction:
    """A function with the weight of the samples that ended in it, and of those that had it on their stack."""

    function: FunctionRow
    self_weight: int
    total: int


@dataclass(frozen=True, slots=True)
class ProfileTotals:
    """The functions of all samples with one value, and of one thread if threads are told apart; most weight first.

    `value` names it with its unit: `samples (count)`. `weight` is that of all samples, in ns if `is_time`, else in the
    unit of the value.
    """

    value: str
    thread: str | None
    is_time: bool
    weight: int
    functions: tuple[SampledFunction, ...]
