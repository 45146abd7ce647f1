"""The JSON that verbs print for programs.

Keys are stable; new ones may be added. Captures, calls, functions, frames, locations, line summaries and stack hits are
the types of `framedex.model` field by field, times in nanoseconds: a location is `{"path", "line", "how"}` or null, a
call `{"id", "capture", "function", "boundary", "thread", "start", "duration", "error", "arguments", "stack"}`.

    captures   {"captures": [capture]}
    calls      {"total": int, "calls": [call]}
    trace      {"call": call, "capture": capture, "frames": [frame], "python": [frame], "reason": str | null}
    where      {"path", "line": int | null, "lines": [{"line", "calls"}], "summary": line summary | null,
                "stacks": [stack hit]}
    callers    {"functions": [{"function": function, "callers": [{"function", "calls", "sites": [location]}]}]}
    callees    {"functions": [{"function": function, "callees": [{"function", "calls", "sites": [location]}]}]}
    index      {"index", "captures": [{"path", "calls", "stacks", "problems"}], "refused": [{"path", "message"}],
                "sources": {"files", "parsed", "removed", "definitions", "problems"}, "totals": {...}}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framedex.model import CallRow, CaptureRow, Edge, FunctionRow, LineSummary, StackHit, Trace

if TYPE_CHECKING:
    from framedex.ingest import Report

Document = dict[str, Any]


def captures_document(captures: Sequence[CaptureRow]) -> Document:
    """The captures of an index."""
    return {"captures": [asdict(capture) for capture in captures]}


def calls_document(calls: Sequence[CallRow], total: int) -> Document:
    """The calls shown, and how many pass the filter in all."""
    return {"total": total, "calls": [asdict(call) for call in calls]}


def trace_document(trace: Trace) -> Document:
    """A trace with every frame, outermost first."""
    return asdict(trace)


def where_document(
    path: str, line: int | None, counts: dict[int, int], summary: LineSummary | None, hits: Sequence[StackHit]
) -> Document:
    """What passes a file or a line."""
    return {
        "path": path,
        "line": line,
        "lines": [{"line": number, "calls": calls} for number, calls in sorted(counts.items())],
        "summary": None if summary is None else _summary(summary),
        "stacks": [asdict(hit) for hit in hits],
    }


def callers_document(groups: Sequence[tuple[FunctionRow, Sequence[Edge]]]) -> Document:
    """The callers of each function."""
    return {
        "functions": [
            {"function": asdict(function), "callers": [_edge(edge, edge.caller) for edge in edges]}
            for function, edges in groups
        ]
    }


def callees_document(groups: Sequence[tuple[FunctionRow, Sequence[Edge]]]) -> Document:
    """The functions that each function called."""
    return {
        "functions": [
            {"function": asdict(function), "callees": [_edge(edge, edge.callee) for edge in edges]}
            for function, edges in groups
        ]
    }


def index_document(path: Path, report: Report) -> Document:
    """What a run of `framedex index` did."""
    return {
        "index": str(path),
        "captures": [asdict(capture) | {"path": str(capture.path)} for capture in report.captures],
        "refused": [{"path": str(capture), "message": error.message} for capture, error in report.refused],
        "sources": asdict(report.sources),
        "totals": asdict(report.totals),
    }


def _edge(edge: Edge, other: FunctionRow) -> Document:
    return {"function": asdict(other), "calls": edge.calls, "sites": [asdict(site) for site in edge.sites]}


def _summary(summary: LineSummary) -> Document:
    document = asdict(summary)
    document["boundaries"] = [
        {"function": name, "calls": calls, "total_duration": duration} for name, calls, duration in summary.boundaries
    ]
    document["callers"] = [{"function": asdict(function), "calls": calls} for function, calls in summary.callers]
    return document
