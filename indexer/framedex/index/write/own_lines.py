"""The ops that lines of the program itself add to a compiled program, and those that add the same ops repeatedly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from framedex.index.file.paths import is_installed
from framedex.model import ProgramFrame, ProgramOp

MIN_REPEATS = 8
"""A line that adds the same ops at least this number of times counts as repeated. One expression may have a few equal
ops."""

_SHARED_KINDS = frozenset({"constant", "func", "call", "return"})
"""The kinds of ops that several uses in a program share."""

_Path = tuple[ProgramFrame, ...]


class OwnLine(NamedTuple):
    """A line of the program itself, with the columns of the table `program_own_lines`."""

    frame: ProgramFrame
    ops: int
    repeats: int
    repeated_ops: int


def find_own_lines(ops: Mapping[ProgramOp, int]) -> Iterator[OwnLine]:
    """Yield the lines of the program itself that ops come from.

    A line is repeated if each op below it occurs at least `MIN_REPEATS` times on the same stack. One trace of the
    line's code adds each op about once. The lines around it and below it may be repeated, too.
    """
    innermost: dict[ProgramFrame, int] = {}
    fewest: dict[_Path, int] = {}  # of any op below a path of own lines, outermost first
    totals: dict[_Path, int] = {}
    for op, count in ops.items():
        own = tuple(frame for frame in reversed(op.frames) if not is_installed(frame.path))
        if not own:
            continue
        innermost[own[-1]] = innermost.get(own[-1], 0) + count
        for depth in range(1, len(own) + 1):
            path = own[:depth]
            totals[path] = totals.get(path, 0) + count
            if op.kind not in _SHARED_KINDS:
                fewest[path] = min(fewest.get(path, count), count)
    repeats: dict[ProgramFrame, int] = {}
    repeated_ops: dict[ProgramFrame, int] = {}
    for path, least in fewest.items():
        if least >= MIN_REPEATS:
            repeats[path[-1]] = max(repeats.get(path[-1], 0), least)
            repeated_ops[path[-1]] = repeated_ops.get(path[-1], 0) + totals[path]
    for frame in innermost.keys() | repeats.keys():
        yield OwnLine(frame, innermost.get(frame, 0), repeats.get(frame, 1), repeated_ops.get(frame, 0))
