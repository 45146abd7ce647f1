"""The ops that lines of the program itself add to a compiled program, and those that add the same ops repeatedly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from framedex.index.file.paths import is_installed
from framedex.model import ProgramFrame, ProgramOp

MIN_REPEATS = 8
"""A line that adds the same ops at least this often counts as repeated. One expression may have a few equal ops."""

_SHARED_KINDS = frozenset({"constant", "func", "return"})
"""The kinds of ops that several uses in a program share."""

_NAMES_IN_MAIN = ("jit(", "pjit(", "pmap(")
"""The prefixes of the names of ops in the main function.

The names of ops in a called function, such as a nested jit, begin at that function, which JAX traces once.
"""

_LAYER_NUMBER = re.compile(r"_\d+(?=/)")
"""The number of a layer in a name, such as `Dense_3/` of Flax."""

_Path = tuple[ProgramFrame, ...]


class OwnLine(NamedTuple):
    """A line of the program itself, with the columns of the table `program_own_lines`."""

    frame: ProgramFrame
    ops: int
    repeats: int
    repeated_ops: int


def find_own_lines(ops: Mapping[ProgramOp, int]) -> Iterator[OwnLine]:
    """Yield the lines of the program itself that ops come from.

    A line is repeated if each op below it occurs at least `MIN_REPEATS` times on the same stack. Rarer ops of called
    functions do not count. One trace of the line's code adds each op about once. The lines around it and below it may
    be repeated, too. A loop that calls a nested jit repeats the calls, but not the ops of the called function.
    """
    innermost: dict[ProgramFrame, int] = {}
    below: dict[_Path, Counter[tuple[str, str]]] = {}  # ops below a path of own lines, outermost first
    for op, count in ops.items():
        own = tuple(frame for frame in reversed(op.frames) if not is_installed(frame.path))
        if not own:
            continue
        innermost[own[-1]] = innermost.get(own[-1], 0) + count
        name = op.kind, _LAYER_NUMBER.sub("/", op.name)
        for depth in range(1, len(own) + 1):
            below.setdefault(own[:depth], Counter())[name] += count
    repeats: dict[ProgramFrame, int] = {}
    repeated_ops: dict[ProgramFrame, int] = {}
    for path, counts in below.items():
        least = min((count for (kind, name), count in counts.items() if _is_counted(kind, name, count)), default=0)
        if least >= MIN_REPEATS:
            repeats[path[-1]] = max(repeats.get(path[-1], 0), least)
            repeated_ops[path[-1]] = repeated_ops.get(path[-1], 0) + counts.total()
    for frame in innermost.keys() | repeats.keys():
        yield OwnLine(frame, innermost.get(frame, 0), repeats.get(frame, 1), repeated_ops.get(frame, 0))


def _is_counted(kind: str, name: str, count: int) -> bool:
    """Return whether the number of this op shows how often a line was repeated."""
    return kind not in _SHARED_KINDS and (count >= MIN_REPEATS or name.startswith(_NAMES_IN_MAIN))
