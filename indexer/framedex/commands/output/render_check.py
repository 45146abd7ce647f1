"""The findings of `framedex check` as lines to print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.output.proposals import build_trace_command
from framedex.commands.output.render_calls import render_python_line
from framedex.commands.output.terminal import Line, Span
from framedex.model import Severity
from framedex.texts.calls import add_plugin, format_function
from framedex.texts.errors import abbreviate_message

if TYPE_CHECKING:
    from framedex.model import Finding, Trace

_INDENT = 10


def rule_traces(findings: Iterable[Finding], trace_of: Callable[[int], Trace | None]) -> dict[int, Trace]:
    """The stacks of calls that break rules and of the earlier calls that caused them, by call."""
    calls = dict.fromkeys(call for finding in findings for call in _rule_calls(finding))
    traces = {call: trace_of(call) for call in calls}
    return {call: trace for call, trace in traces.items() if trace is not None}


def check_lines(findings: Sequence[Finding], traces: Mapping[int, Trace], *, has_index: bool = True) -> Iterator[Line]:
    """The findings of a capture by kind, each with its Python line and call, and the number of occurrences.

    `traces` are the stacks to show, by call. Commands are proposed only for a permanent index.
    """
    for kind, same in groupby(findings, lambda finding: finding.kind):
        group = list(same)
        first = group[0]
        style = "head" if first.severity is Severity.NOTE else "error"
        breaker = f", broken by the {first.broken_by}" if first.broken_by else ""
        yield ()
        yield (
            Span(f"{first.severity}: {kind}", style),
            Span(f"  {sum(each.count for each in group):,}{breaker}", "dim"),
        )
        for finding in group:
            yield from _render_finding_lines(finding)
            if has_index:
                yield _render_commands_line(finding)
            for call in _rule_calls(finding):
                if call in traces:
                    yield from _render_stack_lines(traces[call])


def _rule_calls(finding: Finding) -> list[int]:
    """The call that breaks a rule, and the earlier one; none if the finding is not about a rule."""
    calls = (finding.call, finding.earlier_call) if finding.broken_by is not None else ()
    return [call for call in calls if call is not None]


def _render_finding_lines(finding: Finding) -> Iterator[Line]:
    message, *more = abbreviate_message(finding.message)
    yield (
        Span(f"{finding.count:>8,}  "),
        Span(add_plugin(finding.function, finding.plugin), "native"),
        Span(f" {make_printable(message)}"),
    )
    for line in more:
        yield (Span(f"{'':{_INDENT}}{make_printable(line)}"),)
    if finding.objects:
        yield (Span(f"{'':{_INDENT}}{_format_objects(finding)}"),)
    yield render_python_line(finding.line, _INDENT)
    if finding.earlier_line not in (None, finding.line):
        yield (Span(f"{'':{_INDENT}}after ", "dim"), *render_python_line(finding.earlier_line, 0))


def _render_commands_line(finding: Finding) -> Line:
    earlier = f", {build_trace_command(finding.earlier_call)}" if finding.earlier_call is not None else ""
    return (Span(f"{'':{_INDENT}}{build_trace_command(finding.call)}{earlier}", "dim"),)


def _render_stack_lines(trace: Trace) -> Iterator[Line]:
    from framedex.commands.output.render_trace import render_folded_frames, render_stack_lines

    indent = Span(f"{'':{_INDENT}}")
    yield (indent, Span(f"call {trace.call.id}  ", "head"), Span(format_function(trace.call), "native"))
    for line in render_stack_lines(trace, render_folded_frames):
        yield (indent, *line)


def _format_objects(finding: Finding) -> str:
    more = finding.count - len(finding.objects)
    names = ", ".join(finding.objects) + (f" and {more:,} more" if more > 0 else "")
    return names if finding.size is None else f"{names}: {words.format_size(finding.size)}"
