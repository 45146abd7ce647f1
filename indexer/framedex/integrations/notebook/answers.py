"""The answers of the index for one cell, and their display: HTML for notebooks, text for terminals."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_visible
from framedex.commands.report.contents import read_contents
from framedex.commands.report.fragment import build_trace_fragment, render_facts_fragment, render_fragment
from framedex.commands.report.page import default_editor
from framedex.index import Index
from framedex.index.cost_tables import CostTables
from framedex.model import CallFilter, Capture, CaptureRow, Metadata, Trace
from framedex.texts.captures import format_all_problems, format_device_answer_heading
from framedex.texts.compilations import format_compiles_total
from framedex.texts.costs import format_memory_total, format_transfers_total, format_waits_total, list_memory_by_line
from framedex.texts.traces import format_trace

if TYPE_CHECKING:
    from framedex.index import Store
    from framedex.index.ask.call.calls import Calls


class CellAnswers(CostTables):
    """The recording of a cell, with the queries of `framedex.open_index()`. Durations are in ns, sizes in bytes.

    In a notebook it displays itself.
    """

    def __init__(self, index_path: Path, captures: Sequence[Path]) -> None:
        self.index_path = index_path
        self._captures = tuple(captures)

    @cached_property
    def index(self) -> Index:
        """The index of these captures alone. Raises FramedexError if they were removed from it."""
        wanted = {str(path.resolve()) for path in self._captures}
        with Index.open(self.index_path) as index:
            found = [row.id for row in index.captures() if row.path in wanted]
            if not found:
                raise FramedexError("The capture of this cell was removed from the index.", "Run the cell again.")
            return index.restrict_to_captures(found)

    @cached_property
    def calls(self) -> Calls:
        """The recorded calls and their stacks. The sources are indexed at the first access."""
        from framedex.ingest import SilentProgress, find_needed_sources

        with _open_store(self.index_path) as store:
            find_needed_sources(store, SilentProgress())
            store.seal()
        return self.index.calls


def index_captures(captures: Sequence[Path]) -> CellAnswers:
    """Index captures in the project's index, which is created if it is missing, and return their answers.

    Raises FramedexError if a capture cannot be read.
    """
    from framedex.commands.inputs.project_index import read_settings_here, use_rebuilt_index, writable_index_path
    from framedex.ingest import SilentProgress, ingest_captures, skip_sources

    settings, _ = read_settings_here()
    path = writable_index_path(None, settings)
    with use_rebuilt_index(path, None, settings, lambda: _open_store(path)) as store:
        report = ingest_captures(store, captures, settings.sources, SilentProgress(), skip_sources, settings.path_map)
        store.seal()
    for capture, error in report.refused:
        raise FramedexError(f"{capture} cannot be read: {error.message}", error.remedy)
    return CellAnswers(path, captures)


def _open_store(path: Path) -> Store:
    from framedex.commands.inputs.project_index import writer_patience
    from framedex.index import Store

    return Store(path, writer_patience())


Facts = tuple[str, tuple[tuple[str, str], ...]]
"""A heading, and named facts below it."""

_MAX_FLAME_FUNCTIONS = 400
"""Maximum number of functions in a flame graph: a notebook stores it with every recorded cell."""


def _format_recorded_html(recorded: CellAnswers) -> str:
    return _index_html(recorded.index)


def _format_recorded_text(recorded: CellAnswers) -> str:
    return _index_text(recorded.index)


def _index_html(index: Index) -> str:
    return render_fragment(read_contents(index, index.answer_of(), _MAX_FLAME_FUNCTIONS), default_editor())


def _index_text(index: Index) -> str:
    calls = sum(row.calls for row in index.calls.totals(CallFilter(), by_thread=False))
    return "\n".join(
        (
            format_device_answer_heading(index.answer_of()),
            f"calls: {calls:,}",
            f"compiles: {format_compiles_total(index.compiles())}",
            f"transfers: {format_transfers_total(index.transfers())}",
            f"memory: {format_memory_total(list(list_memory_by_line(index.memory())))}",
            f"waits: {format_waits_total(index.waits().lines)}",
        )
    )


def _render_trace_html(trace: Trace) -> str:
    return build_trace_fragment(trace, default_editor())


def _format_row_facts(row: CaptureRow) -> Facts:
    metadata = Metadata.parse(row.metadata_text)
    packages = metadata.launch.packages if metadata.launch is not None else {}
    return (
        f"Capture {row.id}",
        (
            ("Program", row.command),
            ("Began", words.format_local_time(row.started)),
            ("Calls", f"{row.calls:,}"),
            ("Stacks", f"{row.stacks:,}"),
            ("With", ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))),
            ("Folder", row.path),
            *(("Lacks", problem) for problem in format_all_problems(row.stops, row.problems)),
        ),
    )


def _build_capture_facts(capture: Capture) -> Facts:
    return (
        "Capture",
        (
            ("Program", shlex.join(capture.metadata.argv)),
            ("Calls", f"{len(capture.calls):,}"),
            ("Stacks", f"{len(capture.stacks):,}"),
            ("Threads", ", ".join(thread.name for thread in capture.threads)),
            ("Folder", str(capture.path)),
            *(("Lacks", problem) for problem in format_all_problems(capture.stops, capture.problems)),
        ),
    )


def _format_facts(found: Facts) -> str:
    heading, facts = found
    return "\n".join([heading, *(f"  {name}: {make_visible(value)}" for name, value in facts)])


_FORMATTERS: tuple[tuple[type, Callable[[Any], str], Callable[[Any], str]], ...] = (
    (CellAnswers, _format_recorded_html, _format_recorded_text),
    (Index, _index_html, _index_text),
    (Trace, _render_trace_html, format_trace),
    (
        CaptureRow,
        lambda row: render_facts_fragment(*_format_row_facts(row)),
        lambda row: _format_facts(_format_row_facts(row)),
    ),
    (
        Capture,
        lambda each: render_facts_fragment(*_build_capture_facts(each)),
        lambda each: _format_facts(_build_capture_facts(each)),
    ),
)
"""The displayed types, with their HTML and text formatters."""


def register_formatters(shell: Any) -> None:
    """Register the formatters in a shell."""
    formatters = shell.display_formatter.formatters
    for shown, html, text in _FORMATTERS:
        formatters["text/html"].for_type(shown, html)
        formatters["text/plain"].for_type(shown, lambda value, printer, _, text=text: printer.text(text(value)))


def unregister_formatters(shell: Any) -> None:
    """Undo `install`."""
    formatters = shell.display_formatter.formatters
    for shown, _, _ in _FORMATTERS:
        formatters["text/html"].pop(shown, None)
        formatters["text/plain"].pop(shown, None)
