"""Trace documents: a merged stack as plain text that editors can open and follow (`*.fdtrace`).

The format, version 1, is UTF-8 text, line by line:

```
framedex trace, format 1
call 17: PJRT_Client_BufferFromHostBuffer, 12.3 µs
arguments: 2
  client: client#1
  dims: [2,3]
capture: /home/me/project/.framedex/captures/2026-11-20
command: python demo.py
thread: MainThread
<empty line>
frames, most recent call last:
  1 P <module> at /home/me/project/demo.py:12
  2 N xla::PjRtClient::Make at /src/xla/client.cc:40 [definition]
      or /src/xla/other_client.cc:44 [candidates]
  3 N jax::Glue in /lib/libjax_common.so+0x1a2b [inlined]
  4 N xla::Run at xla@5a9e73cbd925:xla/run.cc:7 [single]
```

Header lines:

- `call` has the duration of the call, or `never returned`, and its error if it failed.
- `arguments` has the number of values. The values follow, one per line.
- `unmerged: REASON` appears in an unmerged stack.
- `cut off: REASON` appears in a merged stack that lacks its outermost frames.
- `dispatched from: PATH:LINE [told by JAX]` is a dispatch line that JAX reports.

A frame line has:

- its number (1 is the outermost frame)
- the language (`P` Python, `N` native) and the function
- `at PATH:LINE`, or `in MODULE+0xOFFSET` if no source is known
- labels in brackets: the precision of the line unless it is exact, its staleness, `inlined`, and `returning`

A path of a source map is not a file (docs/reference/source-maps.md). Python's name for code without a file, such as
`<string>` or `<frozen os>`, is not a file either. An `or` line below a frame gives one more candidate. An
`as recorded: TEXT` line has the recorded text of a line that has changed since.

Headings of sections:

- `frames, ...`: a merged stack
- `native frames, ...` and `Python frames, ...`: an unmerged stack
- `dispatched from thread NAME [HOW], ...`: the frames on the thread that dispatched the call
- `ffi_call [exact], ...`: for the run of an FFI handler, the Python stack of each possible `ffi_call`

`framedex.base.plaintext.printable` escapes all text from a capture, so it never contains a line break.
`framedex.text_stacks.readers.locations` reads the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framedex.base.plaintext import make_printable
from framedex.base.words import format_duration
from framedex.model import Language, SectionKind
from framedex.texts.captures import format_truncation_reason, format_unmerged_reason
from framedex.texts.places import format_location_labels, format_recorded_text_labels

if TYPE_CHECKING:
    from framedex.model import FrameRow, Location, Section, Trace

_BEFORE_PATH = re.compile(r" at ([</A-Za-z0-9])(?=(?<=[</])|[\w.-]*@)", re.ASCII)
HEADING = "framedex trace, format 1"

_OWN_TITLES = {
    SectionKind.MERGED: "frames",
    SectionKind.NATIVE: "native frames",
    SectionKind.PYTHON: "Python frames",
}


def format_trace(trace: Trace) -> str:
    """The trace as a document with every frame, ending in a newline."""
    return "\n".join([*_format_header(trace), *_format_sections(trace)]) + "\n"


def format_section_title(section: Section) -> str:
    """The title of a section: the kind of its frames, and how it is known, without control characters."""
    if section.dispatch is not None:
        return f"dispatched from thread {make_printable(section.dispatch.thread)} [{section.dispatch.how}]"
    if section.join is not None:
        return f"ffi_call [{section.join}]"
    return _OWN_TITLES[section.kind]


def format_frame_labels(frame: FrameRow) -> list[str]:
    """The labels of a frame: the precision of its line unless exact, its staleness, `inlined`, `returning`."""
    labels = format_location_labels(frame.location) if frame.location is not None else []
    return labels + ["inlined"] * frame.inlined + ["returning"] * frame.returning


def format_recorded_labels(frame: FrameRow) -> list[str]:
    """The recorded text of a frame's line, if the line was changed or removed since."""
    return (
        format_recorded_text_labels(frame.location)
        if frame.location is not None and frame.location_without_file is None
        else []
    )


def _format_header(trace: Trace) -> Iterator[str]:
    from framedex.texts.calls import format_error_headline, list_values_by_name

    call = trace.call
    error = f", {format_error_headline(call)}" if call.error > 0 else ""
    values = list_values_by_name(call)
    yield HEADING
    yield f"call {call.id}: {make_printable(call.function)}, {format_duration(call.duration)}{error}"
    yield f"arguments: {len(values)}"
    yield from (f"  {name}: {value}" for name, value in values)
    yield f"capture: {make_printable(trace.capture.path)}"
    yield f"command: {make_printable(trace.capture.command)}"
    yield f"thread: {make_printable(call.thread)}"
    if reason := format_unmerged_reason(trace):
        yield f"unmerged: {reason}"
    if reason := format_truncation_reason(trace):
        yield f"cut off: {reason}"
    for dispatch in trace.dispatched:
        if dispatch.location is not None:
            yield f"dispatched from: {_format_target(dispatch.location)} [{dispatch.how}]"


def _format_sections(trace: Trace) -> Iterator[str]:
    for section in trace.sections():
        yield ""
        yield f"{format_section_title(section)}, most recent call last:"
        yield from _format_frames(section.frames)


def _format_frames(frames: Sequence[FrameRow]) -> Iterator[str]:
    for number, frame in enumerate(frames, 1):
        mark = "P" if frame.function.language is Language.PYTHON else "N"
        yield f"{number:>3} {mark} {_format_function(frame)} {_format_place(frame)}"
        yield from (f"      {label}" for label in format_recorded_labels(frame))
        for candidate in frame.candidates:
            if candidate != frame.location:
                yield f"      or {_format_target(candidate)} [{', '.join(format_location_labels(candidate))}]"


def _format_function(frame: FrameRow) -> str:
    # The reader takes the first " at " before a path as the end of the name. No real name has one, a hostile one may.
    return _BEFORE_PATH.sub(lambda match: f" at \\x{ord(match[1]):02x}", make_printable(frame.function.name))


def _format_place(frame: FrameRow) -> str:
    labels = f" [{', '.join(format_frame_labels(frame))}]" if format_frame_labels(frame) else ""
    if frame.location_without_file is not None:
        return f"at {make_printable(frame.location_without_file)}{labels}"
    if frame.location is not None:
        return f"at {_format_target(frame.location)}{labels}"
    return f"in {make_printable(frame.module)}+{frame.offset:#x}{labels}"


def _format_target(location: Location) -> str:
    return f"{make_printable(location.path)}:{location.line}"
