"""Synthetic captures with only a program's frames: without binaries, code objects, or errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from framedex.model import Calls, Capture, Function, Metadata, NativeFrame, Stack, Thread


def synthetic_capture(
    path: Path, frames: int, stacks: Iterable[Sequence[int]], functions: Iterable[str], calls: Calls
) -> Capture:
    """A capture of this many frames; `stacks` have their numbers, innermost first, like captures."""
    return Capture(
        path=path,
        metadata=Metadata(),
        modules=(),
        codes=(),
        frames=tuple(NativeFrame(-1, number) for number in range(frames)),
        stacks=tuple(Stack(tuple(stack)) for stack in stacks),
        functions=tuple(Function("pjrt", name) for name in functions),
        threads=(Thread(1, "MainThread"),),
        calls=calls,
        problems=(),
    )


def consecutive_calls(rows: Sequence[tuple[int, int, int]]) -> Calls:
    """Consecutive calls, each as its function, its stack and its duration in ns."""
    function, stack, duration = np.array(rows, np.int64).T
    count = len(rows)
    return Calls(
        thread=np.zeros(count, np.uint32),
        function=function.astype(np.uint32),
        stack=stack.astype(np.uint32),
        start=np.arange(count, dtype=np.int64),
        duration=duration,
        error=np.zeros(count, np.int32),
        arguments=("{}",) * count,
    )
