"""Answers of the index as lines to print: pure functions from model types to styled, linked text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.output.proposals import build_trace_command, render_proposal_line
from framedex.commands.output.terminal import Line, Span, render_location_line, render_text_line
from framedex.model import LocationEvidence
from framedex.model.metadata import SHARED_FORMAT
from framedex.texts.captures import format_all_problems, format_unrecorded_queries, is_of_samples
from framedex.texts.places import format_caller_uncertainty, format_release_labels, format_stale_labels

if TYPE_CHECKING:
    from framedex.base.folders import CaptureFolder
    from framedex.index.write.records import FrameTotals
    from framedex.ingest import IndexingReport
    from framedex.ingest.imports import ImportedFile
    from framedex.ingest.source_maps import ImportedMap
    from framedex.model import (
        CallEdge,
        CaptureRow,
        FunctionRow,
        LineSummary,
        LinkedCalls,
        Location,
        StackHit,
        StaticCallers,
    )


def render_capture_lines(captures: Sequence[CaptureRow], folders: Mapping[str, CaptureFolder]) -> Iterator[Line]:
    """One line per capture, with the state of its folder (`folders` is by path) and its problems below.

    A capture that is not indexed has no id.
    """
    for capture in captures:
        folder = folders[capture.path]
        state = f"{words.format_size(folder.size)}{', kept' if folder.is_kept else ''}" if folder.is_here else "gone"
        noun = "sample" if is_of_samples(capture.metadata_text) else "call"
        content = f"{words.count(capture.calls, noun)}, {words.count(capture.stacks, 'stack')}"
        yield (
            Span(f"{capture.id or '-':>3}  {words.format_local_time(capture.started)}  ", "head"),
            Span(f"{content if capture.id else 'not indexed'}, {state}  ", "" if capture.id else "error"),
            Span(f"{make_printable(capture.command)}  "),
            Span(make_printable(capture.path), "dim"),
        )
        yield from render_problem_lines(format_all_problems(capture.stops, capture.problems))
        if queries := format_unrecorded_queries(capture.stops):
            yield render_text_line(f"     {queries}", "dim")


def render_problem_lines(problems: Sequence[str]) -> Iterator[Line]:
    """Problems as lines, indented for below their row."""
    for problem in problems:
        yield render_proposal_line(f"     ! {problem}", "error")


def render_where_lines(
    locations: Mapping[int, Location],
    counts: Mapping[int, int],
    summary: LineSummary | None,
    callers: Mapping[tuple[FunctionRow, Location | None], int],
    hits: Sequence[StackHit],
    linked: Sequence[LinkedCalls],
    limit: int,
) -> Iterator[Line]:
    """The recorded lines of a file, or the calls through one line with their callers, and the stacks.

    `locations` are the locations of these lines. `linked` are calls that the line dispatched on native threads;
    their stacks do not contain the line. At most `limit` functions are shown, longest total first.
    """
    for line, calls in sorted(counts.items()):
        yield (*render_location_line(locations[line]), Span(f"  {words.count(calls, 'call')}"))
    if summary is not None:
        yield from _render_line_summary_lines(locations, summary, callers, limit)
    if hits:
        yield ()
        has_times = any(hit.total_duration for hit in hits)
        yield render_text_line(f"stacks, {'longest' if has_times else 'most calls'} first:", "head")
    for hit in hits:
        yield (
            Span(f"{hit.calls:>8,}  "),
            Span(make_printable(hit.function), "native"),
            Span(f"  {words.format_duration(hit.total_duration)} in all, in "),
            Span(make_printable(hit.frame.function.name), hit.frame.function.language.value),
            Span(f"  {build_trace_command(hit.latest_call)}", "dim", is_unbreakable=True),
        )
    if linked:
        yield ()
        yield render_text_line("dispatched from here, on native threads:", "head")
    for each in linked:
        yield (
            Span(f"{each.calls:>8,}  "),
            Span(make_printable(each.function), "native"),
            Span(f"  {words.format_duration(each.total_duration)} in all"),
            Span(f"  [{each.how}]  {build_trace_command(each.latest_call)}", "dim"),
        )


def render_relation_lines(
    function: FunctionRow, edges: Sequence[CallEdge], heading: str, *, are_callees: bool
) -> Iterator[Line]:
    """A function with its callers and call lines, or with its callees if `are_callees`."""
    yield (Span(make_printable(function.name), "head"), *_render_location_spans(function.location))
    if not edges:
        yield render_text_line(f"  no recorded {heading}", "dim")
    for edge in edges:
        other = edge.callee if are_callees else edge.caller
        first, others, label = (other.location, edge.sites, "called at")
        if not are_callees:
            # The first line of the caller would look like the line of the call.
            first, others, label = (edge.sites[0] if edge.sites else None, edge.sites[1:], "and at")
        yield (
            Span(f"{edge.calls:>8,}  "),
            Span(make_printable(other.name), other.language.value),
            *_render_location_spans(first),
        )
        for site in others:
            yield (Span(f"          {label} "), *render_location_line(site))


def render_static_caller_lines(found: StaticCallers | None) -> Iterator[Line]:
    """The callers that appear only in sources, for below the recorded ones."""
    if found is None:
        yield render_text_line("  static callers: unknown, because the source is not in the index", "dim")
        return
    for caller in found.callers:
        first, *others = (replace(caller.location, line=line) for line in caller.lines or (caller.location.line,))
        yield (
            Span("  static  "),
            Span(make_printable(caller.name)),
            Span("  "),
            *render_location_line(first, format_stale_labels(first)),
            Span(f"  never recorded{format_caller_uncertainty(caller)}", "dim"),
        )
        for other in others:
            yield (Span("          and at "), *render_location_line(other, format_stale_labels(other)))
    if not found.callers:
        yield render_text_line("  no static callers", "dim")
    if found.doubtful:
        more = words.count(found.doubtful, "more definition")
        yield render_text_line(f"  {more} may call another function of this name: not shown", "dim")


def _render_line_summary_lines(
    locations: Mapping[int, Location],
    summary: LineSummary,
    callers: Mapping[tuple[FunctionRow, Location | None], int],
    limit: int,
) -> Iterator[Line]:
    labels = [how.value for how in summary.hows if how is not LocationEvidence.EXACT]
    if summary.line not in summary.frame_lines:
        labels.append(f"the statement on line {summary.line}")
    place, *others = (locations[line] for line in summary.frame_lines)
    yield (
        *render_location_line(place, [*labels, *format_release_labels(place), *format_stale_labels(place)]),
        Span(f"  {words.count(summary.calls, 'call')}, {words.format_duration(summary.total_duration)} in all"),
    )
    for other in others:
        yield (Span("          and at "), *render_location_line(other))
    boundaries = sorted(summary.boundaries, key=lambda boundary: -boundary[2])
    for name, calls, duration in boundaries[:limit]:
        yield (
            Span(f"{calls:>8,}  "),
            Span(make_printable(name), "native"),
            Span(f"  {words.format_duration(duration)}"),
        )
    if hidden := boundaries[limit:]:
        more = (
            words.count(len(hidden), "other function"),
            words.format_duration(sum(duration for _, _, duration in hidden)),
        )
        yield render_text_line(f"          and {more[0]}, {more[1]} in all; --limit shows more", "dim")
    for (function, site), calls in callers.items():
        yield (
            Span(f"{calls:>8,}  from "),
            Span(make_printable(function.name), function.language.value),
            *_render_location_spans(site),
        )


def _render_location_spans(location: Location | None) -> Line:
    return (Span("  "), *render_location_line(location)) if location is not None else ()


_MAX_PROBLEMS = 10


def report_lines(report: IndexingReport) -> Iterator[Line]:
    """The report of `framedex index`: captures, sources, named frames and problems."""
    for capture in report.captures:
        remark = " (read again: it has grown)" if capture.grown else ""
        remark = " (read again: more of its binaries are identified now)" if capture.renamed else remark
        yield render_text_line(
            f"{capture.path}: {words.count(capture.calls, 'call')}, {words.count(capture.stacks, 'stack')}{remark}",
            "head",
        )
        if capture.still_written:
            yield render_proposal_line(
                "     still being written: run `framedex index` again when the program has ended"
            )
        yield from _render_limited_problem_lines(capture.problems)
    if report.moved_from is not None:
        yield render_text_line(
            f"The project moved here from {report.moved_from}. Its recorded files are searched here."
        )
    for path in report.moved:
        yield render_text_line(f"{path}: already indexed; it moved here")
    if report.gone:
        calls = sum(capture.calls for capture in report.gone)
        yield render_text_line(
            f"{words.count(len(report.gone), 'capture')} with {words.count(calls, 'call')} could not be read again,"
            " because their folders are gone. The index no longer has them:"
        )
        yield from _render_limited_problem_lines(tuple(str(capture.path) for capture in report.gone))
    if not (report.captures or report.refused or report.moved or report.gone):
        yield render_text_line("No new captures.")
    sources = report.sources
    if sources.parsed or sources.removed:
        removed = f", {words.count(sources.removed, 'file')} gone" if sources.removed else ""
        yield render_text_line(
            f"sources: {sources.parsed:,} of {words.count(sources.files, 'file')} parsed,"
            f" {words.count(sources.definitions, 'definition')}{removed}"
        )
    yield from _render_limited_problem_lines(tuple(sources.problems))
    yield from _render_totals_lines(report.totals)


def import_lines(imported: Sequence[ImportedFile]) -> Iterator[Line]:
    """The imported files, their contents, and problems."""
    for each in imported:
        title = f"{each.foreign.origin}: {each.foreign.format}, capture {each.capture}"
        if each.report is None:
            yield render_text_line(f"{title}, already imported", "head")
            continue
        noun = "call" if each.foreign.format == SHARED_FORMAT else "sample"
        contents = f"{words.count(each.report.calls, noun)}, {words.count(each.report.stacks, 'stack')}"
        yield render_text_line(
            f"{title}: {contents}{' (read again: it has changed)' if each.report.grown else ''}", "head"
        )
        yield from _render_limited_problem_lines(each.report.problems)


def _render_totals_lines(totals: FrameTotals) -> Iterator[Line]:
    if totals.native_frames:
        yield render_text_line(
            f"native frames: {totals.native_named:,} of {totals.native_frames:,} named;"
            f" {totals.native_exact:,} with their line, {totals.native_defined:,} with their function's definition"
        )
    if totals.native_released:
        nearest = f", {totals.native_nearest:,} of the nearest release" if totals.native_nearest else ""
        yield render_text_line(f"     {totals.native_released:,} of them from framedex's release maps{nearest}")
    if totals.python_frames:
        yield render_text_line(f"Python frames: {totals.python_exact:,} of {totals.python_frames:,} with their line")


def _render_limited_problem_lines(problems: tuple[str, ...]) -> Iterator[Line]:
    yield from render_problem_lines(problems[:_MAX_PROBLEMS])
    if len(problems) > _MAX_PROBLEMS:
        yield render_text_line(f"     … {len(problems) - _MAX_PROBLEMS:,} more; --json lists all", "dim")


def render_imported_map_lines(imported: ImportedMap) -> Iterator[Line]:
    """An imported map, the map that it replaced, and whether its lines may differ from those of its commit."""
    replaced = imported.replaced
    yield render_text_line(f"{imported.info.prefix[:-1]}: {format_counts(imported.files, imported.definitions)}")
    if replaced is not None:
        yield render_text_line(
            f"     replaced: {'the same commit' if replaced == imported.info else replaced.prefix[:-1]}"
        )
    if imported.info.is_dirty:
        yield render_text_line("     ! exported from changed files: lines may differ from those of the commit", "error")


def format_counts(files: int, definitions: int) -> str:
    """The size of a source map in words."""
    return f"{words.count(files, 'file')}, {words.count(definitions, 'definition')}"
