"""What exports are made of: threads, kinds of calls, and what their calls come to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread of a capture. `label` tells it from the others: `main`, or `name (tid)`; `tid` is the kernel's id."""

    id: int
    capture: int
    tid: int
    name: str
    label: str


@dataclass(frozen=True, slots=True)
class KindRow:
    """What calls have in common but for when they were made and what with; `thread` and `stack` are ids.

    `error` is the status's code; 0: none, -1: they had not returned when the recording ended.
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
    """A stack: nodes of the tree at which it ends, 0 for none.

    `python_leaf` is of a Python stack that could not be merged with the native one, `site_leaf` of the `ffi_call` it
    was run for. `python_end` is where its way out to Python begins. `is_truncated`: the outermost frames are missing.
    """

    id: int
    leaf: int
    python_leaf: int
    site_leaf: int
    python_end: int
    is_truncated: bool


@dataclass(frozen=True, slots=True)
class Weights:
    """What calls come to: how many, ns without the calls made in them, and bytes of the objects that they created."""

    calls: int = 0
    time: int = 0
    bytes: int = 0

    def __add__(self, other: Weights) -> Weights:
        return Weights(self.calls + other.calls, self.time + other.time, self.bytes + other.bytes)


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A thread whose Python had a call made, or may have: its id, the innermost node of its stack, how it is known."""

    call: int
    thread: int
    node: int
    how: str
