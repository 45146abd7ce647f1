"""A trace of Perfetto (https://perfetto.dev/docs/reference/trace-packet-proto): threads with their nested calls.

A slice has the line of the program and the function as its name, its merged stack, and its arguments. What a thread had
made on another is an instant there, with a flow to the call. What devices had in use are counters. Times are of the
wall clock. Stacks are there twice: as callstacks, which Perfetto has with track events since version 53, and as a text
among the arguments, which any version shows. Names and texts are interned, and packets compressed: stacks differ in
a few lines.
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

# Of TracePacket, TrackEvent and DebugAnnotation.
_PACKET, _TIMESTAMP, _SEQUENCE, _EVENT, _INTERNED, _FLAGS, _DESCRIPTOR, _FIRST = 1, 8, 10, 11, 12, 13, 60, 87
_COMPRESSED = 50
_CATEGORY, _ANNOTATION, _TYPE, _NAME, _TRACK, _COUNTED, _FLOW, _FLOW_END, _STACK = 3, 4, 9, 10, 11, 30, 47, 48, 56
_BEGINS, _ENDS, _INSTANT, _COUNTER = 1, 2, 3, 4
_CLEARED, _NEEDED = 1, 2
_MOST_TOGETHER = 1 << 20
"""Bytes of packets that are compressed together."""
_IS_SEQUENCE, _IS_NEEDED = integer(_SEQUENCE, 1), integer(_FLAGS, _NEEDED)


def write(content: Content, file: IO[bytes], weight: Weight) -> None:
    """Write the trace; nothing of it is weighed."""
    trace = _Trace(content, file)
    trace.begin()
    trace.write_counters()
    trace.write_calls()
    trace.flush()


class _Trace:
    """A trace while packets are added to it. What they refer to comes in the packet that refers to it first."""

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
        """Write what was in use on devices over time."""
        for device in self._content.memory:
            track = integer(_TRACK, self._tracks.of_device(device)) + integer(_TYPE, _COUNTER)
            for time, used in device.over_time:
                self._event(device.capture, time, track + integer(_COUNTED, used))

    def write_calls(self) -> None:
        """Write the calls as they begin and end, and what had them made."""
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
        """The end of a flow, of which the beginning is written: an instant on the thread that had the call made."""
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
        """What the slices of all calls of a kind have."""
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
            values = arguments  # of a damaged capture
        return self._told("arguments", values) if values else b""

    def _told(self, name: str, value: Any) -> bytes:
        return message(_ANNOTATION, integer(1, self._interned.annotation(name)) + self._value(value))

    def _value(self, value: Any) -> bytes:
        """The fields of an annotation that hold a value of JSON."""
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
        """Write the packets since the last time."""
        self._file.write(message(_PACKET, message(_COMPRESSED, zlib.compress(self._packets))))
        self._packets.clear()


class _Links:
    """The links of calls, which come in the order of calls."""

    def __init__(self, links: Iterator[LinkRow]) -> None:
        self._links = links
        self._next = next(links, None)

    def of(self, call: int) -> list[LinkRow]:
        """Those of a call, later than the one before."""
        found = []
        while self._next is not None and self._next.call <= call:
            if self._next.call == call:
                found.append(self._next)
            self._next = next(self._links, None)
        return found
