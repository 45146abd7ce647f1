"""The recorded lines and functions of a file with their calls, and the problems of this data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from framedex.base.words import count, format_local_time
from framedex.index.read.rows import Reader
from framedex.index.read.subjects import FileQuery
from framedex.model import FileProblem, LineMark, SiteEvidence

_MAX_SITES = 50


def recorded_lines(file: FileQuery) -> dict[int, int]:
    """Return {line: calls} for the lines of the file that calls passed through."""
    totals = file.reader.totals_table("line_calls")
    counts: Counter[int] = Counter()
    for state in file.states():
        where = file.build_state_condition("l", state)
        for line, calls in file.reader.rows(f"SELECT line, sum(calls) FROM {totals} l WHERE {where} GROUP BY line"):
            if current_line := state.to_current(line):
                counts[current_line] += calls
    return dict(counts)


def is_recorded(file: FileQuery) -> bool:
    """Whether the file has a recorded line, an op of a compiled program, or the function behind an FFI handler."""
    query = (
        "SELECT 1 FROM line_calls WHERE file = ?1 UNION ALL"
        " SELECT 1 FROM ffi_handlers h JOIN frames fr ON fr.id = h.implementation"
        " JOIN functions fn ON fn.id = fr.function WHERE fn.file = ?1"
        " UNION ALL SELECT 1 FROM program_frames WHERE file = ?1 LIMIT 1"
    )
    found = file.reader.cache.get_or_compute(("is recorded", file.path), lambda: file.reader.row(query, file.id))
    return found is not None


def read_line_marks(file: FileQuery, first: int, last: int) -> list[LineMark]:
    """Return the marks of the recorded lines between `first` and `last`, with calls, durations and boundaries.

    Line numbers are those of the current file; deleted lines are left out.
    """
    totals: dict[int, dict[str, tuple[int, int]]] = {}  # {line: {boundary: (calls, ns)}}
    for state in file.states():
        rows = file.reader.rows(
            "SELECT l.line, b.name, l.calls, l.duration"
            f" FROM {file.reader.totals_table('line_calls')} l JOIN boundaries b ON b.id = l.boundary"
            f" WHERE {file.build_state_condition('l', state)} AND l.line BETWEEN ? AND ?",
            state.to_nearest_recorded(first),
            state.to_nearest_recorded(last),
        )
        for recorded_line, name, calls, duration in rows:
            if (line := state.to_current(recorded_line)) is not None:
                of_line = totals.setdefault(line, {})
                before = of_line.get(name, (0, 0))
                of_line[name] = before[0] + calls, before[1] + duration
    return [_build_mark(line, of_line) for line, of_line in sorted(totals.items())]


def _build_mark(line: int, totals: Mapping[str, tuple[int, int]]) -> LineMark:
    return LineMark(
        line=line,
        calls=sum(calls for calls, _ in totals.values()),
        duration=sum(duration for _, duration in totals.values()),
        boundaries=tuple(sorted(totals, key=lambda name: (-totals[name][1], -totals[name][0], name))),
    )


def read_recorded_functions(file: FileQuery) -> list[tuple[int, int]]:
    """Return (first line, function id) of the recorded functions of the file.

    If several functions begin on one line (instances of a template), the id is that of the function with most calls.
    Functions whose line was deleted are left out.
    """
    run = file.reader.scope.run
    found: dict[int, tuple[int, int]] = {}
    for state in file.states():
        rows = file.reader.rows(
            f"SELECT line, id, max(calls) FROM functions WHERE {file.build_state_condition('functions', state)}"
            f" AND calls > 0 AND role = 'code'{f' AND run = {run}' if run else ''} GROUP BY line"
        )
        for recorded_line, function, calls in rows:
            line = state.to_current(recorded_line) if recorded_line else None
            if line is not None and calls > found.get(line, (0, 0))[0]:
                found[line] = calls, function
    return [(line, function) for line, (_, function) in sorted(found.items())]


def find_file_problems(file: FileQuery) -> list[FileProblem]:
    """Return the problems of the file's data, file-wide ones first; empty if nothing was recorded.

    Reported are a file changed since its recording, calls into binaries without symbols, and ambiguous `ffi_call`
    sites.
    """
    reader, number = file.reader, file.id
    first = reader.row("SELECT min(line) FROM line_calls WHERE file = ?", number)
    if first is None or first[0] is None:
        return []
    found = [*_find_staleness(file)]
    for state in file.states():
        where = file.build_state_condition("fr", state)
        for trouble in (*_find_missing_symbols(reader, where), *_find_ambiguous_sites(reader, where)):
            line = state.to_current(trouble.line)
            if line is not None:
                found.append(replace(trouble, line=line))
    return list(dict.fromkeys(found))


def _find_staleness(file: FileQuery) -> list[FileProblem]:
    """Report a file that changed after its recording, so that its lines have moved."""
    row = file.reader.row(
        "SELECT max(p.started) FROM line_calls l JOIN calls c ON c.id = l.latest_call"
        " JOIN captures p ON p.id = c.capture WHERE l.file = ?",
        file.id,
    )
    change = file.change()
    file_now = file.reader.cache.find_file(file.path)
    if row is None or row[0] is None or change is None or file_now is None:
        return []
    current_line = (
        "record it again, because the recorded text is unavailable"
        if change.lines is None
        else "recorded lines are mapped to the current text"
    )
    modified, recorded = format_local_time(file_now.modified / 1e9), format_local_time(row[0])
    message = f"Changed {modified}, after its latest recording ({recorded}): {current_line}."
    return [FileProblem("stale-source", 1, message)]


def _find_missing_symbols(reader: Reader, condition: str) -> list[FileProblem]:
    """Report, once per binary, the first line that calls into a binary without symbols."""
    rows = reader.rows(
        "SELECT m.path, min(fr.line), count(DISTINCT t.id) FROM frames fr JOIN steps s ON s.origin = fr.id"
        " JOIN frames t ON t.id = s.target JOIN functions fn ON fn.id = t.function JOIN modules m ON m.id = t.module"
        f" WHERE {condition} AND fn.symbol = '' AND fn.language = 'native' GROUP BY m.id ORDER BY min(fr.line), m.path"
    )
    return [
        FileProblem(
            "missing-symbols",
            line,
            f"{count(frames, 'frame')} called from here in {Path(module).name} without a name:"
            " the binary has no symbols.",
        )
        for module, line, frames in rows
    ]


def _find_ambiguous_sites(reader: Reader, condition: str) -> list[FileProblem]:
    """Report the lines of `ffi_call` sites whose runs may belong to another site."""
    rows = reader.rows(
        "SELECT fr.line, x.target, count(DISTINCT r.call) FROM ffi_joins j JOIN ffi_candidates k ON k.join_id = j.id"
        " JOIN ffi_sites x ON x.id = k.site JOIN nodes n ON n.id = x.user_node JOIN frames fr ON fr.id = n.frame"
        f" JOIN ffi_runs r ON r.join_id = j.id WHERE {condition} AND j.how = "
        f"?{reader.scope.build_capture_condition('j')}"
        " GROUP BY fr.line, x.target ORDER BY fr.line, x.target LIMIT ?",
        SiteEvidence.AMBIGUOUS.value,
        _MAX_SITES,
    )
    return [
        FileProblem(
            "ambiguous-site",
            line,
            f"{count(runs, 'run')} of {target} may belong to this ffi_call or to another one, and are not counted.",
        )
        for line, target, runs in rows
    ]
