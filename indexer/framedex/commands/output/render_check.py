"""Findings as lines to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.proposals import trace_command
from framedex.commands.output.render_calls import python_line
from framedex.commands.output.terminal import Span
from framedex.errortext import innermost_lines
from framedex.model import Severity
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.commands.output.terminal import Line
    from framedex.model import Finding

_INDENT = 10


def check_lines(findings: Sequence[Finding]) -> Iterator[Line]:
    """The findings of a capture by kind, each with its Python line and call, and the number of occurrences."""
    for kind, same in groupby(findings, lambda finding: finding.kind):
        group = list(same)
        style = "head" if group[0].severity is Severity.NOTE else "error"
        yield ()
        yield (Span(f"{group[0].severity}: {kind}", style), Span(f"  {sum(each.count for each in group):,}", "dim"))
        for finding in group:
            yield from _finding(finding)


def _finding(finding: Finding) -> Iterator[Line]:
    message, *more = innermost_lines(finding.message)
    yield (
        Span(f"{finding.count:>8,}  "),
        Span(printable(finding.function), "native"),
        Span(f" {printable(message)}"),
    )
    for line in more:
        yield (Span(f"{'':{_INDENT}}{printable(line)}"),)
    if finding.objects:
        yield (Span(f"{'':{_INDENT}}{_objects(finding)}"),)
    yield python_line(finding.line, _INDENT)
    earlier = f", {trace_command(finding.earlier_call)}" if finding.earlier_call is not None else ""
    yield (Span(f"{'':{_INDENT}}{trace_command(finding.call)}{earlier}", "dim"),)


def _objects(finding: Finding) -> str:
    more = finding.count - len(finding.objects)
    names = ", ".join(finding.objects) + (f" and {more:,} more" if more > 0 else "")
    return names if finding.size is None else f"{names}: {words.size(finding.size)}"
