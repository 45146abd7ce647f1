"""The stack of a call as lines to print."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.output.terminal import (
    Line,
    Span,
    render_location_line,
    render_stated_line,
    render_text_line,
    source_is_here,
)
from framedex.model import (
    FrameRole,
    FrameRow,
    Language,
    LinkEvidence,
    LocationEvidence,
    Metadata,
    SectionKind,
    SiteEvidence,
)
from framedex.texts.calls import format_arguments_briefly, format_error_lines, format_objects, format_recorded_arguments
from framedex.texts.captures import format_truncation_reason, format_unmerged_reason
from framedex.texts.traces import format_frame_labels, format_recorded_labels, format_section_title

if TYPE_CHECKING:
    from framedex.model import FfiSite, Trace
    from framedex.model.totals import ProfiledRun

Frames = Callable[[Sequence[FrameRow], int | None], Iterator[Line]]

_MAX_NAME_WIDTH = 72
_MAX_OPS = 10
_DISPATCH_REASONS = {
    LinkEvidence.HANDED_OVER: "made no calls meanwhile, and was the first to receive the results",
    LinkEvidence.BETWEEN: (
        "the only thread without calls meanwhile; it made calls from these frames just before and after"
    ),
    LinkEvidence.CANDIDATES: (
        "one of the threads without calls meanwhile; it made calls from these frames before and after"
    ),
}


def render_folded_frames(frames: Sequence[FrameRow], terminal_width: int | None = None) -> Iterator[Line]:
    """The frames in the given order; runs of interpreter and glue frames become one line with their number.

    With a terminal width, names take at most half of it.
    """
    width = _measure_name_width([frame for frame in frames if frame.function.role is FrameRole.CODE], terminal_width)
    for is_code, run in groupby(frames, lambda frame: frame.function.role is FrameRole.CODE):
        if is_code:
            for frame in run:
                others = len(frame.candidates)
                yield (
                    *_render_frame_line(frame, width),
                    Span(f" (+{words.count(others, 'candidate')})" if others else "", "dim"),
                )
                yield from _render_recorded_label_lines(frame, width)
        else:
            yield _render_folded_line(list(run))


def render_all_frames(frames: Sequence[FrameRow], terminal_width: int | None = None) -> Iterator[Line]:
    """Every frame in the given order, with its other candidate lines below it."""
    width = _measure_name_width(frames, terminal_width)
    for frame in frames:
        yield _render_frame_line(frame, width)
        yield from _render_recorded_label_lines(frame, width)
        for candidate in frame.candidates:
            yield (Span(f"{'or ':>{width + 6}}"), *render_location_line(candidate))


def dispatch_lines(trace: Trace, frames: Frames, terminal_width: int | None, step: int = 1) -> Iterator[Line]:
    """The locations and stacks that dispatched the call, for below its own stack, each with its evidence."""
    for dispatch in trace.dispatched:
        yield ()
        if dispatch.location is not None:
            yield (
                Span("dispatched from ", "head"),
                *render_location_line(dispatch.location),
                Span(f" [{dispatch.how}]", "dim"),
            )
        else:
            thread = f"thread {make_printable(dispatch.thread)}"
            yield (Span("dispatched from: ", "head"), Span(thread), Span(f" [{dispatch.how}]", "dim"))
            yield render_text_line(f"  {_DISPATCH_REASONS[dispatch.how]}", "dim")
            yield from frames(dispatch.frames[::step], terminal_width)


def render_stack_lines(
    trace: Trace, frames: Frames, terminal_width: int | None = None, step: int = 1
) -> Iterator[Line]:
    """The call's own stack, in two parts if it could not be merged, then the stacks of its possible `ffi_call`s."""
    if reason := format_unmerged_reason(trace):
        yield render_text_line(f"Its native and Python frames could not be merged: {reason}", "error")
    if reason := format_truncation_reason(trace):
        yield render_text_line(reason, "error")
    for section in trace.sections():
        if section.kind is SectionKind.DISPATCHED:
            continue
        if section.join is not None and section.site is not None:
            yield ()
            yield _render_origin_line(section.join, section.site)
        elif section.kind is not SectionKind.MERGED:
            yield render_text_line(format_section_title(section), "head")
        yield from frames(section.frames[::step], terminal_width)


def render_trace_header(trace: Trace, shown: Sequence[FrameRow]) -> Iterator[Line]:
    """The call, its time and arguments, and the quality of its stack.

    `shown` are the frames that have a line of their own below the header.
    """
    call, capture = trace.call, trace.capture
    yield (
        Span(f"call {call.id}  ", "head"),
        Span(make_printable(call.function), "native"),
        Span(f"  {format_arguments_briefly(call.arguments)}"),
    )
    if arguments := format_recorded_arguments(call.arguments):
        yield render_text_line(f"  arguments  {arguments}")
    if call.objects:
        yield render_text_line(f"  objects    {format_objects(call)}")
    if call.error > 0:
        for number, error in enumerate(format_error_lines(call)):
            yield (Span(f"{'' if number else '  error':<13}{error}", "error"),)
    yield render_text_line(
        f"  time       {words.format_seconds(call.start)} s into the recording, {words.format_duration(call.duration)},"
        f" thread {call.thread}"
    )
    yield render_text_line(
        f"  capture    {capture.id}, {words.format_local_time(capture.started)}: {capture.command or capture.path}"
    )
    yield render_text_line(f"  stack      {_format_stack_quality(trace, shown)}")


def render_profiled_lines(profiled: ProfiledRun, show_all: bool) -> Iterator[Line]:
    """The ops of a call in an imported profile, at most `_MAX_OPS` unless `show_all`."""
    ops = profiled.ops if show_all else profiled.ops[:_MAX_OPS]
    time = words.format_duration(sum(op.duration for op in profiled.ops))
    yield (
        Span(f"  ran        {words.count(len(profiled.ops), 'op')} of {make_printable(profiled.program)}, {time}"),
        Span(f" [by program and time, from capture {profiled.capture}]", "dim"),
    )
    for op in ops:
        yield (
            Span(f"{'':13}{words.format_duration(op.duration):>9}  {make_printable(op.name)}"),
            Span(f"  call {op.sample}", "dim"),
        )
    if left := len(profiled.ops) - len(ops):
        yield render_text_line(f"{'':13}and {words.count(left, 'more op')}: `--all` shows them", "dim")


def _render_origin_line(join: SiteEvidence, site: FfiSite) -> Line:
    """The ffi_call of a run, or a possible one, and the evidence for it."""
    verb = "possibly called" if join is SiteEvidence.AMBIGUOUS else "called"
    known = {SiteEvidence.SINGLE: " [single: the only possible one]", SiteEvidence.AMBIGUOUS: " [ambiguous]"}.get(
        join, " [exact]"
    )
    if not site.lines:
        missing = "; the process of that ffi_call was not recorded"
        return (Span(f"{verb} from the ffi_call of site {site.key}{missing}", "head"), Span(known, "dim"))
    line = site.lines[0]
    return (
        Span(f"{verb} from the ffi_call at ", "head"),
        *render_location_line(line.location),
        Span(f" in {make_printable(line.function)}"),
        Span(known, "dim"),
    )


def _format_stack_quality(trace: Trace, shown: Sequence[FrameRow]) -> str:
    frames = (*trace.frames, *trace.python)
    python = sum(frame.function.language is Language.PYTHON for frame in frames)
    here = [frame.location for frame in frames if source_is_here(frame.location)]
    exact = sum(location is not None and location.how is LocationEvidence.EXACT for location in here)
    unnamed = sum(not frame.function.symbol for frame in frames)
    text = f"{words.count(len(frames), 'frame')} ({python} Python, {len(frames) - python} native)"
    text += f", {len(here)} with source here ({exact} exact)"
    if public := len(frames_with_public_link(shown)):
        text += f", {words.count(public, 'public link')}"
    if unnamed:
        text += f", {unnamed} without a name"
    return text if python else f"{text}; {_explain_missing_python(trace)}"


def frames_with_public_link(frames: Iterable[FrameRow]) -> list[FrameRow]:
    """The frames without a local source that have a public address."""
    return [frame for frame in frames if frame.location and frame.location.url and not source_is_here(frame.location)]


def _explain_missing_python(trace: Trace) -> str:
    problem = Metadata.parse(trace.capture.metadata_text).python_problem
    return f"Python frames were not recorded: {problem}" if problem else "no Python runs on this thread"


def _render_frame_line(frame: FrameRow, width: int) -> Line:
    mark = "P" if frame.function.language is Language.PYTHON else "N"
    name = f"  {mark} {make_printable(frame.function.name).ljust(width)}  "
    labels = format_frame_labels(frame)
    if frame.location_without_file is not None:
        return (
            Span(name, frame.function.language.value),
            *render_stated_line(frame.location_without_file, frame.location, labels),
        )
    if frame.location is not None:
        return (Span(name, frame.function.language.value), *render_location_line(frame.location, labels))
    place = Span(_format_binary_address(frame), "dim", can_shorten=True)
    return (Span(name, frame.function.language.value), place, Span(f" [{', '.join(labels)}]" if labels else "", "dim"))


def _render_recorded_label_lines(frame: FrameRow, width: int) -> Iterator[Line]:
    for label in format_recorded_labels(frame):
        yield render_text_line(f"{' ' * (width + 6)}{label}", "dim")


def _format_binary_address(frame: FrameRow) -> str:
    """The binary and offset of a frame without source, and its translation unit if the symbol table has it.

    Frames named by another recorder have no offset, and often no binary.
    """
    unit = f" ({make_printable(frame.function.unit)})" if frame.function.unit else ""
    if not frame.offset:  # no frame has the return address 0
        return make_printable(frame.module)
    return f"{make_printable(frame.module)}+{frame.offset:#x}{unit}"


def _render_folded_line(frames: Sequence[FrameRow]) -> Line:
    interpreter = sum(frame.function.role is FrameRole.INTERPRETER for frame in frames)
    glue = len(frames) - interpreter
    parts = [f"{number} {kind}" for number, kind in ((interpreter, "interpreter"), (glue, "glue")) if number]
    return (Span(f"    … {' and '.join(parts)} frame{'s' if len(frames) > 1 else ''}", "dim"),)


def _measure_name_width(frames: Sequence[FrameRow], terminal_width: int | None) -> int:
    widest = _MAX_NAME_WIDTH if terminal_width is None else min(_MAX_NAME_WIDTH, terminal_width // 2)
    lengths = (len(make_printable(frame.function.name)) for frame in frames)
    return max((length for length in lengths if length <= widest), default=0)
