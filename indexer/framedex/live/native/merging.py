"""One stack from the native and the Python frames of a thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from framedex.live.model import LiveFrame, PythonThread
from framedex.live.native.unwinding import NativeFrame, NativeStack


@dataclass(frozen=True, slots=True)
class MergedStack:
    """Native and Python frames, innermost first.

    `problem` is the reason if frames are missing or in a wrong place, and `apart` are then the Python frames whose
    place is unknown.
    """

    frames: tuple[NativeFrame | LiveFrame, ...]
    apart: tuple[LiveFrame, ...] = ()
    problem: str = ""


def merge(native: NativeStack, python: PythonThread | None) -> MergedStack:
    """The stack of a thread. Python frames replace the native frame that evaluates them."""
    if python is None or not python.frames:
        return MergedStack(native.frames, (), native.problem)
    merged: list[NativeFrame | LiveFrame] = []
    remaining = 0
    placed = 0
    runs = groupby(zip(python.evaluators, python.frames, strict=True), key=lambda each: each[0])
    for evaluator, run in runs:
        frames = [frame for _, frame in run]
        host = _index_of_frame(native, evaluator, remaining)
        if host is None:
            break
        merged += (*native.frames[remaining:host], *frames)
        remaining, placed = host + 1, placed + len(frames)
    merged += native.frames[remaining:]
    apart = python.frames[placed:]
    problem = native.problem or ("their native frames are not on the stack" if apart else "")
    return MergedStack(tuple(merged), apart, problem)


def _index_of_frame(native: NativeStack, address: int, first: int = 0) -> int | None:
    """The index of the frame, from `first` on, whose locals are around an address; None if there is none.

    It is never the outermost frame: its end is unknown, and it evaluates no Python.
    """
    pointers = [frame.stack_pointer for frame in native.frames]
    within = (index for index in range(first, len(pointers) - 1) if pointers[index] <= address < pointers[index + 1])
    return next(within, None)


def find_python(native: NativeStack, threads: Sequence[PythonThread], tid: int) -> PythonThread | None:
    """The Python of a thread, by the address of its innermost evaluator, else by its id.

    Ids are not enough: a process that forked may have an old one, and one in a container another one.
    """
    evaluated = (each for each in threads if each.evaluators)
    by_address = next((each for each in evaluated if _index_of_frame(native, each.evaluators[0]) is not None), None)
    return by_address or next((each for each in threads if each.tid == tid), None)
