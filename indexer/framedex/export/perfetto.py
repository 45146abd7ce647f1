"""Perfetto trace (https://perfetto.dev/docs/reference/trace-packet-proto): threads with nested calls.

A slice has the program's line and the function as its name, its merged stack, and its arguments. If another thread
dispatched a call, that thread has an instant with a flow to the call. Device memory in use appears as counters. Times
are wall-clock times. Stacks appear twice. Callstacks on track events require Perfetto 53 or later; a text among the
arguments works in any version. Names and texts are interned and packets compressed, because stacks differ only in a few
lines.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any

from framedex.errorcodes import error_name
from framedex.export.collapsed import step_text
from framedex.export.labels import line_text
from framedex.export.perfetto_interned import Interned
from framedex.export.perfetto_tracks import Tracks
from framedex.export.protobuf import double, fixed64, integer, message, text
from framedex.export.spans import Begin, End, spans

if TYPE_CHECKING:
    from framedex.export.content import Content
    from framedex.export.weights import Weight
    from framedex.model.exported import KindRow, LinkRow

# Field numbers of TracePacket, TrackEvent and DebugAnnotation.
_PACKET, _TIMESTAMP, _SEQUENCE, _EVENT, _INTERNED, _FLAGS, _DESCRIPTOR, _FIRST = 1, 8, 10, 11, 12, 13, 60, 87
_COMPRESSED = 50
_CATEGORY, _ANNOTATION, _TYPE, _NAME, _TRACK, _COUNTED, _FLOW, _FLOW_END, _STACK = 3, 4, 9, 10, 11, 30, 47, 48, 56
_BEGINS, _ENDS, _INSTANT, _COUNTER = 1, 2, 3, 4
_CLEARED, _NEEDED = 1, 2
_MOST_TOGETHER = 1 << 20
"""Size of packets compressed together, in bytes."""
_IS_SEQUENCE, _IS_NEEDED = integer(_SEQUENCE, 1), integer(_FLAGS, _NEEDED)


def write(content: Content, file: IO[bytes], weight: Weight) -> None:
    """Write the trace; `weight` is ignored."""
    trace = _Trace(content, file)
    trace.begin()
    trace.write_counters()
    trace.write_calls()
    trace.flush()


class _Trace:
    """A trace under construction. Interned data is in the first packet that refers to it."""

    def __init__(self, content: Content, file: IO[bytes]) -> None:
        self._content = content
        self._file = file
        self._packets = bytearray()
        self._interned = Interned(content)
        self._tracks = Tracks(content)
        self._began = {capture.id: content.began(capture.id) for capture in content.captures}
        self._of_kinds: dict[int, bytes] = {}
        self._ends: dict[int, tuple[int, bytes]] = {}
        self._annotated = lru_cache(maxsize=1 << 14)(self._annotations)

    def begin(self) -> None:
        """Write the tracks: processes, threads, counters."""
        self._packet(integer(_FLAGS, _CLEARED) + integer(_FIRST, 1))
        for descriptor in self._tracks.descriptors():
            self._packet(message(_DESCRIPTOR, descriptor))

    def write_counters(self) -> None:
        """Write the device memory in use over time."""
        for device in self._content.memory:
            track = integer(_TRACK, self._tracks.of_device(device)) + integer(_TYPE, _COUNTER)
            for time, used in device.over_time:
                self._event(device.capture, time, track + integer(_COUNTED, used))

    def write_calls(self) -> None:
        """Write the begin and end of calls in time order, with flows from dispatching threads."""
        links = _Links(self._content.calls.links())
        for event in spans(self._content.calls):
            if isinstance(event, End):
                self._end(event)
            else:
                self._begin_call(event, links.of(event.call))

    def _begin_call(self, event: Begin, links: list[LinkRow]) -> None:
        kind = event.kind
        if kind.id not in self._of_kinds:
            self._of_kinds[kind.id] = self._of_kind(kind)
        flows = b"".join(self._dispatched(event, link) for link in links)
        told = self._of_kinds[kind.id] + flows + self._told("call", event.call) + self._annotated(event.arguments)
        self._event(kind.capture, event.time, told)

    def _end(self, event: End) -> None:
        if event.thread not in self._ends:
            told = integer(_TRACK, self._tracks.of_thread(event.thread)) + integer(_TYPE, _ENDS)
            self._ends[event.thread] = self._content.thread(event.thread).capture, told
        capture, told = self._ends[event.thread]
        self._event(capture, event.time, told)

    def _dispatched(self, event: Begin, link: LinkRow) -> bytes:
        """Write an instant with the start of a flow on the dispatching thread; return the end of the flow."""
        flow = event.call << 16 | link.thread & 0xFFFF
        line = self._content.line_of_node(link.node)
        name = f"{line_text(line)} {line.function}" if line is not None else "has a call made"
        instant = integer(_TYPE, _INSTANT) + integer(_TRACK, self._tracks.of_thread(link.thread))
        known = self._told("known by", link.how) + self._told("call", event.call)
        stack = self._stack(tuple(self._content.chain(link.node)))
        named = integer(_NAME, self._interned.name(name)) + fixed64(_FLOW, flow)
        self._event(event.kind.capture, event.time, instant + named + known + stack)
        return fixed64(_FLOW_END, flow)

    def _of_kind(self, kind: KindRow) -> bytes:
        """Return the fields shared by the slices of all calls of a kind."""
        line = self._content.line(kind)
        name = kind.function if line is None else f"{line_text(line)} {kind.function}"
        event = integer(_TYPE, _BEGINS) + integer(_TRACK, self._tracks.of_thread(kind.thread))
        event += integer(_NAME, self._interned.name(name)) + integer(_CATEGORY, self._interned.category(kind.boundary))
        event += self._stack(self._content.steps(kind)) + self._told("function", kind.function)
        if line is not None:
            event += self._told("line", f"{line.location.path}:{line.location.line}")
            event += self._told("url", line.location.url) if line.location.url else b""
        if kind.error:
            event += self._told("error", error_name(kind.error) if kind.error > 0 else "had not returned")
        return event

    def _stack(self, steps: tuple[int, ...]) -> bytes:
        lines = "\n".join(step_text(self._content.step(number)) for number in reversed(steps))
        named = integer(1, self._interned.annotation("stack")) + integer(17, self._interned.text(lines))
        return integer(_STACK, self._interned.stack(steps)) + message(_ANNOTATION, named)

    def _annotations(self, arguments: str) -> bytes:
        try:
            values = json.loads(arguments)
        except (ValueError, RecursionError):
            values = arguments  # a damaged capture
        return self._told("arguments", values) if values else b""

    def _told(self, name: str, value: Any) -> bytes:
        return message(_ANNOTATION, integer(1, self._interned.annotation(name)) + self._value(value))

    def _value(self, value: Any) -> bytes:
        """Return the annotation fields that hold a JSON value."""
        if isinstance(value, bool):
            return integer(2, value)
        if isinstance(value, int):
            return integer(4, value) if -(1 << 63) <= value < 1 << 63 else text(6, str(value))
        if isinstance(value, float):
            return double(5, value)
        if isinstance(value, dict):
            entries = (integer(1, self._interned.annotation(key)) + self._value(each) for key, each in value.items())
            return b"".join(message(11, entry) for entry in entries)
        if isinstance(value, list):
            return b"".join(message(12, self._value(each)) for each in value)
        return integer(17, self._interned.text(value)) if isinstance(value, str) else text(6, "null")

    def _event(self, capture: int, time: int, event: bytes) -> None:
        self._packet(integer(_TIMESTAMP, self._began[capture] + time) + _IS_NEEDED + message(_EVENT, event))

    def _packet(self, packet: bytes) -> None:
        news = self._interned.news()
        told = message(_INTERNED, news) if news else b""
        self._packets += message(_PACKET, _IS_SEQUENCE + told + packet)
        if len(self._packets) >= _MOST_TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Write the packets since the last flush."""
        self._file.write(message(_PACKET, message(_COMPRESSED, zlib.compress(self._packets))))
        self._packets.clear()


class _Links:
    """The links of calls, in call order."""

    def __init__(self, links: Iterator[LinkRow]) -> None:
        self._links = links
        self._next = next(links, None)

    def of(self, call: int) -> list[LinkRow]:
        """Return the links of a call; calls must come in ascending order."""
        found = []
        while self._next is not None and self._next.call <= call:
            if self._next.call == call:
                found.append(self._next)
            self._next = next(self._links, None)
        return found
