"""Ops of JAX's profiler for a recorded call, if both recorded it: joined by program and time.

A profile numbers the runs of programs and has no calls. The runs of a program are compared in order with the calls that
ran it during the profile. They are matched only if their numbers are equal and each run began after its call. Otherwise
the call has no profiled run.
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
"""Limit of runs of one program that are matched."""

_ROUNDED = 1_000
"""Tolerance in ns between the times of two captures, from rounding of their start times in the index."""


def profiled_run(calls: Calls, call: CallRow) -> ProfiledRun | None:
    """Return the ops of a call in the latest imported profile that has it; the call's objects must have names.

    None if there are none or the match is ambiguous.
    """
    if call.function != _RUNS:
        return None
    reader = calls.reader
    profiles = reader.rows(  # of all captures: a scope of one recording restricts calls, not profiles
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


def _runs(reader: Reader, program: str, first: int, last: int) -> list[list[ProfiledOp]]:
    """Return the runs of a program in an import, each as its ops, ordered by the first op of each run."""
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
    """Return the calls that ran a program of that name between two times (ns), by start."""
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
