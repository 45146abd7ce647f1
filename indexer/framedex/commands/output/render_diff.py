"""Differences between two recordings, as lines to print and as a JSON document.

The JSON document:

    ```
    {"before": side, "after": side, "devices": [quantity], "functions": [{"function", "quantities": [quantity],
    "call_before", "call_after": int | null}], "lines": [{"before", "after": line | null, "quantities": [quantity],
    "roads": [branch], "why": [str], "duration_before", "duration_after": int}], "loops": [{"before", "after": line |
    null, "quantities": [quantity], "rounds": [{"number": int, "quantities": [quantity]}]}], "unchanged": int}

    side       {"index", "captures": [capture], "capture", "counted", "versions": {name: str}}
    quantity   {"about": "calls" | "times" | "bytes" | "compiles", "name", "of", "before", "after": int | null}
    branch     {"depth", "function", "language", "place", "before", "after": calls}
    ```

Times are in nanoseconds, and the durations of a line are sums over its calls. The branches of a line (`roads`) list
callers before their callees. `why` has sentences about differences between the compiled programs. Lines and captures
are as in `documents.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from framedex.base.plaintext import make_printable
from framedex.commands.output.documents import Document, answer_document
from framedex.commands.output.render_calls import render_hidden_rows_line, render_python_line
from framedex.commands.output.terminal import Line, Span, measure_columns, render_text_line
from framedex.diff.stack_paths import split_runs
from framedex.diff.text import (
    format_change,
    format_path_section,
    format_quantity,
    format_side_heading,
    format_summary,
    format_versions,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from framedex.diff.model import Differences, DiffSide, FunctionDiff, LineDiff, LoopDiff, PathFrame, Quantity
    from framedex.model import PythonLine

_LABEL = 8
_LAST_NAME = "calls"  # printed last, because it has many rows
_STYLES = {" ": "dim", "-": "error", "+": "native"}


def render_diff_lines(differences: Differences, limit: int) -> Iterator[Line]:
    """All differences, at most `limit` of each list (0: all)."""
    for label, side in (("before", differences.before), ("after", differences.after)):
        yield (Span(label.ljust(_LABEL), "dim"), Span(format_side_heading(side), "head"))
    if changed := format_versions(differences):
        yield render_text_line(f"{'':{_LABEL}}{'; '.join(changed)}")
    yield ()
    yield render_text_line(format_summary(differences))
    for text in map(format_quantity, differences.devices):
        yield render_text_line(f"  {text}")
    yield from _render_function_lines(differences.functions, limit)
    for line in differences.lines[: limit or None]:
        yield ()
        yield from _render_line_diff_lines(line, limit)
    yield from render_hidden_rows_line(len(differences.lines) - limit if limit else 0, "line")
    for loop in differences.loops[: limit or None]:
        yield ()
        yield from _render_loop_lines(loop, limit)
    yield from render_hidden_rows_line(len(differences.loops) - limit if limit else 0, "loop")


def _render_function_lines(functions: Sequence[FunctionDiff], limit: int) -> Iterator[Line]:
    if not functions:
        return
    yield ()
    yield (Span("functions of the runtime", "head"),)
    shown = functions[: limit or None]
    cells = [(make_printable(each.function), "; ".join(map(format_quantity, each.quantities))) for each in shown]
    width = measure_columns(*cells)[0]
    for name, quantities in cells:
        yield (Span(f"  {name.ljust(width)}  ", "native"), Span(make_printable(quantities)))
    yield from render_hidden_rows_line(len(functions) - len(shown), "function", indent=2)


def _render_line_diff_lines(line: LineDiff, limit: int) -> Iterator[Line]:
    yield from _render_location_lines(line.before, line.after)
    names = dict.fromkeys(each.name for each in line.quantities)
    for name in sorted(names, key=lambda each: each == _LAST_NAME):
        yield from _render_quantity_lines(name, [each for each in line.quantities if each.name == name], limit)
    for why in line.why[: limit or None]:
        yield render_text_line(f"    {make_printable(why)}", "dim")
    yield from render_hidden_rows_line(len(line.why) - limit if limit else 0, "change", indent=4)
    yield from _render_stack_path_lines(line.paths, limit)


def _render_location_lines(before: PythonLine | None, after: PythonLine | None) -> Iterator[Line]:
    """The line in the second recording, and its earlier position if it moved."""
    shown = after or before
    if shown is None:
        yield (Span("calls without a recorded Python line", "head"),)
        return
    marks = {(True, False): "only after", (False, True): "only before"}
    mark = marks.get((before is None, after is None), "")
    yield (*render_python_line(shown, 0), Span(f"  ({mark})" if mark else "", "dim"))
    if before and after and before.location.line != after.location.line:
        yield (Span("    before  ", "dim"), *render_python_line(before, 0))


def _render_quantity_lines(name: str, quantities: Sequence[Quantity], limit: int) -> Iterator[Line]:
    """The quantities of one name, largest change first."""
    by_change = sorted(quantities, key=lambda each: -abs(each.change))
    for each in by_change[: limit or None]:
        yield (Span(f"    {name}  ", "dim"), Span(make_printable(f"{each.of}  " * bool(each.of) + format_change(each))))
    yield from render_hidden_rows_line(len(quantities) - limit if limit else 0, "number", indent=4)


def _render_loop_lines(loop: LoopDiff, limit: int) -> Iterator[Line]:
    yield (Span("loop of", "head"),)
    yield from _render_location_lines(loop.before, loop.after)
    for each in loop.quantities:
        yield render_text_line(f"    {format_quantity(each)}")
    for round_ in loop.rounds[: limit or None]:
        yield render_text_line(f"    iteration {round_.number}: {'; '.join(map(format_quantity, round_.quantities))}")
    yield from render_hidden_rows_line(len(loop.rounds) - limit if limit else 0, "iteration", indent=4)


def _render_stack_path_lines(branches: Sequence[PathFrame], limit: int) -> Iterator[Line]:
    """The tree of stack paths that differ; frames without a fork between them share a row."""
    if not branches:
        return
    yield render_text_line("    stack paths (- only before, + only after)", "dim")
    found = split_runs(branches)
    for run in found[: limit or None]:
        yield (
            Span(f"    {run.mark} {'  ' * run.preceding_forks}"),
            Span(make_printable(format_path_section(run)), _STYLES[run.mark]),
        )
    yield from render_hidden_rows_line(len(found) - limit if limit else 0, "row", indent=4)


def build_diff_document(differences: Differences) -> Document:
    """The differences as a JSON document."""
    return {
        "before": _build_side_document(differences.before),
        "after": _build_side_document(differences.after),
        "devices": _build_quantity_documents(differences.devices),
        "functions": [
            asdict(each) | {"quantities": _build_quantity_documents(each.quantities)} for each in differences.functions
        ],
        "lines": [_build_line_document(each) for each in differences.lines],
        "loops": [
            asdict(each)
            | {
                "quantities": _build_quantity_documents(each.quantities),
                "rounds": [
                    {"number": round_.number, "quantities": _build_quantity_documents(round_.quantities)}
                    for round_ in each.rounds
                ],
            }
            for each in differences.loops
        ],
        "unchanged": differences.unchanged,
    }


def _build_line_document(line: LineDiff) -> Document:
    document = asdict(line) | {"quantities": _build_quantity_documents(line.quantities)}
    document["roads"] = list(map(_build_branch_document, line.paths))
    del document["paths"]
    return document


def _build_side_document(side: DiffSide) -> Document:
    return {"index": side.index, **answer_document(side.answer), "versions": dict(side.versions)}


def _build_quantity_documents(quantities: Iterable[Quantity]) -> list[Document]:
    return [asdict(each) | {"about": each.about.value} for each in quantities]


def _build_branch_document(branch: PathFrame) -> Document:
    return asdict(branch)
