"""The start of each process until its first step has run, as parts that add up to the whole time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from framedex.index.ask.call.python_lines import read_lines_of_nodes, read_python_nodes
from framedex.index.ask.costs.phases import PREPARATION, Phase, read_captures_with_startup, read_phases, separate_phases
from framedex.index.ask.costs.traced_lines import find_calling_lines, read_traced_lines
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.rows import Reader
from framedex.model import (
    PhaseKind,
    PythonLine,
    Startup,
    StartupPart,
    StartupRow,
    StartupTotals,
    Table,
    TracedLine,
)

MAX_CANDIDATES = 20
"""The maximum number of programs whose first runs are compared."""

_MIN_PREPARATION_SHARE = 0.5  # of the longest preparation: a program in a loop that took less is not the step
_PARTS = {
    PhaseKind.IMPORT: StartupPart.IMPORTS,
    PhaseKind.BACKEND: StartupPart.BACKENDS,
    PhaseKind.TRACE: StartupPart.TRACING,
    PhaseKind.LOWER: StartupPart.LOWERING,
    PhaseKind.COMPILE: StartupPart.COMPILING,
    PhaseKind.LOOKUP: StartupPart.CACHE_LOOKUP,
    PhaseKind.LOAD: StartupPart.CACHE_LOAD,
}


class _Call(NamedTuple):
    """A call that no other call encloses; `kind` and `stack` are row ids, times in ns since the recording began."""

    id: int
    kind: int
    stack: int
    start: int
    end: int


class _Item(NamedTuple):
    """A piece of the start-up time; `node` is 0 without a known Python line.

    `times` is the number of events in it, 0 if another piece counts the event.
    """

    part: StartupPart
    name: str
    node: int
    duration: int
    times: int = 1


@dataclass(frozen=True, slots=True)
class _FirstStep:
    """The first step: its program's function, its thread and end, and the call that runs it; None if it never ran."""

    function: str
    thread: int
    end: int
    call: _Call | None


def read_startup(reader: Reader) -> Table[Startup]:
    """Return the start of each process with recorded phases, the longest first."""
    found = (_read_startup(reader, capture) for capture in read_captures_with_startup(reader))
    return Table(tuple(sorted(found, key=lambda each: -each.duration)))


def _read_startup(reader: Reader, capture: int) -> Startup:
    phases = read_phases(reader, capture)
    step = _find_first_step(reader, capture, phases)
    main = next(phase.thread for phase in phases if phase.kind is PhaseKind.PROCESS)
    begin = min(phase.start for phase in phases)
    in_time = [phase for phase in phases if phase.start < step.end]
    for phase in in_time:
        phase.end = min(phase.end, step.end)
    elsewhere = [phase for phase in in_time if phase.thread not in (main, step.thread)]
    followed = [phase for phase in in_time if phase.thread in (main, step.thread)]
    separate_phases(followed)
    separate_phases(elsewhere)
    calls = _calls_outside(_read_calls(reader, capture, step), followed)
    items = [*_phase_items(followed), *_call_items(reader, calls, step)]
    rest = step.end - begin - sum(item.duration for item in items)
    items.append(_Item(StartupPart.OTHER_PYTHON, "", 0, rest))
    nodes = {item.node for item in items} | ({0} if step.call is None else {_find_node(reader, step.call)})
    lines = read_lines_of_nodes(reader, nodes)
    return Startup(
        capture=capture,
        duration=step.end - begin,
        function=step.function,
        line=None if step.call is None else lines.get(_find_node(reader, step.call)),
        call=0 if step.call is None else step.call.id,
        parts=tuple(_sum_parts(items, lines)),
        traced_lines=tuple(_read_traced_lines(reader, capture, step.end, phases)),
        elsewhere=sum(phase.own for phase in elsewhere if phase.kind in PREPARATION),
        is_complete=not any(phase.is_last for phase in phases),
    )


# The first step


def _find_first_step(reader: Reader, capture: int, phases: Sequence[Phase]) -> _FirstStep:
    """Return the first run of the program that took longest to prepare.

    A program that first runs in the first iteration of a loop takes precedence if it took about as long.
    """
    prepared: dict[tuple[int, str], int] = {}
    first: dict[tuple[int, str], Phase] = {}
    for phase in phases:
        if phase.kind in PREPARATION:
            key = phase.thread, phase.name
            prepared[key] = prepared.get(key, 0) + phase.end - phase.start
            if phase.kind is PhaseKind.COMPILE:
                first.setdefault(key, phase)
    if not first:
        last = max(phases, key=lambda phase: phase.end)
        return _FirstStep("", last.thread, last.end, None)
    longest_first = sorted(first, key=lambda key: -prepared[key])[:MAX_CANDIDATES]
    candidates = [(first[key], _find_first_run(reader, capture, first[key])) for key in longest_first]
    loops = reader.rows("SELECT start, start + duration FROM loop_steps WHERE capture = ? AND number = 1", capture)
    longest = prepared[longest_first[0]]
    in_loops = (
        candidate
        for key, candidate in zip(longest_first, candidates, strict=True)
        if prepared[key] >= _MIN_PREPARATION_SHARE * longest and _is_within(candidate[1], loops)
    )
    compiled, call = next(in_loops, candidates[0])
    end = compiled.end if call is None else call.end
    return _FirstStep(compiled.name, compiled.thread, end, call)


def _is_within(call: _Call | None, intervals: Iterable[tuple[int, int]]) -> bool:
    """Return whether a call begins within one of these intervals."""
    return call is not None and any(start <= call.start < end for start, end in intervals)


def _find_first_run(reader: Reader, capture: int, compiled: Phase) -> _Call | None:
    """Return the first run of an executable that was created during a compilation; None if it never ran."""
    kinds = reader.rows(
        "SELECT DISTINCT e.kind FROM compilations x JOIN call_rows c ON c.id = x.call"
        " JOIN executions e ON e.executable = x.executable WHERE x.capture = ? AND c.start BETWEEN ? AND ?",
        *(capture, compiled.start, compiled.end),
    )
    runs = []
    for (kind,) in kinds:
        row = reader.row(
            "SELECT c.id, c.kind, k.stack, c.start, c.start + max(c.duration, 0) FROM call_spans s"
            " JOIN call_rows c ON c.id BETWEEN s.first_call AND s.last_call AND c.kind = s.kind"
            " JOIN call_kinds k ON k.id = c.kind WHERE s.kind = ? AND c.start >= ? ORDER BY c.id LIMIT 1",
            *(kind, compiled.end),
        )
        if row is not None:
            runs.append(_Call(*row))
    return min(runs, default=None, key=lambda run: run.start)


# Calls outside of phases


def _read_calls(reader: Reader, capture: int, step: _FirstStep) -> Iterator[_Call]:
    """Yield the outermost calls of the first step's thread until its end, in order of start."""
    if step.call is not None:
        rows = reader.iter_rows(
            "SELECT c.id, c.kind, k.stack, c.start, c.start + max(c.duration, 0) FROM captures p"
            " JOIN call_rows c ON c.id BETWEEN p.first_call AND ? JOIN call_kinds k ON k.id = c.kind"
            " JOIN threads t ON t.id = k.thread WHERE p.id = ? AND t.tid = ? AND c.inside IS NULL ORDER BY c.id",
            *(step.call.id, capture, step.thread),
        )
        yield from map(_Call._make, rows)


def _calls_outside(calls: Iterable[_Call], phases: Sequence[Phase]) -> Iterator[_Call]:
    """Yield the calls that begin outside of all phases.

    Each ends at the next phase, which counts the time from there.
    """
    outermost = iter([phase for phase in phases if phase.parent is None])
    phase = next(outermost, None)
    for call in calls:
        while phase is not None and phase.end <= call.start:
            phase = next(outermost, None)
        if phase is None:
            yield call
        elif call.start < phase.start:
            yield call._replace(end=min(call.end, phase.start))


def _call_items(reader: Reader, calls: Iterable[_Call], step: _FirstStep) -> Iterator[_Item]:
    """Yield the time of each kind of calls, and of the first step."""
    kinds: dict[int, list[int]] = {}  # stack, number of calls, duration
    for call in calls:
        if step.call is not None and call.id == step.call.id:
            yield _Item(StartupPart.FIRST_STEP, step.function, _find_node(reader, call), call.end - call.start)
        else:
            totals = kinds.setdefault(call.kind, [call.stack, 0, 0])
            totals[1] += 1
            totals[2] += call.end - call.start
    numbers = build_json_list(sorted(kinds))
    moving: dict[int, str] = dict(reader.rows(f"SELECT kind, how FROM transfers WHERE kind {IN_JSON}", numbers))
    running = {kind for (kind,) in reader.rows(f"SELECT DISTINCT kind FROM executions WHERE kind {IN_JSON}", numbers)}
    nodes = read_python_nodes(reader, {stack for stack, _, _ in kinds.values()})
    for kind, (stack, times, duration) in kinds.items():
        part = StartupPart.RUNS if kind in running else StartupPart.OTHER_CALLS
        part = StartupPart.TRANSFERS if kind in moving else part
        yield _Item(part, moving.get(kind, ""), nodes.get(stack, 0), duration, times)


def _find_node(reader: Reader, call: _Call) -> int:
    return read_python_nodes(reader, [call.stack]).get(call.stack, 0)


# Parts


def _phase_items(phases: Iterable[Phase]) -> Iterator[_Item]:
    for phase in phases:
        if phase.kind is PhaseKind.PROCESS:
            part = StartupPart.INTERPRETER if phase.name else StartupPart.UNFOLLOWED
            yield _Item(part, "", 0, phase.own)
        else:
            # A loaded program was not compiled: the rest of the time is that of the look-up.
            part = StartupPart.CACHE_LOOKUP if phase.is_load else _PARTS[phase.kind]
            node = 0 if phase.kind is PhaseKind.IMPORT else phase.node
            yield _Item(part, phase.name, node, phase.own, times=0 if phase.is_load else 1)


def _sum_parts(items: Iterable[_Item], lines: dict[int, PythonLine]) -> Iterator[StartupTotals]:
    parts: dict[StartupPart, dict[tuple[str, PythonLine | None], list[_Item]]] = {}
    for item in items:
        parts.setdefault(item.part, {}).setdefault((item.name, lines.get(item.node)), []).append(item)
    for part in StartupPart:
        if part in parts:
            rows = [
                StartupRow(*key, sum(item.times for item in each), sum(item.duration for item in each))
                for key, each in parts[part].items()
            ]
            longest_first = sorted(rows, key=lambda row: -row.duration)
            count, duration = sum(row.count for row in rows), sum(row.duration for row in rows)
            yield StartupTotals(part, count, duration, tuple(longest_first))


def _read_traced_lines(reader: Reader, capture: int, end: int, phases: Iterable[Phase]) -> Iterator[TracedLine]:
    """Yield the lines with most ops of the programs that were compiled until a time."""
    nodes = {phase.node for phase in phases if phase.kind is PhaseKind.TRACE and phase.root is phase}
    programs = reader.rows(
        "SELECT DISTINCT x.program FROM compilations x JOIN call_rows c ON c.id = x.call"
        " WHERE x.capture = ? AND c.start < ? AND x.program IS NOT NULL",
        *(capture, end),
    )
    return read_traced_lines(reader, [program for (program,) in programs], find_calling_lines(reader, nodes))
