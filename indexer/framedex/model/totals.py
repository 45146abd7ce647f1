"""Totals of a capture: by boundary function, as a flame graph, over time, for exports, and of profile samples."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from framedex.model.locations import Location

if TYPE_CHECKING:
    from framedex.model import FunctionRow


@dataclass(frozen=True, slots=True)
class BoundaryTotals:
    """The totals of a boundary function in a capture; `duration` in ns, `id` is the function's id in the index.

    If calls are filtered, only calls that pass the filter count.
    """

    id: int
    function: str
    boundary: str
    calls: int
    duration: int
    latest_call: int


class FlameKind(StrEnum):
    """The kind of a flame graph node."""

    PYTHON = "python"
    NATIVE = "native"
    BOUNDARY = "boundary"  # the boundary function itself, innermost
    UNMERGED = "unmerged"  # native stacks that could not be merged with the Python ones
    OTHERS = "others"  # siblings too small to show


@dataclass(frozen=True, slots=True)
class FlameNode:
    """A function in the context of its callers: all paths through the same functions are one node.

    `parent` is the index of its caller in the graph, -1 for the outermost. `calls` and `duration` (nanoseconds) include
    all inner nodes. `frame` is its frame with the most time, None for a node without frames; `location` is the location
    of that frame. For `others`, `name` is empty and `merged` is their number.
    """

    parent: int
    kind: FlameKind
    name: str
    calls: int
    duration: int
    frame: int | None
    location: Location | None
    merged: int


@dataclass(frozen=True, slots=True)
class FlameGraph:
    """The calling-context tree of a capture, or of one boundary function in it; callers precede callees.

    `hidden` counts the omitted interpreter and glue frames, `merged` the functions in `others`.
    """

    calls: int
    duration: int
    hidden: int
    merged: int
    nodes: tuple[FlameNode, ...]


class CallActivity(enum.Enum):
    """The purpose of a call into the runtime."""

    COMPILE = "compile"
    RUN = "run"
    TRANSFER = "transfer"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ThreadTime:
    """The time of a thread in the runtime: for each activity in ns, and its share of each slice.

    A nested call counts as the activity of its outer call.
    """

    thread: str
    durations: dict[CallActivity, int]
    shares: dict[CallActivity, tuple[float, ...]]

    @property
    def busy(self) -> int:
        """The time of all activities together, in ns."""
        return sum(self.durations.values())


@dataclass(frozen=True, slots=True)
class Timeline:
    """A capture's threads over time, busiest first; times in ns since the recording began.

    The time from `start` to `end` is divided into slices of equal length. `is_sampled`: there are too many calls, so
    only some were examined. They represent their neighbours.
    """

    start: int
    end: int
    threads: tuple[ThreadTime, ...]
    is_sampled: bool


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread of a capture. `label` is unique in the capture: `main`, or `name (tid)`; `tid` is the kernel's id."""

    id: int
    capture: int
    tid: int
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class KindRow:
    """Attributes shared by calls, all except time and arguments; `thread` and `stack` are ids.

    `error` is the status code; 0: none, -1: not returned when the recording ended.
    """

    id: int
    capture: int
    function: str
    boundary: str
    thread: int
    stack: int
    error: int


@dataclass(frozen=True, slots=True)
class StackRow:
    """A stack, as the tree nodes at which it ends; 0 for none.

    `python_leaf` is for a Python stack that could not be merged with the native one. `site_leaf` is for the `ffi_call`
    that the call ran. `python_end` is the start of its path out to Python. `is_truncated`: the outermost frames are
    missing.
    """

    id: int
    leaf: int
    python_leaf: int
    site_leaf: int
    python_end: int
    is_truncated: bool


@dataclass(frozen=True, slots=True)
class CallWeights:
    """The totals of some calls: number, time in ns without nested calls, and the bytes of created objects."""

    calls: int = 0
    time: int = 0
    bytes: int = 0

    def __add__(self, other: CallWeights) -> CallWeights:
        return CallWeights(self.calls + other.calls, self.time + other.time, self.bytes + other.bytes)


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A thread whose Python caused a call, or may have: its id, the innermost node of its stack, and the evidence."""

    call: int
    thread: int
    node: int
    how: str


PROFILE_BOUNDARY: Final = "profile"
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


@dataclass(frozen=True, slots=True)
class ProfiledOp:
    """An op in a profile, with the id of its sample, which is a call of the import.

    `start` is in ns since the profile began, `duration` in ns.
    """

    name: str
    start: int
    duration: int
    sample: int


@dataclass(frozen=True, slots=True)
class ProfiledRun:
    """A program run that a recorded call caused, in an imported profile; `capture` is the id of the import."""

    capture: int
    program: str
    ops: tuple[ProfiledOp, ...]
