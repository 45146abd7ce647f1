"""Reads the samples that `perf script` prints (tools/perf/builtin-script.c).

    python 22312 64314.205229:   10101010 cpu-clock:
                      1ceff0 _PyObject_Free+0x70 (/usr/lib/libpython3.12.so.1.0)

A sample is a heading, its frames, innermost first, and an empty line. Without call chains the heading ends with the
frame. `-F` selects the fields. simpleperf writes tabs instead of blanks.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from framedex.base.errors import FramedexError
from framedex.base.lazy import compile_on_use
from framedex.imports.building import ProfileBuilder
from framedex.imports.names import build_imported_frame, parse_frame
from framedex.imports.source import Source, split_lines
from framedex.imports.values import ValueType, WeightRules
from framedex.model import ImportedFrame, Language

# comm, pid/tid or tid, optionally [cpu] and flags, seconds, the period, the event, and its details.
_HEADING = compile_on_use(
    r" *(?P<name>\S.*?)\s+(?:-?\d{1,10}/)?(?P<tid>-?\d{1,10})(?:\s+\[\d+\])?(?:\s+[A-Zh]{1,8})?"
    r"(?:\s+(?P<seconds>\d{1,12})\.(?P<fraction>\d{1,9}):)?(?:\s+(?P<period>\d{1,18}))?"
    r"(?:\s+(?P<event>[^\s:\d]\S*?):(?:\s+(?P<rest>\S.*))?)?\s*$"
)
_FRAME = compile_on_use(
    r"\s*(?P<address>[0-9a-f]{1,16})(?:\s(?P<function>\S.*?)?(?:\+0x[0-9a-f]{1,16})?)?"
    r"(?: \((?P<module>[^()]*(?:\([^()]*\)[^()]*)*)\))?$"
)
# The separate line of `-F +srcline`.
_SOURCE = compile_on_use(r"\s+(?P<path>[^\s:][^:]*\.\w{1,5}):(?P<line>\d{1,9})(?P<inlined> \(inlined\))?$")
_AFTER_MODULE = re.compile(r"(?: \(deleted\))?(?:\+0x[0-9a-f]+)?$")
_MODIFIERS = re.compile(r":[ukhGHIpPSDWeb]+$")  # event modifiers (perf-list)
_LIKELY_ADDRESS = 4  # digits
_UNKNOWN, _INLINED = "[unknown]", "inlined"
_NANOSECONDS = {"cpu-clock", "task-clock"}  # events whose period is a time
_SAMPLES = "samples"
_RECORD = "PERF_RECORD_"  # prefix of records other than samples


def matches(head: bytes) -> bool:
    """Whether a sample's heading and its innermost frame are among the first lines."""
    lines = [line.rstrip() for line in split_lines(head)]
    return any(_is_sample(line, after) for line, after in pairwise([*lines, ""]))


def _is_sample(line: str, after: str) -> bool:
    heading = _match_heading(line)
    if heading is None:
        return False
    if heading["rest"]:
        return _parse_frame_of_heading(heading) is not None
    frame = _FRAME.match(after)
    if frame is None:
        return False
    if not heading["event"]:  # then other texts may look similar
        return after[:1].isspace() and len(frame["address"]) >= _LIKELY_ADDRESS
    return bool(after[:1].isspace() or frame["module"])


def _match_heading(line: str) -> re.Match[str] | None:
    return None if line.startswith(("\t", "#")) else _HEADING.match(line)


def _parse_frame_of_heading(heading: re.Match[str]) -> re.Match[str] | None:
    """Return the frame at the end of a heading; None if the heading ends with a tracepoint's fields."""
    frame = _FRAME.match(heading["rest"] or "")
    return frame if frame is not None and frame["module"] else None


def read(source: Source, builder: ProfileBuilder) -> None:
    """Read the samples. Raises ValueError as `ImportFormat.read` does, and FramedexError as `WeightRules` does."""
    samples = _SampleParser(builder)
    for line in source.lines():
        samples.read_line(line)
    samples.finish()


class _SampleParser:
    """Parses the samples of a text, line by line."""

    def __init__(self, builder: ProfileBuilder) -> None:
        self._builder = builder
        self._event = builder.wanted if builder.wanted != _SAMPLES else None
        self._other_events: dict[str, None] = {}
        self._heading: re.Match[str] | None = None
        self._frames: list[ImportedFrame] = []
        self._first: int | None = None

    def read_line(self, line: str) -> None:
        """Read a line."""
        line = line.rstrip()
        heading = _match_heading(line)
        if heading is not None:
            self._add_current_sample()
            self._heading = heading
            single = _parse_frame_of_heading(heading)
            self._frames = [_build_frame(single)] if single is not None else []
        elif not line:
            if self._frames:
                self._add_current_sample()
        elif self._heading is not None:
            self._read_after_heading(line)

    def _read_after_heading(self, line: str) -> None:
        """Read a line below a heading: a frame, or the source line of the last frame."""
        frame = _FRAME.match(line)
        if frame is not None:
            self._frames.append(_build_frame(frame))
        elif self._frames and (place := _SOURCE.match(line)) is not None:
            last = self._frames[-1]
            located = build_imported_frame(last.function, place["path"], int(place["line"]), module=last.module)
            self._frames[-1] = replace(located, is_inlined=last.is_inlined or place["inlined"] is not None)

    def finish(self) -> None:
        """Add the last sample."""
        self._add_current_sample()
        if self._builder.weighing is None and self._other_events:
            names = ", ".join((_SAMPLES, *self._other_events))
            raise FramedexError(f"It has no event '{self._event}'.", f"Choose one of these: {names}.")

    def _add_current_sample(self) -> None:
        """Add the current sample."""
        heading, frames = self._heading, self._frames
        self._heading, self._frames = None, []
        if heading is None:
            return
        event = _MODIFIERS.sub("", heading["event"] or "")
        if event.startswith(_RECORD):
            return
        if self._event is None:
            self._event = event
        if event != self._event:
            self._other_events[event] = None
            self._builder.count_skipped("sample", f"of an event other than {self._event!r}: choose it with `--value`")
            return
        if self._builder.weighing is None:
            self._set_weights(event, heading["period"])
        numbers = [self._builder.add_frame(frame) for frame in frames]
        thread = self._builder.add_thread(max(int(heading["tid"]), 0), heading["name"])
        self._builder.add_sample(numbers, thread, [1, int(heading["period"] or 1)], start=self._elapsed_ns(heading))

    def _set_weights(self, event: str, period: str | None) -> None:
        is_time = event in _NANOSECONDS and bool(period)
        values = [ValueType(_SAMPLES, "count"), ValueType(event, "nanoseconds" if is_time else "count")]
        self._builder.set_weight_rules(WeightRules(values, self._builder.wanted, usual=1 if is_time else 0))

    def _elapsed_ns(self, heading: re.Match[str]) -> int:
        """Nanoseconds since the first sample."""
        if heading["seconds"] is None:
            return 0
        at = int(heading["seconds"]) * 1_000_000_000 + int(heading["fraction"].ljust(9, "0"))
        if self._first is None:
            self._first = at
        return max(at - self._first, 0)


def _build_frame(frame: re.Match[str]) -> ImportedFrame:
    function, module = frame["function"] or "", _AFTER_MODULE.sub("", frame["module"] or "")
    is_inlined = module == _INLINED
    if function in ("", _UNKNOWN):
        function = f"{int(frame['address'], 16):#x}"
    parsed = parse_frame(function)
    if parsed.language is Language.PYTHON:  # a perf trampoline: its map is not a binary
        return parsed
    return replace(parsed, module="" if module in (_UNKNOWN, _INLINED) else module, is_inlined=is_inlined)
