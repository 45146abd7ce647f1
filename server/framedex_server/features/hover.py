"""Hover: the recorded calls through a line, with their callees and callers.

The first three lines are the cost, the directions of the stacks, and actions. Details follow. The last line states the
quality of the frames' locations, changes of the file since the recording, and the captures counted. `frame_lines`
handles lines of trace documents and logs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.base.words import count, format_duration, format_local_time
from framedex.texts.places import format_location_labels, format_release_labels
from framedex_server.answers import frame_lines
from framedex_server.answers.ffi import find_called_uses, format_ffi_use
from framedex_server.answers.guidebook import add_page_link
from framedex_server.answers.programs import format_program_runs, format_program_uses
from framedex_server.answers.provenance import change_labels, counted_in_answer
from framedex_server.answers.remote_sources import CheckoutFinder
from framedex_server.answers.session import RequestPosition, Session
from framedex_server.markup import Markup
from framedex_server.protocol import OPEN_TRACE
from framedex_server.stack_paths import find_public_location, format_short_location, is_step_target

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FrameRow, FunctionRow, LineSummary, LinkedCalls, Location, PythonLine

SHOW_CALLS = "framedex.showCalls"
"""A command that the client may provide: it shows the calls through a line."""

MAX_EXCERPTS = 2
"""Maximum number of callees with a source excerpt."""

EXCERPT_CONTEXT_LINES = 2
"""Number of lines shown before and after a callee's line."""

MAX_SHOWN = 4
"""Maximum number of boundary functions, callers and arguments listed; the rest is counted."""


def register(server: LanguageServer, session: Session) -> None:
    """Register `textDocument/hover`."""

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        return await add_page_link(session, params, await _find_hover(session, params))


async def _find_hover(session: Session, params: types.HoverParams) -> types.Hover | None:
    if session.texts.may_contain_stacks(params.text_document.uri):
        return await frame_lines.find_hover(session, params.text_document.uri, params.position)
    place = session.request_position(params.text_document, params.position)
    if place is None:
        return None
    return await session.query_at(place, lambda index: find_line_hover(session, place, index))


def find_line_hover(session: Session, position: RequestPosition, index: Index) -> types.Hover | None:
    """Return the hover for the calls through a source line; None if there are none."""
    capture = session.selection.capture_in(index)
    markup = Markup(session.markdown_supported)
    uses = index.line(position.path, position.line).ffi_uses()
    called = find_called_uses(session, index, position, uses)
    handled = [use for use in uses if use not in called]
    lines = [line for use in called for line in format_ffi_use(markup, use, is_called=True)]
    lines += [line for use in handled for line in format_ffi_use(markup, use, is_called=False)]
    about = "hover", position.path, position.line, capture, markup
    lines += index.get_cached(("uses", *about), lambda: _format_programs(index, position, capture, markup))
    recorded = index.get_cached(about, lambda: _format_recorded(session, index, position, capture, markup))
    if recorded is not None:
        lines += recorded.head
        lines += _format_links(session, markup, position, recorded.latest_call)
        rest = [*recorded.lines, *_format_frame_lines(session, position, recorded.frame_lines)]
        rest += _format_excerpts(session, index, markup, position, recorded.remote)
        lines += [*rest, recorded.provenance]
    if not lines:
        return None
    return _make_hover(markup, lines, session.line_range(position.path, position.line))


def _format_programs(index: Index, position: RequestPosition, capture: int | None, markup: Markup) -> list[str]:
    """Return the hover's lines about the compiled programs that contain a line."""
    return list(format_program_uses(markup, index.line(position.path, position.line, capture).program_uses()))


@dataclass(frozen=True, slots=True)
class RecordedCallTexts:
    """The hover's texts about the calls through a line, with the latest call and the lines of the frames.

    `head` has the cost and the directions of the stacks, `lines` the details, `provenance` the quality of the data.
    `remote` has the public locations of callees that are not on this machine.
    """

    head: Sequence[str]
    lines: Sequence[str]
    provenance: str
    latest_call: int
    frame_lines: Sequence[int]
    remote: Sequence[Location] = ()


def _format_recorded(
    session: Session, index: Index, position: RequestPosition, capture: int | None, markup: Markup
) -> RecordedCallTexts | None:
    line = index.line(position.path, position.line, capture)
    summary = line.summary()
    if summary is None:
        return None
    linked: Sequence[LinkedCalls] = []
    if capture is None:
        linked = index.line(position.path, position.line).linked_calls()
        around = CallNeighbours(
            summary.callers, _find_callees(index, position), _find_program_lines(index, position, summary)
        )
    else:
        around = _find_capture_neighbours(index, position, capture)
    head = _format_head(markup, summary, around)
    rest = [*_format_details(markup, summary, around, linked), *format_program_runs(markup, line.programs_run())]
    known = [how.value for how in summary.hows] + change_labels(index, position.path, summary.frame_lines[0])
    latest = summary.latest_capture
    # Drop the folder of the interpreter, which is long and says little.
    command = markup.code(re.sub(r"^/\S*/", "", latest.command))
    counted = counted_in_answer(session, index, position.path, line.answer_of)
    provenance = f"location: {', '.join(known)}; {counted}, {format_local_time(latest.started)}, {command}"
    elsewhere = tuple(around.callees.remote.values())
    return RecordedCallTexts(tuple(head), tuple(rest), provenance, summary.latest_call, summary.frame_lines, elsewhere)


@dataclass(frozen=True, slots=True)
class LineCallees:
    """The callees to which go to frame leads, with their calls; `skipped` has the frames that it skips.

    `remote` has the public locations of callees that are not on this machine.
    """

    readable: Counter[str]
    skipped: Counter[str]
    remote: Mapping[str, Location] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallNeighbours:
    """Callers and callees of a line with their calls, and the Python lines of the program that led to a C++ line."""

    callers: Sequence[tuple[FunctionRow, int]]
    callees: LineCallees
    program: Sequence[PythonLine]


def _find_program_lines(index: Index, position: RequestPosition, summary: LineSummary) -> Sequence[PythonLine]:
    """Return the Python lines that led to a C++ line; empty if a caller is Python already."""
    if any(caller.language == "python" for caller, _ in summary.callers) or not _is_native(index, position):
        return ()
    return index.line(position.path, position.line).program_lines(limit=2 * MAX_SHOWN)


def _is_native(index: Index, position: RequestPosition) -> bool:
    return not any(function.language == "python" for function in index.line(position.path, position.line).functions())


def _find_capture_neighbours(index: Index, position: RequestPosition, capture: int) -> CallNeighbours:
    """Return the neighbours in one capture's stacks, with 0 calls: call counts per edge are not stored by capture."""
    outward = index.line(position.path, position.line, capture).paths_outward(_is_readable)
    inward = index.line(position.path, position.line, capture).paths_inward(_is_readable)
    callers = {stack_path.target.function.id: (stack_path.target.function, 0) for stack_path in outward}
    callees = Counter(dict.fromkeys((stack_path.target.function.name for stack_path in inward), 0))
    return CallNeighbours(list(callers.values()), LineCallees(callees, Counter()), ())


def _is_readable(frame: FrameRow) -> bool:
    return frame.is_readable


def _find_callees(index: Index, position: RequestPosition) -> LineCallees:
    readable: Counter[str] = Counter()
    past: Counter[str] = Counter()
    elsewhere: dict[str, Location] = {}
    direct = index.line(position.path, position.line).steps_inward()
    # A line of the interpreter itself has no readable neighbours in the index, only direct ones.
    steps = index.line(position.path, position.line).readable_steps_inward() or (
        step for step in direct if step.target.is_readable
    )
    for step in steps:
        if step.target.is_readable and not is_step_target(step.target):
            continue
        name, location = step.target.function.name, find_public_location(step.target)
        readable[name] += step.calls
        if location is not None:
            elsewhere.setdefault(name, location)
    for step in direct:
        if not step.target.is_readable:
            past[step.target.function.name] += step.calls
    return LineCallees(readable, past, elsewhere)


def _format_head(markup: Markup, summary: LineSummary, neighbours: CallNeighbours) -> Iterator[str]:
    """Yield the cost of a line, and the directions of its stacks."""
    passed = markup.strong(f"framedex: {count(summary.calls, 'recorded call')}")
    yield f"{passed}, {format_duration(summary.total_duration)}"
    ways = []
    if neighbours.callees.readable:
        ways.append(
            f"into {_format_names(markup, neighbours.callees.readable.most_common(), neighbours.callees.remote)}"
        )
    if neighbours.callers:
        ways.append(f"from {_format_names(markup, [(caller.name, calls) for caller, calls in neighbours.callers])}")
    if neighbours.program:
        ways.append(f"from Python at {_format_locations(markup, neighbours.program)}")
    if ways:
        yield "; ".join(ways)


def _format_details(
    markup: Markup, summary: LineSummary, neighbours: CallNeighbours, linked: Sequence[LinkedCalls]
) -> Iterator[str]:
    """Yield the boundary functions reached, the skipped frames, and the arguments."""
    from framedex.texts.calls import format_arguments_briefly

    # Sort by time: getters of a few ns outnumber the transfer or execution that matters.
    for name, calls, total in sorted(summary.boundaries, key=lambda boundary: -boundary[2])[:MAX_SHOWN]:
        yield f"→ {markup.code(name)} ({calls:,}, {format_duration(total)})"
    yield from _format_omitted(len(summary.boundaries), "boundary function")
    for each in sorted(linked, key=lambda each: -each.total_duration)[:MAX_SHOWN]:
        details = f"({each.calls:,}, {format_duration(each.total_duration)}) on a native thread"
        yield f"⇢ {markup.code(each.function)} {details} [{each.how}]"
    yield from _format_omitted(len(linked), "such function")
    if neighbours.callees.skipped:
        yield f"past {_format_names(markup, neighbours.callees.skipped.most_common())}: interpreter, glue, or no source"
    arguments = list(dict.fromkeys(filter(None, map(format_arguments_briefly, summary.arguments))))
    if arguments:
        shown = ", ".join(map(markup.literal, arguments[:MAX_SHOWN]))
        yield f"with {shown}{_format_more_suffix(len(arguments))}"


def _format_excerpts(
    session: Session, index: Index, markup: Markup, position: RequestPosition, elsewhere: Sequence[Location]
) -> Iterator[str]:
    """Yield source excerpts of callees whose recorded file is not here, but is in a checkout."""
    finder = CheckoutFinder(session, index, position.uri)
    for location in elsewhere[:MAX_EXCERPTS]:
        if (local := finder.find(location)) is not None:
            labels = [*format_release_labels(location), *format_location_labels(local)]
            how = f" [{', '.join(labels)}]" if labels else ""
            name = markup.code(f"{format_short_location(location)}")
            yield f"{markup.link(name, f'{session.documents.uri_of(local.path)}#L{local.line}')}{how}"
            around = range(max(local.line - EXCERPT_CONTEXT_LINES, 1), local.line + EXCERPT_CONTEXT_LINES + 1)
            yield markup.block(
                [session.documents.line(local.path, line).rstrip() for line in around], _code_language(local)
            )


def _code_language(location: Location) -> str:
    return "python" if location.path.endswith(".py") else "cpp"


def _format_frame_lines(session: Session, position: RequestPosition, frame_lines: Sequence[int]) -> Iterator[str]:
    """Yield a note on the statement's lines that have the frames, unless it is the line itself."""
    if frame_lines == (position.line,):
        return
    shown = [str(session.documents.edits.shown_line(position.path, line)) for line in frame_lines]
    if len(shown) == 1:
        yield f"the frame of this statement is on line {shown[0]}"
    else:
        yield f"the frames of this statement are on lines {', '.join(shown[:-1])} and {shown[-1]}"


def _format_links(session: Session, markup: Markup, position: RequestPosition, latest_call: int) -> Iterator[str]:
    """Yield links to the latest trace and to all calls, if the client has these commands and allows links to them."""
    offered = [
        ("open trace", OPEN_TRACE, {**position.parameters, "call": latest_call}),
        ("show all", SHOW_CALLS, position.parameters),
    ]
    shown = [
        markup.command_link(text, command, argument)
        for text, command, argument in offered
        if markup.markdown and command in session.command_links
    ]
    if shown:
        yield " · ".join(shown)


def _format_locations(markup: Markup, lines: Sequence[PythonLine]) -> str:
    shown = ", ".join(
        f"{markup.code(f'{Path(line.location.path).name}:{line.location.line}')} in {markup.code(line.function)}"
        for line in lines[:MAX_SHOWN]
    )
    return f"{shown}{_format_more_suffix(len(lines))}"


def _format_names(markup: Markup, counts: Sequence[tuple[str, int]], elsewhere: Mapping[str, Location] = {}) -> str:
    names = [(_format_name(markup, name, elsewhere.get(name)), calls) for name, calls in counts[:MAX_SHOWN]]
    shown = ", ".join(f"{name} ({calls:,})" if calls else name for name, calls in names)
    return f"{shown}{_format_more_suffix(len(counts))}"


def _format_name(markup: Markup, name: str, location: Location | None) -> str:
    if location is None:
        return markup.code(name)
    labels = "".join(f" [{label}]" for label in format_release_labels(location))
    return f"{markup.link(markup.code(name), location.url)}{labels}"


def _format_omitted(total: int, noun: str) -> Iterator[str]:
    if total > MAX_SHOWN:
        yield f"and {count(total - MAX_SHOWN, f'more {noun}')}"


def _format_more_suffix(total: int) -> str:
    return f" and {total - MAX_SHOWN} more" if total > MAX_SHOWN else ""


def _make_hover(markup: Markup, lines: list[str], text_range: types.Range) -> types.Hover:
    kind = types.MarkupKind.Markdown if markup.markdown else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, markup.lines(lines)), text_range)
