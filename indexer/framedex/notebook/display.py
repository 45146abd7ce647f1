"""The display of answers, captures and traces in IPython: HTML for notebooks, text for terminals."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from framedex import words
from framedex.commands.report.contents import contents_of
from framedex.commands.report.fragment import facts_fragment, fragment, trace_fragment
from framedex.commands.report.writing import usual_editor
from framedex.costtext import compiles_total, held_on, memory_total, transfers_total, waits_total
from framedex.index import Index
from framedex.missing import all_problems
from framedex.model import CallFilter, Capture, CaptureRow, Metadata, Trace
from framedex.notebook.answers import Recorded
from framedex.plaintext import visible
from framedex.scopetext import answer_heading
from framedex.tracetext import format_trace

Facts = tuple[str, tuple[tuple[str, str], ...]]
"""A heading, and named facts below it."""

_MOST_FLAMES = 400
"""Maximum number of functions in a flame graph: a notebook stores it with every recorded cell."""


def _recorded_html(recorded: Recorded) -> str:
    return _index_html(recorded.index)


def _recorded_text(recorded: Recorded) -> str:
    return _index_text(recorded.index)


def _index_html(index: Index) -> str:
    return fragment(contents_of(index, index.answer_of(), _MOST_FLAMES), usual_editor())


def _index_text(index: Index) -> str:
    calls = sum(row.calls for row in index.calls.totals(CallFilter(), by_thread=False))
    return "\n".join(
        (
            answer_heading(index.answer_of()),
            f"calls: {calls:,}",
            f"compiles: {compiles_total(index.compiles())}",
            f"transfers: {transfers_total(index.transfers())}",
            f"memory: {memory_total(list(held_on(index.memory())))}",
            f"waits: {waits_total(index.waits().lines)}",
        )
    )


def _trace_html(trace: Trace) -> str:
    return trace_fragment(trace, usual_editor())


def _row_facts(row: CaptureRow) -> Facts:
    metadata = Metadata.parse(row.metadata_text)
    packages = metadata.launch.packages if metadata.launch is not None else {}
    return (
        f"Capture {row.id}",
        (
            ("Program", row.command),
            ("Began", words.clock(row.started)),
            ("Calls", f"{row.calls:,}"),
            ("Stacks", f"{row.stacks:,}"),
            ("With", ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))),
            ("Folder", row.path),
            *(("Lacks", problem) for problem in all_problems(row.stops, row.problems)),
        ),
    )


def _capture_facts(capture: Capture) -> Facts:
    return (
        "Capture",
        (
            ("Program", shlex.join(capture.metadata.argv)),
            ("Calls", f"{len(capture.calls):,}"),
            ("Stacks", f"{len(capture.stacks):,}"),
            ("Threads", ", ".join(thread.name for thread in capture.threads)),
            ("Folder", str(capture.path)),
            *(("Lacks", problem) for problem in all_problems(capture.stops, capture.problems)),
        ),
    )


def _facts_text(found: Facts) -> str:
    heading, facts = found
    return "\n".join([heading, *(f"  {name}: {visible(value)}" for name, value in facts)])


_SHOWN: tuple[tuple[type, Callable[[Any], str], Callable[[Any], str]], ...] = (
    (Recorded, _recorded_html, _recorded_text),
    (Index, _index_html, _index_text),
    (Trace, _trace_html, format_trace),
    (CaptureRow, lambda row: facts_fragment(*_row_facts(row)), lambda row: _facts_text(_row_facts(row))),
    (Capture, lambda each: facts_fragment(*_capture_facts(each)), lambda each: _facts_text(_capture_facts(each))),
)
"""The displayed types, with their HTML and text formatters."""


def install(shell: Any) -> None:
    """Register the formatters in a shell."""
    formatters = shell.display_formatter.formatters
    for shown, html, text in _SHOWN:
        formatters["text/html"].for_type(shown, html)
        formatters["text/plain"].for_type(shown, lambda value, printer, _, text=text: printer.text(text(value)))


def remove(shell: Any) -> None:
    """Undo `install`."""
    formatters = shell.display_formatter.formatters
    for shown, _, _ in _SHOWN:
        formatters["text/html"].pop(shown, None)
        formatters["text/plain"].pop(shown, None)
