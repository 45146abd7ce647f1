"""Answers of the index as lines to print: pure functions from model types to styled, linked text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.output.proposals import proposing, trace_command
from framedex.commands.output.terminal import Span, place_line, text_line
from framedex.missing import all_problems, is_of_samples
from framedex.model import How
from framedex.placetext import doubt_of_caller, release_labels, stale_labels
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.capturefolder import CaptureFolder
    from framedex.commands.output.terminal import Line
    from framedex.model import (
        CaptureRow,
        Edge,
        FunctionRow,
        LineSummary,
        LinkedCalls,
        Location,
        StackHit,
        StaticCallers,
    )


def capture_lines(captures: Sequence[CaptureRow], folders: Mapping[int, CaptureFolder]) -> Iterator[Line]:
    """One line per capture, with the state of its folder (`folders` is by id) and its problems below."""
    for capture in captures:
        folder = folders[capture.id]
        state = f"{words.size(folder.size)}{', kept' if folder.is_kept else ''}" if folder.is_here else "gone"
        noun = "sample" if is_of_samples(capture.metadata_text) else "call"
        yield (
            Span(f"{capture.id:>3}  {words.clock(capture.started)}  ", "head"),
            Span(f"{words.count(capture.calls, noun)}, {words.count(capture.stacks, 'stack')}, {state}  "),
            Span(f"{printable(capture.command)}  "),
            Span(printable(capture.path), "dim"),
        )
        yield from problem_lines(all_problems(capture.stops, capture.problems))


def problem_lines(problems: Sequence[str]) -> Iterator[Line]:
    """Problems as lines, indented below the row that has them."""
    for problem in problems:
        yield proposing(f"     ! {problem}", "error")


def where_lines(
    places: Mapping[int, Location],
    counts: Mapping[int, int],
    summary: LineSummary | None,
    callers: Mapping[tuple[FunctionRow, Location | None], int],
    hits: Sequence[StackHit],
    linked: Sequence[LinkedCalls],
    limit: int,
) -> Iterator[Line]:
    """The recorded lines of a file, or the calls through one line with their callers, and the stacks.

    `places` are the locations of these lines. `linked` are calls that the line dispatched on threads without Python;
    their stacks do not contain the line. At most `limit` functions are shown, longest total first.
    """
    for line, calls in sorted(counts.items()):
        yield (*place_line(places[line]), Span(f"  {words.count(calls, 'call')}"))
    if summary is not None:
        yield from _summary_lines(places, summary, callers, limit)
    if hits:
        yield ()
        took_time = any(hit.total_duration for hit in hits)
        yield text_line(f"stacks, {'the longest' if took_time else 'those of most calls'} first:", "head")
    for hit in hits:
        yield (
            Span(f"{hit.calls:>8,}  "),
            Span(printable(hit.function), "native"),
            Span(f"  {words.duration(hit.total_duration)} in all, in "),
            Span(printable(hit.frame.function.name), hit.frame.function.language.value),
            Span(f"  {trace_command(hit.latest_call)}", "dim", whole=True),
        )
    if linked:
        yield ()
        yield text_line("dispatched from here, on threads without Python:", "head")
    for each in linked:
        yield (
            Span(f"{each.calls:>8,}  "),
            Span(printable(each.function), "native"),
            Span(f"  {words.duration(each.total_duration)} in all"),
            Span(f"  [{each.how}]  {trace_command(each.latest_call)}", "dim"),
        )


def relation_lines(function: FunctionRow, edges: Sequence[Edge], heading: str, *, inward: bool) -> Iterator[Line]:
    """A function with its callers and call lines, or with its callees if `inward`."""
    yield (Span(printable(function.name), "head"), *_place(function.location))
    if not edges:
        yield text_line(f"  no recorded {heading}", "dim")
    for edge in edges:
        other = edge.callee if inward else edge.caller
        first, others, word = (other.location, edge.sites, "called at")
        if not inward:
            # The first line of the caller would look like the line of the call.
            first, others, word = (edge.sites[0] if edge.sites else None, edge.sites[1:], "and at")
        yield (Span(f"{edge.calls:>8,}  "), Span(printable(other.name), other.language.value), *_place(first))
        for site in others:
            yield (Span(f"          {word} "), *place_line(site))


def static_caller_lines(found: StaticCallers | None) -> Iterator[Line]:
    """The callers that only the sources have, below the recorded ones."""
    if found is None:
        yield text_line("  static callers: not known, as its source is not in the index", "dim")
        return
    for caller in found.callers:
        first, *others = (replace(caller.location, line=line) for line in caller.lines or (caller.location.line,))
        yield (
            Span("  static  "),
            Span(printable(caller.name)),
            Span("  "),
            *place_line(first, stale_labels(first)),
            Span(f"  never recorded{doubt_of_caller(caller)}", "dim"),
        )
        for other in others:
            yield (Span("          and at "), *place_line(other, stale_labels(other)))
    if not found.callers:
        yield text_line("  no static callers", "dim")
    if found.doubtful:
        more = words.count(found.doubtful, "more definition")
        yield text_line(f"  {more} with calls of this name, which may be of others: not shown", "dim")


def _summary_lines(
    places: Mapping[int, Location],
    summary: LineSummary,
    callers: Mapping[tuple[FunctionRow, Location | None], int],
    limit: int,
) -> Iterator[Line]:
    hows = [how.value for how in summary.hows if how is not How.EXACT]
    if summary.line not in summary.frame_lines:
        hows.append(f"the statement on line {summary.line}")
    place, *others = (places[line] for line in summary.frame_lines)
    yield (
        *place_line(place, [*hows, *release_labels(place), *stale_labels(place)]),
        Span(f"  {words.count(summary.calls, 'call')}, {words.duration(summary.total_duration)} in all"),
    )
    for other in others:
        yield (Span("          and at "), *place_line(other))
    boundaries = sorted(summary.boundaries, key=lambda boundary: -boundary[2])
    for name, calls, duration in boundaries[:limit]:
        yield (Span(f"{calls:>8,}  "), Span(printable(name), "native"), Span(f"  {words.duration(duration)}"))
    if left := boundaries[limit:]:
        more = words.count(len(left), "other function"), words.duration(sum(duration for _, _, duration in left))
        yield text_line(f"          and {more[0]}, {more[1]} in all; --limit shows more", "dim")
    for (function, site), calls in callers.items():
        yield (Span(f"{calls:>8,}  from "), Span(printable(function.name), function.language.value), *_place(site))


def _place(location: Location | None) -> Line:
    return (Span("  "), *place_line(location)) if location is not None else ()
