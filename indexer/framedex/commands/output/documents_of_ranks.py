"""The differences between the ranks of a job as a JSON document.

    {"job": str, "ranks": [{"rank", "capture", "path", "host", "calls"}], "compared": int, "loop": null | {"path",
    "line", "function", "steps": int, "step_ns": int}, "clocks": [{"rank", "ahead_ns": int, "gains_ns_per_second":
    float}], "findings": [finding], "notes": [str], "left_out": [str]}

A finding is {"kind", "severity", "ranks": [int], "tells": str, "step": int | null, "steps": [int], "times": int,
"path", "line", "capture", "call", "stack", "other_rank", "other_call", "delay_ns": int}. Missing values are null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from framedex.commands.output.documents import Document

if TYPE_CHECKING:
    from framedex.fleet.ranks.model import Comparison, Finding


def ranks_document(comparison: Comparison, left_out: Sequence[str]) -> Document:
    """The comparison of ranks as a JSON document."""
    loop = comparison.loop
    return {
        "job": comparison.job,
        "ranks": [asdict(member) for member in comparison.members],
        "compared": comparison.compared,
        "loop": None
        if loop is None
        else {
            "path": loop.path,
            "line": loop.line,
            "function": loop.function,
            "steps": loop.steps,
            "step_ns": loop.step,
        },
        "clocks": [
            {"rank": each.rank, "ahead_ns": each.offset, "gains_ns_per_second": each.drift}
            for each in comparison.clocks
        ],
        "findings": [_finding(each) for each in comparison.findings],
        "notes": list(comparison.notes),
        "left_out": list(left_out),
    }


def _finding(finding: Finding) -> Document:
    told = asdict(finding)
    delay = told.pop("delay")
    return told | {
        "kind": finding.kind.value,
        "severity": finding.severity.value,
        "ranks": list(finding.ranks),
        "steps": list(finding.steps),
        "delay_ns": delay,
    }
