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
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any

from framedex.base import words
from framedex.export.collapsed import format_step
from framedex.export.content import CallBegin, CallEnd, read_events
from framedex.export.protobuf import encode_double, encode_fixed64, encode_integer, encode_message, text
from framedex.export.samples import format_line
from framedex.texts.errors import name_error

if TYPE_CHECKING:
    from framedex.export.content import ExportContent, ExportedFrame
    from framedex.export.formats import Weight
    from framedex.model import CaptureRow, DeviceMemory
    from framedex.model.totals import KindRow, LinkRow


# Field numbers of TracePacket, TrackEvent and DebugAnnotation.
_PACKET, _TIMESTAMP, _SEQUENCE, _EVENT, _INTERNED, _FLAGS, _DESCRIPTOR, _FIRST = 1, 8, 10, 11, 12, 13, 60, 87
_COMPRESSED = 50
_CATEGORY, _ANNOTATION, _TYPE, _NAME, _TRACK, _COUNTER_VALUE, _FLOW, _FLOW_END, _STACK = 3, 4, 9, 10, 11, 30, 47, 48, 56
_SLICE_BEGIN, _SLICE_END, _INSTANT, _COUNTER = 1, 2, 3, 4
_STATE_CLEARED, _STATE_NEEDED = 1, 2
_COMPRESSION_BYTES = 1 << 20
"""Size of packets compressed together, in bytes."""
_IS_SEQUENCE, _IS_NEEDED = encode_integer(_SEQUENCE, 1), encode_integer(_FLAGS, _STATE_NEEDED)


def write(content: ExportContent, file: IO[bytes], weight: Weight) -> None:
    """Write the trace; `weight` is ignored."""
    trace = _Trace(content, file)
    trace.begin()
    trace.write_counters()
    trace.write_calls()
    trace.flush()


class _Trace:
    """A trace under construction. Interned data is in the first packet that refers to it."""

    def __init__(self, content: ExportContent, file: IO[bytes]) -> None:
        self._content = content
        self._file = file
        self._packets = bytearray()
        self._interned = InterningTable(content)
        self._tracks = TrackNumbers(content)
        self._began = {capture.id: content.start_unix_ns(capture.id) for capture in content.captures}
        self._slices: dict[int, bytes] = {}
        self._ends: dict[int, tuple[int, bytes]] = {}
        self._annotate_arguments = lru_cache(maxsize=1 << 14)(self._encode_arguments)

    def begin(self) -> None:
        """Write the tracks: processes, threads, counters."""
        self._write_packet(encode_integer(_FLAGS, _STATE_CLEARED) + encode_integer(_FIRST, 1))
        for descriptor in self._tracks.descriptors():
            self._write_packet(encode_message(_DESCRIPTOR, descriptor))

    def write_counters(self) -> None:
        """Write the device memory in use over time."""
        for device in self._content.memory:
            track = encode_integer(_TRACK, self._tracks.device_track(device)) + encode_integer(_TYPE, _COUNTER)
            for time, used in device.over_time:
                self._write_event(device.capture, time, track + encode_integer(_COUNTER_VALUE, used))

    def write_calls(self) -> None:
        """Write the begin and end of calls in time order, with flows from dispatching threads."""
        links = _CallLinks(self._content.calls.links())
        for event in read_events(self._content.calls):
            if isinstance(event, CallEnd):
                self._end_call(event)
            else:
                self._begin_call(event, links.take(event.call))

    def _begin_call(self, event: CallBegin, links: list[LinkRow]) -> None:
        kind = event.kind
        if kind.id not in self._slices:
            self._slices[kind.id] = self._encode_slice_fields(kind)
        flows = b"".join(self._write_dispatch(event, link) for link in links)
        encoded = (
            self._slices[kind.id]
            + flows
            + self._encode_annotation("call", event.call)
            + self._annotate_arguments(event.arguments)
        )
        self._write_event(kind.capture, event.time, encoded)

    def _end_call(self, event: CallEnd) -> None:
        if event.thread not in self._ends:
            encoded = encode_integer(_TRACK, self._tracks.thread_track(event.thread)) + encode_integer(
                _TYPE, _SLICE_END
            )
            self._ends[event.thread] = self._content.thread(event.thread).capture, encoded
        capture, encoded = self._ends[event.thread]
        self._write_event(capture, event.time, encoded)

    def _write_dispatch(self, event: CallBegin, link: LinkRow) -> bytes:
        """Write an instant with the start of a flow on the dispatching thread; return the end of the flow."""
        flow = event.call << 16 | link.thread & 0xFFFF
        line = self._content.line_of_node(link.node)
        name = f"{format_line(line)} {line.function}" if line is not None else "dispatches a call"
        instant = encode_integer(_TYPE, _INSTANT) + encode_integer(_TRACK, self._tracks.thread_track(link.thread))
        known = self._encode_annotation("known by", link.how) + self._encode_annotation("call", event.call)
        stack = self._encode_stack(tuple(self._content.chain(link.node)))
        name_fields = encode_integer(_NAME, self._interned.intern_name(name)) + encode_fixed64(_FLOW, flow)
        self._write_event(event.kind.capture, event.time, instant + name_fields + known + stack)
        return encode_fixed64(_FLOW_END, flow)

    def _encode_slice_fields(self, kind: KindRow) -> bytes:
        """Return the fields shared by the slices of all calls of a kind."""
        line = self._content.line(kind)
        name = kind.function if line is None else f"{format_line(line)} {kind.function}"
        event = encode_integer(_TYPE, _SLICE_BEGIN) + encode_integer(_TRACK, self._tracks.thread_track(kind.thread))
        event += encode_integer(_NAME, self._interned.intern_name(name)) + encode_integer(
            _CATEGORY, self._interned.intern_category(kind.boundary)
        )
        event += self._encode_stack(self._content.steps(kind)) + self._encode_annotation("function", kind.function)
        if line is not None:
            event += self._encode_annotation("line", f"{line.location.path}:{line.location.line}")
            event += self._encode_annotation("url", line.location.url) if line.location.url else b""
        if kind.error:
            event += self._encode_annotation("error", name_error(kind.error) if kind.error > 0 else "had not returned")
        return event

    def _encode_stack(self, steps: tuple[int, ...]) -> bytes:
        lines = "\n".join(format_step(self._content.step(number)) for number in reversed(steps))
        name_fields = encode_integer(1, self._interned.intern_annotation("stack")) + encode_integer(
            17, self._interned.intern_text(lines)
        )
        return encode_integer(_STACK, self._interned.intern_stack(steps)) + encode_message(_ANNOTATION, name_fields)

    def _encode_arguments(self, arguments: str) -> bytes:
        try:
            values = json.loads(arguments)
        except (ValueError, RecursionError):
            values = arguments  # a damaged capture
        return self._encode_annotation("arguments", values) if values else b""

    def _encode_annotation(self, name: str, value: Any) -> bytes:
        return encode_message(
            _ANNOTATION, encode_integer(1, self._interned.intern_annotation(name)) + self._encode_value(value)
        )

    def _encode_value(self, value: Any) -> bytes:
        """Return the annotation fields that hold a JSON value."""
        if isinstance(value, bool):
            return encode_integer(2, value)
        if isinstance(value, int):
            return encode_integer(4, value) if -(1 << 63) <= value < 1 << 63 else text(6, str(value))
        if isinstance(value, float):
            return encode_double(5, value)
        if isinstance(value, dict):
            entries = (
                encode_integer(1, self._interned.intern_annotation(key)) + self._encode_value(each)
                for key, each in value.items()
            )
            return b"".join(encode_message(11, entry) for entry in entries)
        if isinstance(value, list):
            return b"".join(encode_message(12, self._encode_value(each)) for each in value)
        return encode_integer(17, self._interned.intern_text(value)) if isinstance(value, str) else text(6, "null")

    def _write_event(self, capture: int, time: int, event: bytes) -> None:
        self._write_packet(
            encode_integer(_TIMESTAMP, self._began[capture] + time) + _IS_NEEDED + encode_message(_EVENT, event)
        )

    def _write_packet(self, packet: bytes) -> None:
        news = self._interned.take_new_entries()
        encoded = encode_message(_INTERNED, news) if news else b""
        self._packets += encode_message(_PACKET, _IS_SEQUENCE + encoded + packet)
        if len(self._packets) >= _COMPRESSION_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the packets since the last flush."""
        self._file.write(encode_message(_PACKET, encode_message(_COMPRESSED, zlib.compress(self._packets))))
        self._packets.clear()


class _CallLinks:
    """The links of calls, in call order."""

    def __init__(self, links: Iterator[LinkRow]) -> None:
        self._links = links
        self._next = next(links, None)

    def take(self, call: int) -> list[LinkRow]:
        """Return the links of a call. Call this for the calls in ascending order."""
        found = []
        while self._next is not None and self._next.call <= call:
            if self._next.call == call:
                found.append(self._next)
            self._next = next(self._links, None)
        return found


# Field numbers of InternedData.
(
    _INTERNED_CATEGORIES,
    _INTERNED_NAMES,
    _INTERNED_ANNOTATIONS,
    _INTERNED_FUNCTIONS,
    _INTERNED_FRAMES,
    _INTERNED_STACKS,
) = 1, 2, 3, 5, 6, 7
_INTERNED_PATHS, _INTERNED_SOURCES, _INTERNED_MAPPINGS, _INTERNED_TEXTS = 17, 18, 19, 29


class InterningTable:
    """Assigns numbers, and returns new entries once."""

    def __init__(self, content: ExportContent) -> None:
        self._content = content
        self._numbers: dict[tuple[int, str], int] = {}
        self._mappings: dict[str, int] = {}
        self._frames: dict[int, int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._new = bytearray()

    def take_new_entries(self) -> bytes:
        """Return the entries added since the last call, as `InternedData`."""
        if not self._new:
            return b""
        encoded = bytes(self._new)
        self._new.clear()
        return encoded

    def intern_name(self, name: str) -> int:
        """Return the number of an event name."""
        return self._intern(_INTERNED_NAMES, name)

    def intern_category(self, name: str) -> int:
        """Return the number of a category."""
        return self._intern(_INTERNED_CATEGORIES, name)

    def intern_annotation(self, name: str) -> int:
        """Return the number of an annotation name."""
        return self._intern(_INTERNED_ANNOTATIONS, name)

    def intern_text(self, value: str) -> int:
        """Return the number of an annotation's text value."""
        return self._intern(_INTERNED_TEXTS, value)

    def intern_stack(self, steps: tuple[int, ...]) -> int:
        """Return the number of a stack, given by its steps, outermost first."""
        if steps not in self._stacks:
            frames = [self._intern_frame(number) for number in steps]
            self._stacks[steps] = len(self._stacks) + 1
            self._add_entry(
                _INTERNED_STACKS,
                encode_integer(1, self._stacks[steps]) + b"".join(encode_integer(2, each) for each in frames),
            )
        return self._stacks[steps]

    def _intern_frame(self, number: int) -> int:
        if number not in self._frames:
            step = self._content.step(number)
            encoded = encode_integer(2, self._intern(_INTERNED_FUNCTIONS, step.name)) + encode_integer(
                3, self._intern_mapping(step)
            )
            encoded += encode_integer(4, step.offset)
            if step.path:
                encoded += encode_integer(5, self._intern(_INTERNED_SOURCES, step.path)) + encode_integer(6, step.line)
            self._frames[number] = len(self._frames) + 1
            self._add_entry(_INTERNED_FRAMES, encode_integer(1, self._frames[number]) + encoded)
        return self._frames[number]

    def _intern_mapping(self, step: ExportedFrame) -> int:
        """Return the mapping of a frame: its binary, or the file of Python code, because every frame needs one."""
        path = step.module or step.path
        if path not in self._mappings:
            self._mappings[path] = len(self._mappings) + 1
            self._add_entry(
                _INTERNED_MAPPINGS,
                encode_integer(1, self._mappings[path]) + encode_integer(7, self._intern(_INTERNED_PATHS, path)),
            )
        return self._mappings[path]

    def _intern(self, field: int, name: str) -> int:
        key = field, name
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers) + 1
            self._add_entry(field, encode_integer(1, self._numbers[key]) + text(2, name))
        return self._numbers[key]

    def _add_entry(self, field: int, content: bytes) -> None:
        self._new += encode_message(field, content)


_BYTES = 3  # CounterDescriptor.Unit.UNIT_SIZE_BYTES


class TrackNumbers:
    """Assigns numbers to tracks."""

    def __init__(self, content: ExportContent) -> None:
        self._content = content
        captures = [capture.id for capture in content.captures]
        self._processes = {capture: number for number, capture in enumerate(captures, 1)}
        self._threads = {thread: number for number, thread in enumerate(content.calls.threads, len(captures) + 1)}
        first = len(captures) + len(self._threads) + 1
        self._devices = {_device_key(device): number for number, device in enumerate(content.memory, first)}

    def thread_track(self, thread: int) -> int:
        """Return the track of a thread."""
        return self._threads[thread]

    def device_track(self, device: DeviceMemory) -> int:
        """Return the track of a device's memory in use."""
        return self._devices[_device_key(device)]

    def descriptors(self) -> Iterator[bytes]:
        """Yield all tracks, as `TrackDescriptor`."""
        pids = self._pids()
        for capture in self._content.captures:
            process = encode_integer(1, pids[capture.id]) + text(6, _process_name(capture)) + text(2, capture.command)
            yield encode_integer(1, self._processes[capture.id]) + encode_message(3, process)
        seen: set[tuple[int, int]] = set()
        for thread in self._content.calls.threads.values():
            if thread.capture not in pids:
                continue
            encoded = encode_integer(1, self._threads[thread.id]) + encode_integer(5, self._processes[thread.capture])
            if (thread.capture, thread.tid) in seen:  # the system reused the id of a thread that had ended
                yield encoded + text(2, thread.label)
            else:
                seen.add((thread.capture, thread.tid))
                known = encode_integer(1, pids[thread.capture]) + encode_integer(2, thread.tid) + text(5, thread.label)
                yield encoded + encode_message(4, known)
        for device in self._content.memory:
            encoded = encode_integer(1, self.device_track(device)) + encode_integer(5, self._processes[device.capture])
            yield (
                encoded
                + text(2, f"memory in use, device {device.device}")
                + encode_message(8, encode_integer(3, _BYTES))
            )

    def _pids(self) -> dict[int, int]:
        """Return the process id of each capture: the recorded one, unless several captures have the same."""
        encoded = {capture: self._content.metadata[capture].pid or 0 for capture in self._processes}
        times = Counter(encoded.values())
        return {capture: pid if times[pid] == 1 else (1 << 22) + capture for capture, pid in encoded.items()}


def _process_name(capture: CaptureRow) -> str:
    return f"{words.shorten_command(capture.command)} (capture {capture.id})"


def _device_key(device: DeviceMemory) -> tuple[int, str]:
    return device.capture, device.device
