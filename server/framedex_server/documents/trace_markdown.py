"""A trace as Markdown, to paste into an issue, a pull request or a chat.

Names from captures appear only in code spans, so that they cannot become markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import PurePath

from framedex.base import words
from framedex.base.plaintext import make_printable, truncate
from framedex.model import FrameRole, FrameRow, Language, Section, SectionKind, Trace
from framedex.path_resolution.files import file_exists
from framedex.texts.calls import format_arguments, format_error_headline, format_outcome
from framedex.texts.captures import format_truncation_reason, format_unmerged_reason
from framedex.texts.places import format_cell_name, format_location
from framedex.texts.traces import format_frame_labels, format_recorded_labels
from framedex_server.markup import Markup, format_code_span

_MARKUP = Markup(markdown=True)
_PACKAGES = re.compile(r"/(?:site|dist)-packages/")
_TITLES = {
    SectionKind.MERGED: "Frames",
    SectionKind.NATIVE: "Native frames",
    SectionKind.PYTHON: "Python frames",
    SectionKind.FFI_CALL: "`ffi_call`",
}
_MAX_ARGUMENT_CHARACTERS = 400  # maximum characters of a call's arguments

Uri = Callable[[str], str]
"""Returns the URI of a file path."""


def format_markdown(trace: Trace, uri_of: Uri) -> str:
    """Return the trace as Markdown with every frame, outermost first.

    Links lead to local files, else to public sources.
    """
    return "\n".join([*_format_header(trace), *_list_sections(trace, uri_of)]) + "\n"


def _format_header(trace: Trace) -> Iterator[str]:
    call = trace.call
    yield f"### {_format_code_span(call.function)}"
    yield ""
    if arguments := format_arguments(call):
        yield f"- Arguments: {_format_code_span(arguments)}"
    if call.error > 0:
        yield f"- Error: {_format_code_span(format_error_headline(call))}"
    elif outcome := format_outcome(call).removeprefix(" -> "):
        yield f"- Result: {_format_code_span(outcome)}"
    yield f"- Duration: {words.format_duration(call.duration)}, thread {_format_code_span(call.thread)}"
    started = words.format_local_time(trace.capture.started)
    yield f"- Recorded: call {call.id} of {_format_code_span(trace.capture.command)}, {started}"
    if reason := format_unmerged_reason(trace):
        yield f"- Not merged: {_format_code_span(reason)}"
    if reason := format_truncation_reason(trace):
        yield f"- Cut off: {_format_code_span(reason)}"


def _list_sections(trace: Trace, uri_of: Uri) -> Iterator[str]:
    for section in trace.sections():
        yield ""
        yield f"{_format_section_title(section)}, most recent call last:"
        yield ""
        yield from _format_frames(section.frames, uri_of)


def _format_section_title(section: Section) -> str:
    if section.dispatch is not None:
        return f"Dispatched from thread {_format_code_span(section.dispatch.thread)}, {section.dispatch.how}"
    return _TITLES[section.kind]


def _format_frames(frames: Sequence[FrameRow], uri_of: Uri) -> Iterator[str]:
    for is_code, run in groupby(enumerate(frames, 1), lambda each: each[1].function.role is FrameRole.CODE):
        items = [f"{number}. {_format_frame(frame, uri_of)}" for number, frame in run]
        yield from items if is_code or len(items) == 1 else _fold_items(items)


def _fold_items(items: Sequence[str]) -> Iterator[str]:
    """Yield glue and interpreter frames in a collapsed block. It interrupts the list, which then continues."""
    yield ""
    yield f"<details><summary>{words.count(len(items), 'glue or interpreter frame')}</summary>"
    yield ""
    yield from items
    yield ""
    yield "</details>"
    yield ""


def _format_frame(frame: FrameRow, uri_of: Uri) -> str:
    language = "Python" if frame.function.language is Language.PYTHON else "C++"
    labels = [*format_frame_labels(frame), *map(_format_code_span, format_recorded_labels(frame))]
    suffix = f" ({', '.join(labels)})" if labels else ""
    return f"{language} {_format_code_span(frame.function.name)} {_format_location(frame, uri_of)}{suffix}"


def _format_location(frame: FrameRow, uri_of: Uri) -> str:
    place = frame.location
    if frame.location_without_file is not None:
        text = _format_code_span(frame.location_without_file)
        is_there = place is not None and file_exists(place.path)
        return f"at {_MARKUP.link(text, f'{uri_of(place.path)}#L{place.line}')}" if place and is_there else f"at {text}"
    if place is None:
        return f"in {_format_code_span(f'{PurePath(frame.module).name}+{frame.offset:#x}')}"
    text = _format_code_span(
        format_location(place.path, place.line)
        if format_cell_name(place.path)
        else f"{_shorten_path(place.path)}:{place.line}"
    )
    url = f"{uri_of(place.path)}#L{place.line}" if file_exists(place.path) else place.url
    return (
        f"at {_MARKUP.link(text, url)}" if url is not None else f"at {_format_code_span(f'{place.path}:{place.line}')}"
    )


def _shorten_path(path: str) -> str:
    """Return a path that makes sense on another machine: the path within a package's distribution, else the name."""
    return _PACKAGES.split(path)[-1] if _PACKAGES.search(path) else PurePath(path).name


def _format_code_span(text: str) -> str:
    """Return a string of a capture as a code span."""
    return format_code_span(truncate(make_printable(text), _MAX_ARGUMENT_CHARACTERS))
