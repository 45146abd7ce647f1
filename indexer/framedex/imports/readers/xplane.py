"""Reads profiles of `jax.profiler.trace`: an XSpace, with a plane for each device and the host (XLA, xplane.proto).

A line of a plane is a thread or a device queue. Its events are nested. With `python_tracer_level`, Python functions are
events too; their names have the file and first line of the function. HLO ops name their program. If the file contains
the program, the ops get the Python frames that traced them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from framedex.base.protobuf import Message
from framedex.imports.building import ProfileBuilder
from framedex.imports.hlo import TracedOp, read_traced_ops
from framedex.imports.names import build_imported_frame, parse_frame
from framedex.imports.slices import MAX_SLICES, SliceCollector, add_slices
from framedex.imports.source import Source
from framedex.imports.values import ValueType, WeightRules
from framedex.imports.wire import parse_first_fields, skip_field_head, stream_fields
from framedex.model import Language

_PLANE = 1
_ID, _NAME, _LINES, _EVENT_NAMES, _STAT_NAMES, _STATS = range(1, 7)  # of a plane
_EVENT_STATS = 5  # of event metadata
_PROGRAM_OF_NAME = re.compile(r"\((\d{1,19})\)$")
_PROGRAM, _OP, _HLO, _MODULE, _RUN = "program_id", "hlo_op", "Hlo Proto", "hlo_module", "run_id"
_START = "profile_start_time"


def matches(head: bytes) -> bool:
    """Whether the first bytes are a plane, which begins with its name."""
    if not head.startswith(b"\x0a"):
        return False
    try:
        named = (value for number, value in parse_first_fields(skip_field_head(head)) if number == _NAME)
        name = next(named, b"")
    except ValueError:
        return False
    return isinstance(name, bytes) and name.startswith((b"/host:", b"/device:", b"Task Environment"))


def read(source: Source, builder: ProfileBuilder) -> None:
    """Read the planes. Raises ValueError as `ImportFormat.read` does."""
    builder.set_weight_rules(
        WeightRules([ValueType("slices", "count"), ValueType("time", "nanoseconds")], builder.wanted)
    )
    ops: dict[tuple[int, str], TracedOp] = {}
    for plane in _parse_planes(source):
        ops.update(plane.ops())
        builder.started_unix_ns = builder.started_unix_ns or plane.started()
    reading = _PlaneReader(builder, ops)
    for plane in _parse_planes(source):
        reading.add(plane)


def _parse_planes(source: Source) -> Iterator[_PlaneNames]:
    with source.open() as file:
        for number, content in stream_fields(file):
            if number == _PLANE and isinstance(content, bytes):
                yield _PlaneNames(Message(content))


class _PlaneNames:
    """A plane, with the names of its events and statistics by id."""

    def __init__(self, plane: Message) -> None:
        self.name = plane.text(_NAME)
        self.lines = plane.contents(_LINES)
        self._stats = plane.contents(_STATS)
        self._names = {number: value.text(2) for number, value in _parse_entries(plane, _STAT_NAMES)}
        self.events = dict(_parse_entries(plane, _EVENT_NAMES))

    def stats(self, stats: list[bytes]) -> dict[str, int | str | bytes]:
        """Read statistics by name. Fractions are left out."""
        found: dict[str, int | str | bytes] = {}
        for stat in map(Message, stats):
            name = self._names.get(stat.integer(1), "")
            for number in stat.numbers() - {1, 2}:
                value: int | str | bytes = stat.integer(number)
                if number == 5:
                    value = stat.text(number)
                elif number == 6:
                    value = stat.content(number)
                elif number == 7:
                    value = self._names.get(stat.integer(number), "")
                found[name] = value
        return found

    def started(self) -> int | None:
        """The start of the profile (Unix time, ns); None if this plane does not have it."""
        started = self.stats(self._stats).get(_START)
        return started if isinstance(started, int) and 0 < started < 1 << 63 else None

    def ops(self) -> Iterator[tuple[tuple[int, str], TracedOp]]:
        """The ops of the programs in this plane by program and name."""
        for event in self.events.values():
            stats = self.stats(event.contents(_EVENT_STATS))
            kept, program = stats.get(_HLO), stats.get(_PROGRAM)
            named = _PROGRAM_OF_NAME.search(event.text(_NAME))
            program = int(named[1]) if named is not None else program
            if isinstance(kept, bytes) and isinstance(program, int):
                for name, op in read_traced_ops(kept):
                    yield (program, name), op


def _parse_entries(plane: Message, number: int) -> Iterator[tuple[int, Message]]:
    for entry in map(Message, plane.contents(number)):
        yield entry.integer(1), Message(entry.content(2))


class _PlaneReader:
    """Converts planes to samples, one by one."""

    def __init__(self, builder: ProfileBuilder, ops: dict[tuple[int, str], TracedOp]) -> None:
        self._builder = builder
        self._ops = ops
        self._stacks: list[list[int]] = []
        self._of_op: dict[tuple[int, str], int] = {}
        self._labels: dict[tuple[str, str, int], int] = {}
        self._threads = 0
        self._slices = 0

    def add(self, plane: _PlaneNames) -> None:
        """Add the slices of a plane, line by line."""
        for content in plane.lines:
            line = Message(content)
            self._threads += 1  # a number, since ids of lines are not thread ids
            name = line.text(11) or line.text(2)
            slices = SliceCollector()
            begin = line.signed(3)
            for event in map(Message, line.contents(4)):
                self._add_event(plane, event, begin, slices)
            if slices:
                thread = self._builder.add_thread(self._threads, f"{plane.name} {name}")
                labels = [{"program": program, "op": op, "run": run} for program, op, run in self._labels]
                add_slices(self._builder, slices, thread, self._stacks, 0, labels)

    def _add_event(self, plane: _PlaneNames, event: Message, begin: int, slices: SliceCollector) -> None:
        self._slices += 1
        if self._slices > MAX_SLICES:
            raise ValueError(f"it has more than {MAX_SLICES:,} slices")
        named = plane.events.get(event.integer(1))
        name = "" if named is None else named.text(4) or named.text(2)
        start = begin + event.signed(2) // 1000
        if not -(1 << 62) < start < 1 << 62:
            raise ValueError("an event has an impossible time")
        stats = plane.stats(event.contents(4))
        op, program = stats.get(_OP), stats.get(_PROGRAM)
        key = (program, op) if isinstance(op, str) and isinstance(program, int) else None
        traced = None if key is None else self._ops.get(key)
        if key is None or traced is None:
            frame, outer = parse_frame(name), -1
        else:
            frame, outer = build_imported_frame(_name_op(name, traced)), self._find_outer_stack(key, traced)
        if frame.language is Language.PYTHON:  # the line is the first line of the function
            frame = replace(frame, line=0, first_line=frame.line or frame.first_line)
        end = start + min(event.integer(3) // 1000, 1 << 62)
        slices.add(start, end, self._builder.add_frame(frame), outer, self._number_labels(stats))

    def _number_labels(self, stats: dict[str, int | str | bytes]) -> int:
        """The number of the labels of an op: program, op and run; -1 if it lacks any of these."""
        program, op, run = stats.get(_MODULE), stats.get(_OP), stats.get(_RUN)
        if not isinstance(program, str) or not isinstance(op, str) or not isinstance(run, int):
            return -1
        return self._labels.setdefault((program, op, run), len(self._labels))

    def _find_outer_stack(self, key: tuple[int, str], traced: TracedOp) -> int:
        """Return the number of the Python stack from which an op was traced."""
        if key not in self._of_op:
            self._of_op[key] = len(self._stacks)
            self._stacks.append([self._builder.add_frame(frame) for frame in traced.frames])
        return self._of_op[key]


def _name_op(name: str, traced: TracedOp) -> str:
    """The name of an op, with the lines of a fusion: `add_fusion (60% model.py:7, 40% model.py:9)`."""
    return f"{name} ({traced.lines})" if traced.lines else name
