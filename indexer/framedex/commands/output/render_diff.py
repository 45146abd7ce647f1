"""Differences between two recordings as lines to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex.commands.output.costs.rows import rest_line
from framedex.commands.output.render_calls import python_line
from framedex.commands.output.tables import column_widths
from framedex.commands.output.terminal import Line, Span, text_line
from framedex.diff.runs import runs
from framedex.difftext import change_of, quantity_text, run_text, side_heading, summary_text, versions_text
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.diff.model import Branch, Differences, OfFunction, OfLine, OfLoop, Quantity
    from framedex.model import PythonLine

_LABEL = 8
_MANY = "calls"  # last, because it appears for many functions
_STYLES = {" ": "dim", "-": "error", "+": "native"}


def diff_lines(differences: Differences, limit: int) -> Iterator[Line]:
    """All differences, at most `limit` of each list (0: all)."""
    for label, side in (("before", differences.before), ("after", differences.after)):
        yield (Span(label.ljust(_LABEL), "dim"), Span(side_heading(side), "head"))
    if changed := versions_text(differences):
        yield text_line(f"{'':{_LABEL}}{'; '.join(changed)}")
    yield ()
    yield text_line(summary_text(differences))
    for text in map(quantity_text, differences.devices):
        yield text_line(f"  {text}")
    yield from _functions(differences.functions, limit)
    for line in differences.lines[: limit or None]:
        yield ()
        yield from _line(line, limit)
    yield from rest_line(len(differences.lines) - limit if limit else 0, "line")
    for loop in differences.loops[: limit or None]:
        yield ()
        yield from _loop(loop, limit)
    yield from rest_line(len(differences.loops) - limit if limit else 0, "loop")


def _functions(functions: Sequence[OfFunction], limit: int) -> Iterator[Line]:
    if not functions:
        return
    yield ()
    yield (Span("functions of the runtime", "head"),)
    shown = functions[: limit or None]
    cells = [(printable(each.function), "; ".join(map(quantity_text, each.quantities))) for each in shown]
    width = column_widths(*cells)[0]
    for name, told in cells:
        yield (Span(f"  {name.ljust(width)}  ", "native"), Span(printable(told)))
    yield from rest_line(len(functions) - len(shown), "function", indent=2)


def _line(line: OfLine, limit: int) -> Iterator[Line]:
    yield from _places(line.before, line.after)
    names = dict.fromkeys(each.name for each in line.quantities)
    for name in sorted(names, key=lambda each: each == _MANY):
        yield from _quantities(name, [each for each in line.quantities if each.name == name], limit)
    for why in line.why[: limit or None]:
        yield text_line(f"    {printable(why)}", "dim")
    yield from rest_line(len(line.why) - limit if limit else 0, "change", indent=4)
    yield from _roads(line.roads, limit)


def _places(before: PythonLine | None, after: PythonLine | None) -> Iterator[Line]:
    """The line in the second recording, and its earlier position if it moved."""
    shown = after or before
    if shown is None:
        yield (Span("calls of which no Python is known", "head"),)
        return
    marks = {(True, False): "only after", (False, True): "only before"}
    mark = marks.get((before is None, after is None), "")
    yield (*python_line(shown, 0), Span(f"  ({mark})" if mark else "", "dim"))
    if before and after and before.location.line != after.location.line:
        yield (Span("    before  ", "dim"), *python_line(before, 0))


def _quantities(name: str, quantities: Sequence[Quantity], limit: int) -> Iterator[Line]:
    """Numbers of one name, largest changes first."""
    by_change = sorted(quantities, key=lambda each: -abs(each.change))
    for each in by_change[: limit or None]:
        yield (Span(f"    {name}  ", "dim"), Span(printable(f"{each.of}  " * bool(each.of) + change_of(each))))
    yield from rest_line(len(quantities) - limit if limit else 0, "number", indent=4)


def _loop(loop: OfLoop, limit: int) -> Iterator[Line]:
    yield (Span("loop of", "head"),)
    yield from _places(loop.before, loop.after)
    for each in loop.quantities:
        yield text_line(f"    {quantity_text(each)}")
    for of_round in loop.rounds[: limit or None]:
        yield text_line(f"    round {of_round.number}: {'; '.join(map(quantity_text, of_round.quantities))}")
    yield from rest_line(len(loop.rounds) - limit if limit else 0, "round", indent=4)


def _roads(branches: Sequence[Branch], limit: int) -> Iterator[Line]:
    """The tree of stack paths that differ; frames without a fork between them share a row."""
    if not branches:
        return
    yield text_line("    roads (- only before, + only after)", "dim")
    found = runs(branches)
    for run in found[: limit or None]:
        yield (Span(f"    {run.mark} {'  ' * run.forks}"), Span(printable(run_text(run)), _STYLES[run.mark]))
    yield from rest_line(len(found) - limit if limit else 0, "row", indent=4)
