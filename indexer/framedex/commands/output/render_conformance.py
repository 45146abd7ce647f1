"""The text of `framedex conform`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.output.terminal import Line, Span, measure_columns
from framedex.plugins.conformance.junit import format_stack_texts
from framedex.plugins.conformance.levels import judge_levels
from framedex.plugins.conformance.model import FAILURES, Check, CheckResult, Report, Status

_SHOWN_FRAMES = 12
_STYLES = {Status.PASS: "native", Status.UNSUPPORTED: "dim", Status.SKIPPED: "dim"}


def report_lines(report: Report, *, with_all: bool) -> Iterator[Line]:
    """The plug-in, its failures (or all checks), the number of results, and the level for each JAX release."""
    yield from _render_heading_lines(report)
    for group, members in groupby(report.results, lambda result: result.check.group):
        shown = [result for result in members if with_all or result.status in FAILURES]
        if shown:
            yield ()
            yield (Span(group, "head"),)
            for result in shown:
                yield from _render_result_lines(result)
    yield ()
    yield (Span(f"{words.count(len(report.results), 'check')}: {_format_counts(report)}"),)
    yield from _render_level_lines(report)


def _render_heading_lines(report: Report) -> Iterator[Line]:
    yield (Span(make_printable(Path(report.plugin).name), "head"),)
    platform = f", platform {report.platform}" if report.platform else ""
    extensions = ", ".join(report.extensions) or "none"
    yield (Span(f"PJRT C API {report.version[0]}.{report.version[1]}{make_printable(platform)}"),)
    yield (Span(f"extensions: {make_printable(extensions)}"),)


def _render_result_lines(result: CheckResult) -> Iterator[Line]:
    style = _STYLES.get(result.status, "error")
    yield (Span(f"  {result.status.value:<11} ", style), Span(make_printable(result.check.name)))
    if result.status in FAILURES:
        yield (Span(f"              {make_printable(result.check.rule)}", "dim"),)
    if result.detail:
        yield (Span(f"              {make_printable(result.detail.splitlines()[0])}"),)
    for text in format_stack_texts(result)[:_SHOWN_FRAMES]:
        yield (Span(f"              {make_printable(text)}", "native"),)


def _format_counts(report: Report) -> str:
    return ", ".join(f"{count} {status.value}" for status, count in report.counts().items() if count)


def _render_level_lines(report: Report) -> Iterator[Line]:
    for level in judge_levels(report):
        missing = f"{len(level.missing)} missing" if level.missing else "none missing"
        style = "error" if level.missing else ""
        yield (Span(f"JAX {level.jax} needs {level.needed} functions: "), Span(missing, style))
        for name, (problem, programs) in level.missing.items():
            used = words.count(programs, "program")
            yield (Span(f"  {make_printable(name)}: {problem}, needed by {used} of {level.programs}"),)


def render_comparison_lines(first: Report, second: Report) -> Iterator[Line]:
    """Two reports side by side: the counts, and each check with different results."""
    names = [Path(report.plugin).name for report in (first, second)]
    yield (Span(" and ".join(map(make_printable, names)), "head"),)
    for name, report, other in zip(names, (first, second), (second, first), strict=True):
        version = "{}.{}".format(*report.version)
        yield (Span(f"{make_printable(name)}: PJRT C API {version}, {_format_counts(report)}"),)
        if only := [each for each in report.extensions if each not in other.extensions]:
            yield (Span(f"  extensions that the other lacks: {', '.join(only)}"),)
    of_second = {each.check.name: each.status.value for each in second.results}
    pairs = [(each.check.name, each.status.value, of_second.get(each.check.name, "")) for each in first.results]
    cells = [(name, one, two) for name, one, two in pairs if one != two]
    yield ()
    yield (Span(f"{words.count(len(cells), 'check')} with different results"),)
    widths = measure_columns(*cells)
    for row in cells:
        yield (Span("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()),)


def check_lines(checks: Sequence[Check]) -> Iterator[Line]:
    """The checks by group, with their rules and functions."""
    for group, members in groupby(checks, lambda check: check.group):
        yield (Span(group, "head"),)
        for check in members:
            yield (Span(f"  {make_printable(check.name)}"), Span(f"  {make_printable(check.rule)}", "dim"))
    functions = {name for check in checks for name in check.covers}
    yield (Span(f"{words.count(len(checks), 'check')} of {words.count(len(functions), 'function')}"),)
