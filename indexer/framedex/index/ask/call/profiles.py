"""Imported profiles: sample weight by function, and the ops of JAX's profiler for a recorded call.

A recursive function gets the weight of a stack only once.

A profile of JAX numbers the runs of a program and has no calls. The runs are compared in order with the calls that ran
the program during the profile. They match only if both have the same number and each run began after its call.
Otherwise the call has no profiled run.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from framedex.index.ask.call.exported import ExportedCalls
from framedex.index.read.rows import Reader
from framedex.model import CallFilter
from framedex.model.totals import PROFILE_BOUNDARY, ProfiledOp, ProfiledRun, ProfileTotals, SampledFunction

if TYPE_CHECKING:
    from framedex.index.ask.call.calls import Calls
    from framedex.model import CallRow, FunctionRow


_SAMPLE_COUNT = "samples (count)"

_Nodes = Mapping[int, tuple[int, int]]


_EXECUTE_FUNCTION = "PJRT_LoadedExecutable_Execute"

_EXECUTABLE = "loaded_executable"

_FORMAT = "XPlane"

_MAX_RUNS = 10_000
"""Limit of runs of one program that are matched."""

_ROUNDING_NS = 1_000
"""Tolerance in ns between the times of two captures, from rounding of their start times in the index."""


def read_profile_totals(reader: Reader, call_filter: CallFilter, *, by_thread: bool) -> list[ProfileTotals]:
    """Return the totals of the samples that pass the filter: one per value (and thread), most weight first.

    If the filter reads single samples, samples weighted by anything but time count once each.
    """
    exported = ExportedCalls(reader, call_filter)
    kinds = {identifier: kind for identifier, kind in exported.kinds.items() if kind.boundary == PROFILE_BOUNDARY}
    if not kinds:
        return []
    weights = exported.weights()
    timed = {kinds[kind].function for (kind, _), each in weights.items() if kind in kinds and each.time > 0}
    ends: dict[tuple[str, str | None], Counter[int]] = defaultdict(Counter)
    for (identifier, _), each in weights.items():
        kind = kinds.get(identifier)
        if kind is None or each.calls <= 0:
            continue
        is_time = kind.function in timed
        value = kind.function if is_time or exported.selects_whole_kinds else _SAMPLE_COUNT
        thread = exported.threads[kind.thread].label if by_thread else None
        ends[value, thread][exported.stacks[kind.stack].leaf] += each.time if is_time else each.calls
    nodes = exported.nodes({leaf for counted in ends.values() for leaf in counted})
    functions = {
        identifier: row.function for identifier, row in exported.frames({f for _, f in nodes.values()}).items()
    }
    found = [
        ProfileTotals(value, thread, value in timed, counted.total(), _sum_by_function(counted, nodes, functions))
        for (value, thread), counted in ends.items()
    ]
    return sorted(found, key=lambda totals: (-totals.weight, totals.value, totals.thread or ""))


def _sum_by_function(
    ends: Mapping[int, int], nodes: _Nodes, functions: Mapping[int, FunctionRow]
) -> tuple[SampledFunction, ...]:
    """Return the functions on the paths to the sampled nodes, most self weight first."""
    callees: dict[int, list[int]] = defaultdict(list)
    needed = set(ends)
    pending = list(needed)
    while pending:
        node = pending.pop()
        parent = nodes[node][0] if node in nodes else 0
        if node:
            callees[parent].append(node)
        if parent and parent not in needed:
            needed.add(parent)
            pending.append(parent)
    own: Counter[int] = Counter()
    total: Counter[int] = Counter()
    rows: dict[int, FunctionRow] = {}
    depth: Counter[int] = Counter()  # occurrences of each function on the path to the current node
    below: Counter[int] = Counter()
    walk = [(node, False) for node in callees[0]]
    while walk:
        node, is_left = walk.pop()
        parent, frame = nodes[node]
        function = functions[frame]
        if is_left:
            depth[function.id] -= 1
            below[parent] += below[node]
            if not depth[function.id]:
                total[function.id] += below[node]
            continue
        rows[function.id] = function
        depth[function.id] += 1
        own[function.id] += ends.get(node, 0)
        below[node] += ends.get(node, 0)
        walk.append((node, True))
        walk.extend((callee, False) for callee in callees[node])
    found = (SampledFunction(rows[identifier], own[identifier], weight) for identifier, weight in total.items())
    return tuple(sorted(found, key=lambda each: (-each.self_weight, -each.total, each.function.name)))


def find_profiled_run(calls: Calls, call: CallRow) -> ProfiledRun | None:
    """Return the ops of a call in the latest imported profile that has it; the call's objects must have names.

    None if there are none or the match is ambiguous.
    """
    if call.function != _EXECUTE_FUNCTION:
        return None
    reader = calls.reader
    profiles = reader.rows(  # of all captures: a scope of one recording restricts calls, not profiles
        "SELECT f.id, (f.started - c.started) * 1e9, f.first_call, f.last_call FROM main.captures f, captures c"
        " WHERE c.id = ? AND f.id <> c.id AND CASE WHEN json_valid(f.metadata)"
        " THEN json_extract(f.metadata, '$.foreign.format') END = ?"
        " ORDER BY f.id DESC",
        *(call.capture, _FORMAT),
    )
    program = _find_program(reader, call) if profiles else None
    if program is None:
        return None
    for capture, offset, first, last in profiles:
        runs = _read_runs(reader, program, first, last)
        latest = max((run[-1].start for run in runs), default=0)
        begun = _find_program_calls(calls, call, program, round(offset), round(offset) + latest)
        if len(begun) != len(runs) or any(
            run[0].start + offset + _ROUNDING_NS < each.start for run, each in zip(runs, begun, strict=True)
        ):
            continue
        for run, each in zip(runs, begun, strict=True):
            if each.id == call.id:
                return ProfiledRun(capture, program, tuple(run))
    return None


def _find_program(reader: Reader, call: CallRow) -> str | None:
    """Return the name of the program that a call ran, or None."""
    executable = call.objects.get("executable")
    if not isinstance(executable, str):
        return None
    row = reader.row(
        "SELECT p.name FROM object_rows o JOIN object_types t ON t.id = o.type"
        " JOIN compilations c ON c.executable = o.id JOIN programs p ON p.id = c.program"
        " WHERE t.capture = ? AND t.name = ? AND o.number = ?",
        *(call.capture, _EXECUTABLE, int(executable.rpartition("#")[2])),
    )
    return None if row is None else str(row[0])


def _read_runs(reader: Reader, program: str, first: int, last: int) -> list[list[ProfiledOp]]:
    """Return the runs of a program in an import, each as its ops, ordered by the first op of each run."""
    runs: dict[int, list[ProfiledOp]] = defaultdict(list)
    rows = reader.rows(
        "SELECT c.id, c.start, c.duration, a.json FROM call_rows c JOIN arguments a ON a.id = c.arguments"
        " WHERE c.id BETWEEN ? AND ? AND json_extract(a.json, '$.program') = ? ORDER BY c.id",
        *(first, last, program),
    )
    for sample, start, duration, text in rows:
        fields = json.loads(text)
        if isinstance(fields.get("run"), int) and isinstance(fields.get("op"), str):
            runs[fields["run"]].append(ProfiledOp(fields["op"], start, duration, sample))
    return list(runs.values())


def _find_program_calls(calls: Calls, call: CallRow, program: str, after: int, before: int) -> list[CallRow]:
    """Return the calls that ran a program of that name between two times (ns), by start."""
    rows = calls.reader.rows(
        "SELECT DISTINCT o.number FROM compilations c JOIN programs p ON p.id = c.program"
        " JOIN object_rows o ON o.id = c.executable WHERE c.capture = ? AND p.name = ?",
        *(call.capture, program),
    )
    found = []
    for (number,) in rows:
        within = CallFilter(call.capture, call.function, after=after, before=before, object=f"{_EXECUTABLE}#{number}")
        found += calls.find(within, _MAX_RUNS + 1)
    return sorted(found, key=lambda each: each.start) if len(found) <= _MAX_RUNS else []
