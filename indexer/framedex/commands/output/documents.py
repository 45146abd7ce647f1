"""The JSON documents that verbs print with --json.

Keys are stable; new ones may be added. Captures, calls, functions, frames, locations, findings, line summaries, linked
calls and stack hits have the fields of their types in `framedex.model`. Times are in nanoseconds. A location is
`{"path", "line", "how"}` or null; with `how` "between" it has the first and the last line of a range, `line` and
`last_line`. A call is `{"id", "capture", "function", "boundary", "thread", "tid", "start",
"duration", "error", "arguments", "stack", "parent", "objects"}`.

A frame also has `source_is_here`, a call `error_name`, and a caller in a line summary `site`, the location of its
calls. Findings, and calls with --stack, have `line`: `{"function", "location", "link"}` or null. `link` is the evidence
for a line that is not on the call's own stack. A dispatch of a call is `{"how", "thread", "frames",
"location"}`.

Most answers also have their captures: `{"captures": [capture], "capture": the latest of them or null, "counted":
"latest" | "all" | "chosen"}`. These are calls, summary, compiles, transfers, memory, waits, check, ffi, where, callers
and callees.

`live` and `hang` print the types of `framedex.live`, see `framedex/live/documents.py`.

    ```
    captures   {"captures": [capture]}: each with "folder" ({"is_here", "size", "is_kept"})
    calls      {"total": int, "calls": [call]}
    summary    {"functions": [function totals], "profiles": [{"value": name and unit, "thread", "is_time": bool,
                "weight": int, "functions": [{"function", "self_weight": int, "total": int}]}]}: of samples
    compiles   {"compiles": [{"line": line | null, "outward": [line], "function", "compiles": int, "failed": int,
                "total_duration", "longest_duration", "loads": int, "load_duration", "changes": [{"cause", "what",
                "values": [str]}], "first_call", "latest_call", "problem", "traces": int, "trace_duration",
                "lowerings": int, "lower_duration", "lookups": int, "lookup_duration"}]}; with --startup {"startups":
                [{"capture", "duration", "function", "line": line | null, "call", "parts": [{"part", "count": int,
                "duration", "rows": [{"name", "line": line | null, "count": int, "duration"}]}], "traced_lines":
                [{"function", "line": line, "ops": int, "repeats": int, "repeated_ops": int}], "elsewhere",
                "is_complete": bool}]}
    transfers  {"transfers": [{"line": line | null, "outward": [line], "direction": "host to device" | "device to host"
                | "device to device", "how", "is_implicit": bool, "count": int, "size", "unsized": int,
                "total_duration", "first_call", "latest_call"}]}
    memory     {"devices": [{"capture", "device", "peak", "peak_time", "peak_call", "at_end", "buffers", "unsized",
                "over_time": [[time, bytes]], "line_count": int, "lines": [{"line": line | null, "outward": [line],
                "buffers", "allocated", "at_peak", "buffers_at_peak", "at_end", "most", "growth", "rounds",
                "latest_call"}], "failures": [{"call", "time", "line": line | null, "wanted": int | null, "alive",
                "held": [{"line": line | null, "buffers", "size"}]}], "temporaries", "code", "program": {"function",
                "compile_call", "sizes": [[name, bytes]], "is_exact": bool, "peak", "peak_step", "steps", "over_time":
                [[step, bytes]], "buffers": [{"instruction", "opcode", "op", "shape", "size", "first", "last",
                "last_instruction", "is_near": bool, "line": line | null, "stack": [line], "fused": [[op, line | null]],
                "shares": [[line, float]]}], "savings": [{"change", "what", "size", "line": line | null}]} | null}]}
    waits      {"recorded", "device": int | null, "line_count": int, "lines": [{"line": line | null, "outward": [line],
                "how": "result" | "copy to the host" | "run", "thread", "count", "unsure": int, "total_duration",
                "longest_duration", "longest_call", "first_call", "latest_call", "unended": int,
                "longest_event": str | null, "longest_run": int | null, "dispatched_in": line | null}],
                "unseen", "unseen_times": int, "unseen_call", "ended_by": [str], "loops": [{"capture", "thread",
                "line": line | null, "rounds", "start", "duration", "median_duration", "compile", "dispatch",
                "transfer", "wait", "steps": [{"number", "start", "duration", "compile", "dispatch", "transfer",
                "wait", "first_call"}]}]}
    check      {"findings": [finding], "unjudged": [str], "budgets": [{"about": "compiles" | "implicit-transfers" |
                "memory" | "startup.trace_seconds" (in ns), "text", "most": int, "is_kept": bool, "fits": int,
                "found": int, "problem", "doubt"}]}
    trace      {"call": call, "capture": capture, "frames": [frame], "python": [frame], "reason": str | null,
                "outcome": of merging, "is_truncated": bool, "dispatched": [dispatch],
                "origin": {"how", "sites": [site]} | null}
    ffi        {"targets": [target]}: a site is {"id", "key", "target", "lines", "frames",
                "from_metadata"}, a target {"name", "registrations", "handlers", "sites", "totals", "unjoined",
                "shapes", "troubles"}
    where      {"path", "line": int | null, "lines": [{"line", "calls"}], "summary": line summary | null,
                "stacks": [stack hit], "linked": [linked calls], "programs": [program use], "runs": [program run],
                "program_lines": [{"line", "ops", "programs": [name]}], "nearby": {"why", "lines": [{"location",
                "calls", "ops", "programs": [name]}]} | null}; a program use has "ops" as [{"kind", "ops"}], the sums
                "calls" and "total_duration" of its "runs", and "fusions" as [{"instruction", "op", "count",
                "shares": [[line, float]]}]
    explain    {"stacks": [{"format", "title", "first_line", "last_line", "innermost_first", "frames": [{"line",
                "function", "is_doubtful": the binary may be another build, "language",
                "location": location | null, "candidates": [location], "module", "address",
                "labels", "outward": [{"path", "line", "column", "function"}]}]}],
                "releases": {"jax" | "jaxlib": {"version", "basis": "text" | "installation" | "recording"}},
                "problems": [str]}: lines of the text are 1-based
    find       {"symbols": [{"name", "kind", "location", "end_line", "function": function | null, "call": int | null}]}
    callers    {"functions": [{"function": function, "callers": [{"function", "calls", "sites": [location]}]}]}; with
               --static also "static": {"callers": [{"name", "location", "end_line", "lines": [int], "one_of": int,
               "is_sure": bool}], "doubtful": int} | null: callers in sources only
    callees    {"functions": [{"function": function, "callees": [{"function", "calls", "sites": [location]}]}]}
    index      {"index", "captures": [{"path", "calls", "stacks", "problems", "grown", "renamed",
                "still_written"}],
                "refused": [{"path", "message"}], "moved": [path], "moved_from": path | null,
                "gone": [{"path", "calls"}],
                "sources": {"files", "parsed", "removed", "definitions", "problems"}, "totals": {...}}
    doctor     {"captures": [capture], "sources": {"roots": [path], "totals": [{"language", "files", ...}], "macros",
                "problems": [{"message", "count", "examples": [path]}]}}
    cmake      {"files": [{"path", "written"}], "root", "sources", "tests", "excluded", "unnamed": int,
                "only_in_compile_commands": [path], "unreadable": [path], "include_folders": {"own": [path below the
                root], "foreign": [path]}, "includes": int, "missing_includes": {first folder: int}}
    ```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framedex.commands.output.terminal import source_is_here
from framedex.texts.captures import format_all_problems, format_unmerged_reason
from framedex.texts.errors import name_error

if TYPE_CHECKING:
    from framedex.base.folders import CaptureFolder
    from framedex.budgets.model import BudgetVerdict
    from framedex.ingest import IndexingReport
    from framedex.ingest.imports import ImportedFile
    from framedex.model import (
        AnswerScope,
        CallEdge,
        CallRow,
        CaptureRow,
        CompileChange,
        Compiles,
        DeviceMemory,
        FfiSite,
        Finding,
        FrameRow,
        FunctionRow,
        FunctionTotals,
        LineSummary,
        LinkedCalls,
        Location,
        NearestLines,
        ProgramMark,
        ProgramRun,
        ProgramUse,
        PythonLine,
        StackHit,
        Startup,
        StaticCallers,
        Trace,
        Transfers,
        WaitsAndLoops,
    )
    from framedex.model.totals import ProfiledRun, ProfileTotals
    from framedex.programs.ffi.model import FfiRegistration, FfiTarget

Document = dict[str, Any]


def build_capture_document(capture: CaptureRow) -> Document:
    """A capture, with its problems as sentences."""
    return asdict(capture) | {
        "stops": asdict(capture.stops) if capture.stops or capture.stops.queries else None,
        "problems": format_all_problems(capture.stops, capture.problems),
    }


def build_captures_document(captures: Sequence[CaptureRow], folders: Mapping[str, CaptureFolder]) -> Document:
    """The captures of an index, with the state of their folders; `folders` is by path.

    The id of a capture that is not indexed is null.
    """
    return {
        "captures": [
            build_capture_document(each) | {"id": each.id or None, "folder": asdict(folders[each.path])}
            for each in captures
        ]
    }


def call_documents(calls: Iterable[CallRow], lines: Mapping[int, PythonLine] | None) -> Iterator[Document]:
    """Calls, with their Python lines if `lines` is given, by call id."""
    for call in calls:
        document = _call_document(call)
        if lines is not None:
            line = lines.get(call.id)
            document["line"] = None if line is None else asdict(line)
        yield document


def answer_document(answer: AnswerScope) -> Document:
    """The captures that an answer counts, and the rule that chose them."""
    captures = [build_capture_document(each) for each in answer.captures]
    return {"captures": captures, "capture": captures[-1] if captures else None, "counted": answer.counted.value}


def _build_device_answer_document(answer: AnswerScope) -> Document:
    """The answer's captures, and the ids of those from the mock TPU, whose device times are those of its CPU."""
    return {**answer_document(answer), "on_mock": list(answer.on_mock)}


def build_imports_document(path: Path, imported: Sequence[ImportedFile]) -> Document:
    """Imported files with their captures; `report` is null for a file that was imported before."""
    return {
        "index": str(path),
        "imported": [
            {
                "capture": each.capture,
                **asdict(each.foreign),
                "report": None if each.report is None else asdict(each.report) | {"path": str(each.report.path)},
            }
            for each in imported
        ],
    }


def build_summary_document(
    answer: AnswerScope, totals: Sequence[FunctionTotals], profiles: Sequence[ProfileTotals]
) -> Document:
    """Totals of calls by function, and the samples of imported profiles."""
    return {
        **_build_device_answer_document(answer),
        "functions": [asdict(each) for each in totals],
        "profiles": [asdict(each) for each in profiles],
    }


def build_compiles_document(answer: AnswerScope, rows: Iterable[Compiles]) -> Document:
    """Compilations by line."""
    return {**answer_document(answer), "compiles": [_compiles_row(row) for row in rows]}


def _compiles_row(row: Compiles) -> Document:
    misses = [asdict(miss) | {"changes": _change_documents(miss.changes)} for miss in row.cache_misses]
    return asdict(row) | {"changes": _change_documents(row.changes), "cache_misses": misses}


def _change_documents(changes: Iterable[CompileChange]) -> list[Document]:
    return [{"cause": each.cause.value, "what": each.what, "values": each.values} for each in changes]


def build_startup_document(answer: AnswerScope, startups: Iterable[Startup]) -> Document:
    """The time of each process until its first step."""
    documents = [asdict(each) for each in startups]
    for document in documents:
        document["parts"] = [part | {"part": part["part"].value} for part in document["parts"]]
    return {**answer_document(answer), "startups": documents}


def build_transfers_document(answer: AnswerScope, rows: Iterable[Transfers]) -> Document:
    """Transfers by line."""
    return {
        **_build_device_answer_document(answer),
        "transfers": [asdict(row) | {"direction": row.direction.value} for row in rows],
    }


def build_memory_document(answer: AnswerScope, devices: Iterable[DeviceMemory], limit: int) -> Document:
    """Device memory by line, at most `limit` lines per device (0: all)."""
    device_documents = []
    for device in devices:
        document = asdict(device)
        document["lines"] = document["lines"][: limit or None]
        device_documents.append({**document, "line_count": len(device.lines)})
    return {**_build_device_answer_document(answer), "devices": device_documents}


def build_waits_document(answer: AnswerScope, found: WaitsAndLoops, limit: int) -> Document:
    """Waits by line, at most `limit` lines (0: all), and all loops."""
    lines = [asdict(row) | {"how": row.how.value} for row in found.lines[: limit or None]]
    return {
        **_build_device_answer_document(answer),
        **{"recorded": found.recorded, "device": found.device, "line_count": len(found.lines)},
        **{"lines": lines, "loops": [asdict(loop) for loop in found.loops]},
        **{"unseen": found.unseen, "unseen_times": found.unseen_times, "unseen_call": found.unseen_call},
        **{"ended_by": found.ended_by},
    }


def check_document(
    answer: AnswerScope,
    findings: Sequence[Finding],
    unjudged: Sequence[str],
    verdicts: Iterable[BudgetVerdict] = (),
    traces: Mapping[int, Trace] | None = None,
) -> Document:
    """The findings of captures, the verdict on each budget, and the requested stacks by call."""
    return {
        **answer_document(answer),
        "findings": [asdict(finding) for finding in findings],
        "unjudged": list(unjudged),
        "budgets": [
            {
                "about": verdict.budget.subject.value,
                "text": verdict.budget.text,
                "most": verdict.budget.limit,
                "is_kept": verdict.is_met,
                "fits": verdict.matches,
                "found": verdict.largest_amount,
                "problem": verdict.problem,
                "doubt": verdict.missing_data,
            }
            for verdict in verdicts
        ],
        **({"stacks": {call: build_trace_document(trace, None) for call, trace in traces.items()}} if traces else {}),
    }


def build_trace_document(trace: Trace, profiled: ProfiledRun | None) -> Document:
    """A call with every frame of its stack, outermost first, and its ops in an imported profile."""
    return asdict(trace) | {
        "profiled": None if profiled is None else asdict(profiled),
        "call": _call_document(trace.call),
        "capture": build_capture_document(trace.capture),
        "reason": format_unmerged_reason(trace),
        "frames": [_build_frame_document(frame) for frame in trace.frames],
        "python": [_build_frame_document(frame) for frame in trace.python],
        "dispatched": [
            asdict(each) | {"frames": [_build_frame_document(frame) for frame in each.frames]}
            for each in trace.dispatched
        ],
        "origin": None
        if trace.origin is None
        else {"how": trace.origin.how.value, "sites": [_build_site_document(site) for site in trace.origin.sites]},
    }


def build_ffi_document(answer: AnswerScope, targets: Sequence[FfiTarget]) -> Document:
    """The FFI targets of captures."""
    return {
        **answer_document(answer),
        "targets": [
            asdict(target)
            | {"sites": [asdict(totals) | {"site": _build_site_document(totals.site)} for totals in target.sites]}
            | {
                "troubles": [
                    asdict(each) | {"sites": list(map(_build_site_document, each.sites))} for each in target.troubles
                ]
            }
            | {"registrations": [_build_registration_document(registration) for registration in target.registrations]}
            for target in targets
        ],
    }


def build_where_document(
    answer: AnswerScope,
    path: str,
    line: int | None,
    counts: dict[int, int],
    summary: LineSummary | None,
    callers: Mapping[tuple[FunctionRow, Location | None], int],
    hits: Sequence[StackHit],
    linked: Sequence[LinkedCalls],
) -> Document:
    """The calls through a file or a line, and the calls on other threads that the line dispatched."""
    return {
        **answer_document(answer),
        "path": path,
        "line": line,
        "lines": [{"line": number, "calls": calls} for number, calls in sorted(counts.items())],
        "summary": None if summary is None else _build_line_summary_document(summary, callers),
        "stacks": [asdict(hit) | {"frame": _build_frame_document(hit.frame)} for hit in hits],
        "linked": [asdict(each) for each in linked],
    }


def build_programs_document(
    uses: Sequence[ProgramUse], runs: Sequence[ProgramRun], marks: Sequence[ProgramMark], nearest: NearestLines | None
) -> Document:
    """The programs that contain a line or run from it, or the lines of a file that are in programs."""
    return {
        "programs": [
            asdict(use)
            | {
                "ops": [{"kind": kind, "ops": count} for kind, count in use.ops],
                "calls": use.calls,
                "total_duration": use.total_duration,
            }
            for use in uses
        ],
        "runs": [asdict(run) for run in runs],
        "program_lines": [asdict(mark) for mark in marks],
        "nearby": None if nearest is None else asdict(nearest),
    }


def build_callers_document(
    answer: AnswerScope,
    groups: Sequence[tuple[FunctionRow, Sequence[CallEdge]]],
    static: Mapping[int, StaticCallers | None],
) -> Document:
    """The callers of each function, with callers that appear only in sources under `static`."""
    return {
        **answer_document(answer),
        "functions": [
            {"function": asdict(function), "callers": [_call_edge_document(edge, edge.caller) for edge in edges]}
            | ({"static": _static_callers(static[function.id])} if function.id in static else {})
            for function, edges in groups
        ],
    }


def _static_callers(found: StaticCallers | None) -> Document | None:
    return None if found is None else asdict(found)


def build_callees_document(answer: AnswerScope, groups: Sequence[tuple[FunctionRow, Sequence[CallEdge]]]) -> Document:
    """The functions that each function called."""
    return {
        **answer_document(answer),
        "functions": [
            {"function": asdict(function), "callees": [_call_edge_document(edge, edge.callee) for edge in edges]}
            for function, edges in groups
        ],
    }


def index_document(path: Path, report: IndexingReport) -> Document:
    """The report of a run of `framedex index`."""
    return {
        "index": str(path),
        "captures": [asdict(capture) | {"path": str(capture.path)} for capture in report.captures],
        "moved": [str(path) for path in report.moved],
        "moved_from": report.moved_from,
        "gone": [asdict(capture) | {"path": str(capture.path)} for capture in report.gone],
        "refused": [{"path": str(capture), "message": error.message} for capture, error in report.refused],
        "sources": asdict(report.sources),
        "totals": asdict(report.totals),
    }


def _call_edge_document(edge: CallEdge, other: FunctionRow) -> Document:
    return {"function": asdict(other), "calls": edge.calls, "sites": [asdict(site) for site in edge.sites]}


def _call_document(call: CallRow) -> Document:
    return asdict(call) | {"error_name": name_error(call.error) if call.error > 0 else None}


def _build_frame_document(frame: FrameRow) -> Document:
    return asdict(frame) | {"source_is_here": source_is_here(frame.location)}


def _build_site_document(site: FfiSite) -> Document:
    return asdict(site) | {"frames": [_build_frame_document(frame) for frame in site.frames]}


def _build_registration_document(registration: FfiRegistration) -> Document:
    from framedex.programs.ffi.signatures import jax_platform_name

    return asdict(registration) | {"platform": jax_platform_name(registration.platform)}


def _build_line_summary_document(
    summary: LineSummary, callers: Mapping[tuple[FunctionRow, Location | None], int]
) -> Document:
    document = asdict(summary)
    document["frame_lines"] = list(summary.frame_lines)
    document["latest_capture"] = build_capture_document(summary.latest_capture)
    document["boundaries"] = [
        {"function": name, "calls": calls, "total_duration": duration} for name, calls, duration in summary.boundaries
    ]
    document["callers"] = [
        {"function": asdict(function), "calls": calls, "site": None if site is None else asdict(site)}
        for (function, site), calls in callers.items()
    ]
    return document
