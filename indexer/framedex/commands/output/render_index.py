"""The report of `framedex index` as lines to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.proposals import proposing
from framedex.commands.output.render_answers import problem_lines
from framedex.commands.output.terminal import Line, text_line
from framedex.model.metadata import SHARED

if TYPE_CHECKING:
    from framedex.index.write.totals import Totals
    from framedex.ingest import Report
    from framedex.ingest.importing import Imported

_MOST_PROBLEMS = 10


def report_lines(report: Report) -> Iterator[Line]:
    """The captures and sources that were read, the frames with names and lines, and problems."""
    for capture in report.captures:
        again = " (read again: it has grown)" if capture.grown else ""
        again = " (read again: more is known of its binaries)" if capture.renamed else again
        yield text_line(
            f"{capture.path}: {words.count(capture.calls, 'call')}, {words.count(capture.stacks, 'stack')}{again}",
            "head",
        )
        if capture.still_written:
            yield proposing("     still being written: run `framedex index` again when the program has ended")
        yield from _problems(capture.problems)
    if report.moved_from is not None:
        yield text_line(
            f"The project was moved here from {report.moved_from}: what was recorded there is looked for here."
        )
    for path in report.moved:
        yield text_line(f"{path}: known already; it has moved here")
    if report.gone:
        calls = sum(capture.calls for capture in report.gone)
        yield text_line(
            f"{words.count(len(report.gone), 'capture')} with {words.count(calls, 'call')} could not be read again, as"
            " their folders are gone; they are no longer in the index:"
        )
        yield from _problems(tuple(str(capture.path) for capture in report.gone))
    if not (report.captures or report.refused or report.moved or report.gone):
        yield text_line("No new captures.")
    sources = report.sources
    if sources.parsed or sources.removed:
        removed = f", {words.count(sources.removed, 'file')} gone" if sources.removed else ""
        yield text_line(
            f"sources: {sources.parsed:,} of {words.count(sources.files, 'file')} read anew,"
            f" {words.count(sources.definitions, 'definition')}{removed}"
        )
    yield from _problems(tuple(sources.problems))
    yield from _totals(report.totals)


def import_lines(imported: Sequence[Imported]) -> Iterator[Line]:
    """The imported files, their contents, and problems."""
    for each in imported:
        told = f"{each.foreign.origin}: {each.foreign.format}, capture {each.capture}"
        if each.report is None:
            yield text_line(f"{told}, known already", "head")
            continue
        noun = "call" if each.foreign.format == SHARED else "sample"
        held = f"{words.count(each.report.calls, noun)}, {words.count(each.report.stacks, 'stack')}"
        yield text_line(f"{told}: {held}{' (read again: it has changed)' if each.report.grown else ''}", "head")
        yield from _problems(each.report.problems)


def _totals(totals: Totals) -> Iterator[Line]:
    if totals.native_frames:
        yield text_line(
            f"native frames: {totals.native_named:,} of {totals.native_frames:,} named;"
            f" {totals.native_exact:,} with their line, {totals.native_defined:,} with their function's definition"
        )
    if totals.native_released:
        nearest = f", {totals.native_nearest:,} of the nearest release" if totals.native_nearest else ""
        yield text_line(f"     {totals.native_released:,} of them in the source maps that framedex ships{nearest}")
    if totals.python_frames:
        yield text_line(f"Python frames: {totals.python_exact:,} of {totals.python_frames:,} with their line")


def _problems(problems: tuple[str, ...]) -> Iterator[Line]:
    yield from problem_lines(problems[:_MOST_PROBLEMS])
    if len(problems) > _MOST_PROBLEMS:
        yield text_line(f"     … {len(problems) - _MOST_PROBLEMS:,} more; --json lists all", "dim")
