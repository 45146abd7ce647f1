"""The phases of a capture as intervals that do not overlap, with the functions and lines that they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from framedex.index.read.rows import Reader
from framedex.model import PhaseKind

_PROGRAM_NAME = re.compile(r"(?:jit|pjit|pmap)(?:_(?P<module>.+)|\((?P<name>.*)\))")

PREPARATION = (PhaseKind.TRACE, PhaseKind.LOWER, PhaseKind.COMPILE)
"""The kinds of phases in which JAX prepares a program."""


@dataclass(slots=True, eq=False)
class Phase:
    """A phase of a thread; times in ns since the recording began. `own` is its duration without phases inside it.

    `name` is the function for preparations, also for the parts of a compilation that use the cache. `parent` is the
    enclosing phase.
    """

    thread: int
    kind: PhaseKind
    name: str
    start: int
    end: int
    node: int
    is_last: bool = False
    parent: Phase | None = None
    own: int = 0
    kinds_inside: set[PhaseKind] = field(default_factory=set)

    @property
    def root(self) -> Phase:
        """The phase that counts the time of this one: traces inside a trace or a lowering belong to the outer phase."""
        phase = self
        while phase.parent is not None and phase.kind is PhaseKind.TRACE and phase.parent.kind in PREPARATION[:2]:
            phase = phase.parent
        return phase

    @property
    def is_load(self) -> bool:
        """Whether a program was loaded from the compilation cache, and not compiled."""
        return self.kind is PhaseKind.COMPILE and PhaseKind.LOAD in self.kinds_inside


def read_captures_with_phases(reader: Reader) -> list[int]:
    """Return the captures with phases."""
    query = "SELECT DISTINCT capture FROM phases WHERE capture IN (SELECT id FROM captures) ORDER BY capture"
    return [capture for (capture,) in reader.rows(query)]


def read_captures_with_startup(reader: Reader) -> list[int]:
    """Return the captures with the start of their process: the first one of each process."""
    query = (
        "SELECT DISTINCT capture FROM phases WHERE kind = ? AND capture IN (SELECT id FROM captures) ORDER BY capture"
    )
    return [capture for (capture,) in reader.rows(query, PhaseKind.PROCESS.value)]


def read_phases(reader: Reader, capture: int) -> list[Phase]:
    """Return the phases of a capture in order of start, without their own durations.

    A later capture of a process has no phases from before its beginning.
    """
    rows = reader.rows(
        "SELECT thread, kind, name, start, start + duration, node, is_last FROM phases WHERE capture = ?", capture
    )
    phases = [
        Phase(thread, PhaseKind(kind), _read_function_name(kind, name), start, end, node, bool(is_last))
        for thread, kind, name, start, end, node, is_last in rows
    ]
    is_first = any(phase.kind is PhaseKind.PROCESS for phase in phases)
    return sorted(_expand_lookups([phase for phase in phases if is_first or phase.start >= 0]), key=_outermost_first)


def read_separate_phases(reader: Reader, capture: int) -> list[Phase]:
    """Return the phases of a capture with their own durations; each thread for itself."""
    by_thread: dict[int, list[Phase]] = {}
    for phase in read_phases(reader, capture):
        by_thread.setdefault(phase.thread, []).append(phase)
    for phases in by_thread.values():
        separate_phases(phases)
    return [phase for phases in by_thread.values() for phase in phases]


def separate_phases(phases: Iterable[Phase]) -> None:
    """Set `own` and `parent` of phases in order of start, so that no time counts twice.

    JAX reports durations, and framedex records their ends a little late. So a phase that ends after the phase around it
    is not nested in that phase. The earlier phase then ends where it begins.
    """
    around: list[Phase] = []
    for phase in phases:
        while around and around[-1].end <= phase.start:
            around.pop()
        while around and around[-1].end < phase.end:
            before = around.pop()
            before.own -= before.end - phase.start
            before.end = phase.start
        phase.own = phase.end - phase.start
        phase.parent = around[-1] if around else None
        if phase.parent is not None:
            phase.parent.own -= phase.own
            phase.parent.kinds_inside.add(phase.kind)
            if phase.kind in (PhaseKind.LOOKUP, PhaseKind.LOAD):
                phase.name, phase.node = phase.parent.name, phase.parent.node
        around.append(phase)


def _outermost_first(phase: Phase) -> tuple[int, int]:
    return phase.start, -phase.end


def _expand_lookups(phases: Sequence[Phase]) -> Iterator[Phase]:
    """Yield the phases, with each look-up from the beginning of its compilation."""
    compilations = [phase for phase in phases if phase.kind is PhaseKind.COMPILE]
    for phase in phases:
        if phase.kind is PhaseKind.LOOKUP:
            around = [
                each.start
                for each in compilations
                if each.thread == phase.thread and each.start <= phase.start <= each.end
            ]
            if not around:
                continue
            phase.start = max(around)
        yield phase


def _read_function_name(kind: str, name: str) -> str:
    """Return the function of a program that JAX lowered or compiled: `f` for `jit(f)` and `jit_f`."""
    match = _PROGRAM_NAME.fullmatch(name) if kind in (PhaseKind.LOWER.value, PhaseKind.COMPILE.value) else None
    if match is None:
        return name
    found = match["module"] or match["name"]
    return "<lambda>" if found.strip("_") == "lambda" else found
