"""Rows for exports: threads, kinds of calls, stacks and weights."""

from __future__ import annotations

from dataclasses import dataclass


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
class Weights:
    """The totals of calls: number, time in ns without nested calls, and bytes of the created objects."""

    calls: int = 0
    time: int = 0
    bytes: int = 0

    def __add__(self, other: Weights) -> Weights:
        return Weights(self.calls + other.calls, self.time + other.time, self.bytes + other.bytes)


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A thread whose Python caused a call, or may have: its id, the innermost node of its stack, and the evidence."""

    call: int
    thread: int
    node: int
    how: str
