"""What two recordings differ in, as a JSON document.

    {"before": side, "after": side, "devices": [quantity], "functions": [{"function", "quantities": [quantity],
    "call_before", "call_after": int | null}], "lines": [{"before", "after": line | null, "quantities": [quantity],
    "roads": [branch], "why": [str], "duration_before", "duration_after": int}], "loops": [{"before", "after": line |
    null, "quantities": [quantity], "rounds": [{"number": int, "quantities": [quantity]}]}], "unchanged": int}

A side is {"index", "captures": [capture], "capture", "counted", "versions": {name: str}}; a quantity {"about": "calls"
| "times" | "bytes" | "compiles", "name", "of", "before", "after": int | null}, times in nanoseconds; a branch {"depth",
"function", "language", "place", "before", "after": calls}, callers before their callees. `why` are sentences: what is
other in the programs that are compiled. The durations of a line are those of all its calls, ns. Lines and captures are
as in `documents.py`.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from framedex.commands.output.documents import Document, answer_document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from framedex.diff.model import Branch, Differences, Quantity, Side


def diff_document(differences: Differences) -> Document:
    """Everything that differs."""
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
