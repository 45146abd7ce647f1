"""A trace as lines to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from framedex import words
from framedex.commands.render import error_text
from framedex.commands.terminal import Line, Span, location_span, text_line
from framedex.model import FrameRow, How, Language, Role, Trace
from framedex.plaintext import printable
from framedex.tracetext import frame_labels

_WIDEST_NAME = 72


def folded_frames(frames: Sequence[FrameRow]) -> Iterator[Line]:
    """The frames in the order given; runs of interpreter and glue frames become one line that says how many."""
    width = _name_width([frame for frame in frames if frame.function.role is Role.CODE])
    for is_code, run in groupby(frames, lambda frame: frame.function.role is Role.CODE):
        if is_code:
            for frame in run:
                others = len(frame.candidates)
                yield (*_frame(frame, width), Span(f" (+{words.count(others, 'candidate')})" if others else "", "dim"))
        else:
            yield _fold(list(run))


def all_frames(frames: Sequence[FrameRow]) -> Iterator[Line]:
    """Every frame in the order given, and below it every other line that it could be."""
    width = _name_width(frames)
    for frame in frames:
        yield _frame(frame, width)
        for candidate in frame.candidates:
            yield (Span(f"{'or ':>{width + 6}}"), location_span(candidate), Span(f" [{candidate.how.value}]", "dim"))


def header(trace: Trace) -> Iterator[Line]:
    """What was called, when and with what, and how much of its stack is known."""
    call, capture = trace.call, trace.capture
    yield (
        Span(f"call {call.id}  ", "head"),
        Span(printable(call.function), "native"),
        Span(f"  {words.arguments_short(call.arguments)}"),
    )
    if arguments := words.arguments_long(call.arguments):
        yield text_line(f"  arguments  {arguments}")
    if error := error_text(call):
        yield text_line(f"  error      {error}", "error")
    yield text_line(
        f"  time       {words.seconds(call.start)} s into the recording, {words.duration(call.duration)},"
        f" thread {call.thread}"
    )
    yield text_line(f"  capture    {capture.id}, {words.clock(capture.started)}: {capture.command or capture.path}")
    yield text_line(f"  stack      {_quality((*trace.frames, *trace.python))}")


def _quality(frames: Sequence[FrameRow]) -> str:
    python = sum(frame.function.language is Language.PYTHON for frame in frames)
    exact = sum(frame.location is not None and frame.location.how is How.EXACT for frame in frames)
    located = sum(frame.location is not None for frame in frames)
    unnamed = sum(not frame.function.symbol for frame in frames)
    text = f"{words.count(len(frames), 'frame')} ({python} Python, {len(frames) - python} native)"
    text += f", {located} with source ({exact} exact)"
    return f"{text}, {unnamed} without a name" if unnamed else text


def _frame(frame: FrameRow, width: int) -> Line:
    mark = "P" if frame.function.language is Language.PYTHON else "N"
    name = f"  {mark} {printable(frame.function.name).ljust(width)}  "
    labels = frame_labels(frame)
    place = Span(_address(frame), "dim") if frame.location is None else location_span(frame.location)
    return (Span(name, frame.function.language.value), place, Span(f" [{', '.join(labels)}]" if labels else "", "dim"))


def _address(frame: FrameRow) -> str:
    """Where a frame without source is: its binary and offset, and its translation unit where the symbol table tells."""
    unit = f" ({printable(frame.function.unit)})" if frame.function.unit else ""
    return f"{printable(frame.module)}+{frame.offset:#x}{unit}"


def _fold(frames: Sequence[FrameRow]) -> Line:
    interpreter = sum(frame.function.role is Role.INTERPRETER for frame in frames)
    glue = len(frames) - interpreter
    parts = [f"{number} {kind}" for number, kind in ((interpreter, "interpreter"), (glue, "glue")) if number]
    return (Span(f"    … {' and '.join(parts)} frame{'s' if len(frames) > 1 else ''}", "dim"),)


def _name_width(frames: Sequence[FrameRow]) -> int:
    lengths = (len(printable(frame.function.name)) for frame in frames)
    return max((length for length in lengths if length <= _WIDEST_NAME), default=0)
