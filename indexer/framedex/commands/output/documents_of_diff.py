"""The differences between two recordings as a JSON document.

    {"before": side, "after": side, "devices": [quantity], "functions": [{"function", "quantities": [quantity],
    "call_before", "call_after": int | null}], "lines": [{"before", "after": line | null, "quantities": [quantity],
    "roads": [branch], "why": [str], "duration_before", "duration_after": int}], "loops": [{"before", "after": line |
    null, "quantities": [quantity], "rounds": [{"number": int, "quantities": [quantity]}]}], "unchanged": int}

A side is {"index", "captures": [capture], "capture", "counted", "versions": {name: str}}. A quantity is {"about":
"calls" | "times" | "bytes" | "compiles", "name", "of", "before", "after": int | null}, with times in nanoseconds. A
branch is {"depth", "function", "language", "place", "before", "after": calls}, callers before their callees. `why` are
sentences about differences between the compiled programs. The durations of a line are sums over its calls, in
nanoseconds. Lines and captures are as in `documents.py`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from framedex.commands.output.documents import Document, answer_document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from framedex.diff.model import Branch, Differences, Quantity, Side


def diff_document(differences: Differences) -> Document:
    """The differences as a JSON document."""
    return {
        "before": _side(differences.before),
        "after": _side(differences.after),
        "devices": _quantities(differences.devices),
        "functions": [asdict(each) | {"quantities": _quantities(each.quantities)} for each in differences.functions],
        "lines": [
            asdict(each) | {"quantities": _quantities(each.quantities), "roads": list(map(_branch, each.roads))}
            for each in differences.lines
        ],
        "loops": [
            asdict(each)
            | {
                "quantities": _quantities(each.quantities),
                "rounds": [{"number": of.number, "quantities": _quantities(of.quantities)} for of in each.rounds],
            }
            for each in differences.loops
        ],
        "unchanged": differences.unchanged,
    }


def _side(side: Side) -> Document:
    return {"index": side.index, **answer_document(side.answer), "versions": dict(side.versions)}


def _quantities(quantities: Iterable[Quantity]) -> list[Document]:
    return [asdict(each) | {"about": each.about.value} for each in quantities]


def _branch(branch: Branch) -> Document:
    return asdict(branch)
