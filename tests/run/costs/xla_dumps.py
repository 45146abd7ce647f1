"""XLA's own texts about the memory of a program, as `--xla_dump_to` writes them.

The live set of a step is computed from XLA's live ranges and offsets, because the peak in the text is not the highest
step: it ends a value before the step of its last use. Tables of pointers to the parts of tuples are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from framedex.model.programs import ProgramMemory

_RANGE = re.compile(r"^    (\S+):(\d+)-(\d+)$", re.MULTILINE)
_VALUE = re.compile(
    r"value: <\d+ (?P<name>[^\s{]+)(?P<index>\{[\d,]*\})?(?P<phi> \(phi\))? @\d+>"
    r" \(size=(?P<size>\d+),offset=(?P<offset>\d+)\): (?!\()"
)


@dataclass(frozen=True, slots=True)
class DumpedValue:
    """A value in a temporary allocation. A loop carries an `is_carried` one, so that it has no instruction."""

    name: str
    size: int
    allocation: int
    offset: int
    first: int
    last: int
    is_carried: bool

    def overlaps(self, other: DumpedValue) -> bool:
        """Whether the two values share memory."""
        before, after = sorted((self, other), key=lambda value: value.offset)
        return self.allocation == other.allocation and after.offset < before.offset + before.size


class MemoryDump:
    """The texts of one program: the size of its temporary allocations, and the values that are alive at its peak."""

    def __init__(self, live_ranges: Path) -> None:
        self.program = live_ranges.name.split(".")[1]
        text = live_ranges.read_text()
        ranges = {name: (int(first), int(last)) for name, first, last in _RANGE.findall(text)}
        self.steps = max(last for _, last in ranges.values())
        assignment = live_ranges.with_name(live_ranges.name.replace("live-range", "buffer-assignment")).read_text()
        parts = assignment.split("\n\n")[0].split("allocation ")
        allocations = [part for part in parts if "preallocated-temp" in part.split("\n")[0]]
        self.temporaries = sum(int(re.findall(r"size (\d+)", part)[0]) for part in allocations)
        self.values = [
            DumpedValue(
                *(value["name"], int(value["size"]), number, int(value["offset"])),
                *ranges[value["name"] + (value["index"] or "{}")],
                is_carried=bool(value["phi"]),
            )
            for number, part in enumerate(allocations)
            for value in _VALUE.finditer(part)
        ]

    @cached_property
    def peaks(self) -> list[list[DumpedValue]]:
        """The live sets of the steps with the most live bytes."""
        sets = [list(self._live_set(step)) for step in range(self.steps + 1)]
        peak = max(map(_total, sets))
        return [each for each in sets if _total(each) == peak]

    def _live_set(self, step: int) -> Iterator[DumpedValue]:
        """Yield the values that are alive at a step, without those whose memory another one has taken."""
        alive = sorted((value for value in self.values if value.first <= step <= value.last), key=lambda v: v.first)
        for number, value in enumerate(alive):
            if not any(value.overlaps(later) for later in alive[number + 1 :]):
                yield value

    def has_equal_peak(self, memory: ProgramMemory) -> bool:
        """Whether the peak has the same size and the same values."""
        return any(_is_equal(values, memory) for values in self.peaks)


def _total(values: list[DumpedValue]) -> int:
    return sum(value.size for value in values)


def _is_equal(values: list[DumpedValue], memory: ProgramMemory) -> bool:
    found = Counter((buffer.instruction, buffer.size) for buffer in memory.buffers)
    named = Counter((value.name, value.size) for value in values if not value.is_carried)
    sizes = (sorted(value.size for value in values), sorted(buffer.size for buffer in memory.buffers))
    return _total(values) == memory.peak and sizes[0] == sizes[1] and named <= found


def read_dumps(folder: Path) -> dict[str, MemoryDump]:
    """Return the dumps of the programs with temporaries, by the name of their module; no two may have one name."""
    dumps = [MemoryDump(path) for path in folder.glob("*live-range.txt")]
    return {dump.program: dump for dump in dumps if dump.values}
