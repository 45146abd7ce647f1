"""The ops that JAX's profiler saw of a recorded call, where both were at it: joined by program and time.

A profile numbers the runs of programs, and does not know calls. So the runs of a program are held against the calls
that ran it while the profile was taken, both in their order: they belong together where they are as many, and each run
began after its call. Otherwise nothing is said.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from framedex.index.read.rows import Reader
from framedex.model import CallFilter
from framedex.model.profiled import ProfiledOp, ProfiledRun

if TYPE_CHECKING:
    from framedex.index.ask.call.calls import Calls
    from framedex.model import CallRow

_RUNS = "PJRT_LoadedExecutable_Execute"
_EXECUTABLE = "loaded_executable"
_FORMAT = "XPlane"
_MOST = 10_000
"""Runs that are told from one another."""

_ROUNDED = 1_000
"""ns by which the times of two captures may differ, as the index has when they began."""


def profiled_run(calls: Calls, call: CallRow) -> ProfiledRun | None:
    """What imported profiles have of a call whose objects have names, in the latest that has it.

    None where that is nothing, or not sure.
    """
    if call.function != _RUNS:
        return None
    reader = calls.reader
    profiles = reader.rows(  # of all captures: who asks of a recording alone asks of its calls
        "SELECT f.id, (f.started - c.started) * 1e9, f.first_call, f.last_call FROM main.captures f, captures c"
        " WHERE c.id = ? AND f.id <> c.id AND CASE WHEN json_valid(f.metadata)"
        " THEN json_extract(f.metadata, '$.foreign.format') END = ?"
        " ORDER BY f.id DESC",
        *(call.capture, _FORMAT),
    )
    program = _program(reader, call) if profiles else None
    if program is None:
        return None
    for capture, ahead, first, last in profiles:
        runs = _runs(reader, program, first, last)
        latest = max((run[-1].start for run in runs), default=0)
        begun = _calls_of(calls, call, program, round(ahead), round(ahead) + latest)
        if len(begun) != len(runs) or any(
            run[0].start + ahead + _ROUNDED < each.start for run, each in zip(runs, begun, strict=True)
        ):
            continue
        for run, each in zip(runs, begun, strict=True):
            if each.id == call.id:
                return ProfiledRun(capture, program, tuple(run))
    return None


def _program(reader: Reader, call: CallRow) -> str | None:
    """The name of the program that a call ran."""
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


def _runs(reader: Reader, program: str, first: int, last: int) -> list[list[ProfiledOp]]:
    """The runs of a program in an import, of which the calls are in order of start: their ops, by the first of each."""
    runs: dict[int, list[ProfiledOp]] = defaultdict(list)
    rows = reader.rows(
        "SELECT c.id, c.start, c.duration, a.json FROM call_rows c JOIN arguments a ON a.id = c.arguments"
        " WHERE c.id BETWEEN ? AND ? AND json_extract(a.json, '$.program') = ? ORDER BY c.id",
        *(first, last, program),
    )
    for sample, start, duration, told in rows:
        of = json.loads(told)
        if isinstance(of.get("run"), int) and isinstance(of.get("op"), str):
            runs[of["run"]].append(ProfiledOp(of["op"], start, duration, sample))
    return list(runs.values())


def _calls_of(calls: Calls, call: CallRow, program: str, after: int, before: int) -> list[CallRow]:
    """The calls that ran a program of that name between two times, by when they began."""
    rows = calls.reader.rows(
        "SELECT DISTINCT o.number FROM compilations c JOIN programs p ON p.id = c.program"
        " JOIN object_rows o ON o.id = c.executable WHERE c.capture = ? AND p.name = ?",
        *(call.capture, program),
    )
    found = []
    for (number,) in rows:
        within = CallFilter(call.capture, call.function, after=after, before=before, object=f"{_EXECUTABLE}#{number}")
        found += calls.find(within, _MOST + 1)
    return sorted(found, key=lambda each: each.start) if len(found) <= _MOST else []
