"""Reads Chrome trace events in JSON, as viztracer, JAX and many others write them (Trace Event Format, 2016).

The slices of a thread are nested. The open slices are its stack, and self time goes to the innermost one. Samples
(`ph: P`) have stacks of their own, with frames in `stackFrames`. Times are in microseconds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from framedex.imports.building import ProfileBuilder
from framedex.imports.jsonstream import read_members
from framedex.imports.names import build_imported_frame, parse_frame, parse_thread_label
from framedex.imports.slices import MAX_SLICES, SliceCollector, add_slices
from framedex.imports.source import Source
from framedex.imports.values import ValueType, WeightRules

_TRACE = re.compile(rb'"traceEvents"\s*:\s*\[')
_EVENT = re.compile(rb'\s*\[\s*\{.*?"ph"\s*:\s*"\w"', re.DOTALL)

_PY_SPY = "py-spy"
# Categories of viztracer, current and older, and of PyTorch: the line is the first line of the function.
_FIRST_LINES = ("fee", "FEE", "python_function")


def matches(head: bytes) -> bool:
    """Whether the first bytes are an object with trace events, or a list of them."""
    return _TRACE.search(head) is not None or _EVENT.match(head) is not None


def read(source: Source, builder: ProfileBuilder) -> None:
    """Read the trace events. Raises ValueError as `ImportFormat.read` does."""
    trace = _Trace(builder)
    if source.contains(b'"stackFrames"'):
        for key, value in read_members(source):
            if key == "stackFrames":
                trace.read_frames(value)
    for key, value in read_members(source):
        if key in ("", "traceEvents"):
            trace.add_event(value)
        elif key == "samples":
            trace.add_stack_sample(value)
    trace.finish()


class _Thread(NamedTuple):
    """The key of a thread."""

    pid: int
    tid: int


@dataclass(slots=True)
class _StackFrame:
    frame: int
    parent: str


@dataclass(slots=True)
class _Trace:
    """Collects the events of a trace. Slices are added at the end, when the names of threads are known."""

    builder: ProfileBuilder
    slices: dict[_Thread, SliceCollector] = field(default_factory=lambda: defaultdict(SliceCollector))
    names: dict[_Thread, str] = field(default_factory=dict)
    samples: list[tuple[_Thread, int, int]] = field(default_factory=list)  # thread, ns, stack
    frames: dict[str, _StackFrame] = field(default_factory=dict)
    stacks: list[list[int]] = field(default_factory=list)
    known: dict[str, int] = field(default_factory=dict)  # stack frame -> stack
    events: int = 0

    def read_frames(self, value: Any) -> None:
        """Read the frames that events refer to."""
        for name, frame_fields in value.items() if isinstance(value, dict) else ():
            if isinstance(frame_fields, dict) and isinstance(frame_fields.get("name"), str):
                frame = self.builder.add_frame(parse_frame(frame_fields["name"]))
                self.frames[name] = _StackFrame(frame, str(frame_fields.get("parent", "")))

    def add_event(self, event: Any) -> None:
        """Read an event."""
        if not isinstance(event, dict):
            raise ValueError("an event in it is not an object")
        phase, thread = event.get("ph"), _Thread(_parse_id(event.get("pid")), _parse_id(event.get("tid")))
        if phase == "M":
            arguments = event.get("args")
            if event.get("name") == "thread_name" and isinstance(arguments, dict):
                self.names[thread] = str(arguments.get("name", ""))
            return
        if phase == "P":
            self.add_stack_sample(event)
        if phase not in ("X", "B", "E") or self._is_thread(event, thread):
            return
        self.events += 1
        if self.events > MAX_SLICES:
            raise ValueError(f"it has more than {MAX_SLICES:,} slices")
        start = _to_nanoseconds(event.get("ts"))
        if phase == "E":
            self.slices[thread].end(start)
            return
        frame, outer = self._number_frame(event), self._find_outer_stack(event)
        if phase == "B":
            self.slices[thread].begin(start, frame, outer)
        else:
            self.slices[thread].add(start, start + _to_nanoseconds(event.get("dur", 0)), frame, outer)

    def add_stack_sample(self, event: Any) -> None:
        """Read a sample of a stack."""
        if not isinstance(event, dict):
            raise ValueError("a sample in it is not an object")
        if (stack := self._find_outer_stack(event)) >= 0:
            thread = _Thread(_parse_id(event.get("pid")), _parse_id(event.get("tid")))
            self.samples.append((thread, _to_nanoseconds(event.get("ts", 0)), stack))

    def finish(self) -> None:
        """Add the samples or the slices to the builder."""
        values = [ValueType("slices", "count"), ValueType("time", "nanoseconds")]
        if not any(self.slices.values()):
            self.builder.set_weight_rules(WeightRules([ValueType("samples", "count")], self.builder.wanted))
            first = min((at for _, at, _ in self.samples), default=0)
            for thread, at, stack in self.samples:
                self.builder.add_sample(self.stacks[stack], self._number_thread(thread), [1], start=at - first)
            return
        for _ in self.samples:
            self.builder.count_skipped("sample", "without a duration, since slices have durations")
        self.builder.set_weight_rules(WeightRules(values, self.builder.wanted))
        first = min(slices.first for slices in self.slices.values() if slices)
        for thread, slices in self.slices.items():
            add_slices(self.builder, slices, self._number_thread(thread), self.stacks, first)

    def _number_thread(self, thread: _Thread) -> int:
        return self.builder.add_thread(max(thread.tid, 0), self.names.get(thread, ""))

    def _number_frame(self, event: dict[str, Any]) -> int:
        name = event.get("name")
        frame = parse_frame(name if isinstance(name, str) and name else "slice without a name")
        if event.get("cat") in _FIRST_LINES:
            frame = replace(frame, line=0, first_line=frame.line)
        arguments = event.get("args") if event.get("cat") == _PY_SPY else None
        if (
            isinstance(arguments, dict)
            and isinstance(arguments.get("filename"), str)
            and type(arguments.get("line")) is int
        ):
            frame = build_imported_frame(frame.function, arguments["filename"], min(arguments["line"], 1 << 31))
        return self.builder.add_frame(frame)

    def _is_thread(self, event: dict[str, Any], thread: _Thread) -> bool:
        """Whether a slice is py-spy's label of a thread, not a frame."""
        if event.get("cat") != _PY_SPY or (label := parse_thread_label(str(event.get("name")))) is None:
            return False
        self.names[thread] = label[1]
        return True

    def _find_outer_stack(self, event: dict[str, Any]) -> int:
        """Return the number of the stack stored with an event; -1 if there is none."""
        innermost = event.get("sf")
        if innermost is None or (key := str(innermost)) not in self.frames:
            return -1
        if key not in self.known:
            frames: list[int] = []
            at, seen = key, set()
            while at in self.frames and at not in seen:
                seen.add(at)
                frames.append(self.frames[at].frame)
                at = self.frames[at].parent
            self.known[key] = len(self.stacks)
            self.stacks.append(frames)
        return self.known[key]


def _parse_id(value: Any) -> int:
    """Parse the id of a process or thread. Some recorders write it as a string."""
    if isinstance(value, str):
        value = int(value) if value.isascii() and value.isdecimal() and len(value) < 19 else 0
    return int(value) if type(value) is int and 0 <= value < 1 << 63 else 0


def _to_nanoseconds(value: Any) -> int:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = None
    if type(value) not in (int, float) or not -(1 << 52) < value < 1 << 52:
        raise ValueError("an event has no valid time")
    return round(float(value) * 1000)
