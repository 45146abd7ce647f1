"""Reads Perfetto traces: a protocol buffer of packets (Perfetto, protos/perfetto/trace/trace_packet.proto).

It reads slices with their stacks, and stack samples of Chrome's profiler (`StreamingProfilePacket`) and `traced_perf`
(`PerfSample`). The first pass collects thread names and symbols, which may come anywhere, and counts slices and
samples. The second pass converts the packets.
"""

from __future__ import annotations

import zlib
from array import array
from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from framedex.base.protobuf import Message, to_signed
from framedex.imports.building import ProfileBuilder
from framedex.imports.names import build_imported_frame, parse_frame
from framedex.imports.sequences import NAMES, SOURCES, Sequence, Stacks
from framedex.imports.slices import MAX_SLICES, SliceCollector, add_slices
from framedex.imports.source import Source
from framedex.imports.tracks import Tracks, build_default_track
from framedex.imports.values import ValueType, WeightRules
from framedex.imports.wire import parse_first_fields, skip_field_head, stream_fields

_PACKET = 1
_CLOCKS, _TIME, _SEQUENCE, _EVENT, _INTERNED_DATA, _FLAGS = 6, 8, 10, 11, 12, 13  # of a packet
_HEAP, _CLEARED, _PACKETS_DROPPED, _THREAD, _COMPRESSED, _CHROME_SAMPLES = 37, 41, 42, 44, 50, 54
_CLOCK, _DEFAULTS, _SYMBOLS, _PERF_SAMPLE, _STACK_SAMPLE = 58, 59, 61, 66, 135
_IS_CLEARED, _NEEDS_STATE = 1, 2  # flags
_NAME_NUMBER, _TRACK, _NAME, _SOURCE, _SOURCE_NUMBER, _INLINE, _STACK = 10, 11, 23, 33, 34, 55, 56  # of an event
_TYPES = {1: "B", 2: "E"}
_SEQUENCE_CLOCKS = range(64, 128)  # clocks
_BOOT_CLOCK, _REALTIME_CLOCK = 6, 1
_BEGINS_COMPRESSED = b"\x92\x03"
_RATIO, _LEAST = 300, 1 << 20  # limits for the size of decompressed packets, in bytes


def matches(head: bytes) -> bool:
    """Whether the first bytes are packets. The first has a time, a sequence number, or compressed packets."""
    if not head.startswith(b"\x0a"):
        return False
    packet = skip_field_head(head)
    try:
        numbers = {number for number, _ in parse_first_fields(head)}
        first = {number for number, _ in parse_first_fields(packet)}
    except ValueError:
        return False
    is_packed = packet.startswith(_BEGINS_COMPRESSED)
    return numbers <= {_PACKET} and (is_packed or bool(first & {_TIME, _SEQUENCE, _FLAGS}))


def read(source: Source, builder: ProfileBuilder) -> None:
    """Read the packets. Raises ValueError as `ImportFormat.read` does."""
    first_pass = _FirstPass()
    for packet in _parse_packets(source):
        first_pass.add_packet(packet)
    has_slices = first_pass.slices > 0 and not (first_pass.samples and builder.wanted == "samples")
    slices = [ValueType("slices", "count"), ValueType("time", "nanoseconds")]
    builder.set_weight_rules(WeightRules(slices if has_slices else [ValueType("samples", "count")], builder.wanted))
    for _ in range(first_pass.heaps):
        builder.count_skipped("heap dump", "without samples")
    for _ in range(first_pass.stack_samples):
        builder.count_skipped("stack sample", "of the unsupported kind StackSample")
    reading = _PacketReader(builder, first_pass, has_slices)
    for packet in _parse_packets(source):
        reading.read_packet(packet)
    reading.finish()


def _parse_packets(source: Source) -> Iterator[Message]:
    with source.open() as file:
        for number, content in stream_fields(file):
            if number == _PACKET and isinstance(content, bytes):
                packet = Message(content)
                yield packet
                if _COMPRESSED in packet:
                    yield from _unpack(packet.content(_COMPRESSED))


def _unpack(packed: bytes) -> Iterator[Message]:
    unpacking = zlib.decompressobj()
    try:
        content = unpacking.decompress(packed, _LEAST + _RATIO * len(packed))
    except zlib.error as error:
        raise ValueError(f"its compressed packets are damaged ({error})") from error
    if not unpacking.eof:
        raise ValueError("its compressed packets are truncated, or decompress to more than the limit")
    yield from map(Message, Message(content).contents(_PACKET))


@dataclass(slots=True)
class _FirstPass:
    """The results of the first pass: tracks, symbols, and numbers of slices and samples."""

    tracks: Tracks = field(default_factory=Tracks)
    symbols: dict[tuple[str, int], list[tuple[str, str, int]]] = field(default_factory=dict)
    slices: int = 0
    samples: int = 0
    heaps: int = 0
    stack_samples: int = 0

    def add_packet(self, packet: Message) -> None:
        """Add the descriptions in a packet."""
        self.tracks.add_descriptions(packet, packet.integer(_SEQUENCE))
        self.samples += (_CHROME_SAMPLES in packet) + (_PERF_SAMPLE in packet)
        self.heaps += _HEAP in packet
        self.stack_samples += _STACK_SAMPLE in packet
        if _EVENT in packet:
            self.slices += _event_phase(Message(packet.content(_EVENT))) in ("B", "X")
        if _SYMBOLS in packet:
            module = Message(packet.content(_SYMBOLS))
            for address in map(Message, module.contents(3)):
                lines = [(line.text(1), line.text(2), line.integer(3)) for line in map(Message, address.contents(2))]
                if lines:
                    self.symbols[module.text(2).lower(), address.integer(1)] = lines


class _PacketReader:
    """Converts packets to samples, one by one. Slices are added at the end, when all have their ends."""

    def __init__(self, builder: ProfileBuilder, first_pass: _FirstPass, has_slices: bool) -> None:
        self._builder = builder
        self._first_pass = first_pass
        self._has_slices = has_slices
        self._sequences: dict[int, Sequence] = defaultdict(Sequence)
        self._everywhere = Sequence()  # its clocks are global
        self._stacks = Stacks(builder, first_pass.symbols)
        self._slices: dict[Hashable, SliceCollector] = defaultdict(SliceCollector)
        self._find_outer_stack: dict[tuple[int, ...], int] = {}
        self._samples = array("q")  # time, thread and stack of each
        self._count = 0

    def read_packet(self, packet: Message) -> None:
        """Read a packet."""
        number = packet.integer(_SEQUENCE)
        sequence = self._sequences[number]
        if packet.integer(_CLEARED) or packet.integer(_FLAGS) & _IS_CLEARED:
            sequence.clear()
        elif packet.integer(_PACKETS_DROPPED):
            sequence.is_valid = False
        if packet.integer(_FLAGS) & _NEEDS_STATE and not sequence.is_valid:
            self._builder.count_skipped("packet", "that refer to lost data")
            return
        if _INTERNED_DATA in packet:
            sequence.add_interned(Message(packet.content(_INTERNED_DATA)))
        if _DEFAULTS in packet:
            sequence.defaults = Message(packet.content(_DEFAULTS))
        if _CLOCKS in packet:
            self._set_clocks(Message(packet.content(_CLOCKS)), sequence)
        if _THREAD in packet:
            sequence.thread_time = Message(packet.content(_THREAD)).signed(6) * 1000
        if _EVENT in packet and self._has_slices:
            self._add_event(packet, Message(packet.content(_EVENT)), sequence, number)
        if _CHROME_SAMPLES in packet:
            self._add_samples(packet, Message(packet.content(_CHROME_SAMPLES)), sequence, number)
        if _PERF_SAMPLE in packet:
            self._add_perf_sample(packet, Message(packet.content(_PERF_SAMPLE)), sequence)

    def finish(self) -> None:
        """Add the samples and slices to the builder."""
        outer = [list(stack) for stack in self._find_outer_stack]
        began = min(self._samples[::3], default=0)
        for place in range(0, len(self._samples), 3):
            at, thread, stack = self._samples[place : place + 3]
            self._builder.add_sample(outer[stack], thread, [1], start=at - began)
        first = min((slices.first for slices in self._slices.values() if slices), default=0)
        for track, slices in self._slices.items():
            if slices:
                add_slices(
                    self._builder,
                    slices,
                    self._builder.add_thread(*self._first_pass.tracks.thread(track)),
                    outer,
                    first,
                )

    def _set_clocks(self, snapshot: Message, sequence: Sequence) -> None:
        clocks = {clock.integer(1): clock.integer(2) for clock in map(Message, snapshot.contents(1))}
        own = snapshot.integer(2) or _BOOT_CLOCK
        builtin = [number for number in clocks if number not in _SEQUENCE_CLOCKS]
        reference = own if own in clocks else next(iter(builtin), None)
        if reference is None:
            return
        sequence.set_clocks(snapshot, clocks[reference])
        self._everywhere.set_clocks(snapshot, clocks[reference])
        if self._builder.started_unix_ns is None and 0 < clocks.get(_REALTIME_CLOCK, 0) < 1 << 63:
            self._builder.started_unix_ns = clocks[_REALTIME_CLOCK]

    def _packet_time(self, packet: Message, sequence: Sequence) -> int:
        """The time of a packet by the trace's clock, in ns."""
        clock = packet.integer(_CLOCK) or sequence.defaults.integer(_CLOCK) or _BOOT_CLOCK
        of = sequence if clock in _SEQUENCE_CLOCKS else self._everywhere
        return _check_time(of.time(packet.integer(_TIME), clock))

    def _add_event(self, packet: Message, event: Message, sequence: Sequence, number: int) -> None:
        phase = _event_phase(event)
        at = self._event_time(packet, event, sequence)
        if phase not in ("B", "E", "X"):
            return
        default = Message(sequence.defaults.content(_EVENT)).integer(_TRACK)
        slices = self._slices[event.integer(_TRACK) or default or build_default_track(number)]
        if phase == "E":
            slices.end(at)
            return
        self._count += 1
        if self._count > MAX_SLICES:
            raise ValueError(f"it has more than {MAX_SLICES:,} slices")
        name = event.text(_NAME) or sequence.text(NAMES, event.integer(_NAME_NUMBER)) or "slice without a name"
        frame, outer = self._builder.add_frame(parse_frame(name)), self._find_stack(event, sequence)
        if phase == "B":
            slices.begin(at, frame, outer)
        else:
            end = at + Message(event.content(6)).signed(3) * 1000
            slices.add(at, _check_time(end), frame, outer)

    def _event_time(self, packet: Message, event: Message, sequence: Sequence) -> int:
        if 1 in event:
            return _check_time(sequence.thread_time_after(event.signed(1)))
        return _check_time(event.signed(16) * 1000) if 16 in event else self._packet_time(packet, sequence)

    def _find_stack(self, event: Message, sequence: Sequence) -> int:
        """The number of the stack of an event; -1 if it has none."""
        if _INLINE in event:
            frames = self._stacks.resolve_inline(Message(event.content(_INLINE)))
        elif _STACK in event:
            frames = self._stacks.resolve(sequence, event.integer(_STACK)) or []
            if not frames:
                self._builder.count_skipped("stack", "of slices, because it was lost")
        else:
            place = sequence.entry(SOURCES, event.integer(_SOURCE_NUMBER)) or Message(event.content(_SOURCE))
            located = build_imported_frame(place.text(3), place.text(2), place.integer(4))
            frames = [self._builder.add_frame(located)] if located.function else []
        return self._number_stack(frames) if frames else -1

    def _add_samples(self, packet: Message, samples: Message, sequence: Sequence, number: int) -> None:
        """Read Chrome's samples of a thread. Their times are deltas."""
        at = self._packet_time(packet, sequence) if _TIME in packet else sequence.thread_time
        deltas = [to_signed(delta) for delta in samples.integers(2)]
        track = Message(sequence.defaults.content(_EVENT)).integer(_TRACK) or build_default_track(number)
        for place, stack in enumerate(samples.integers(1)):
            at = _check_time(at + (deltas[place] * 1000 if place < len(deltas) else 0))
            self._add_stack_sample(sequence, stack, self._first_pass.tracks.thread(track), at)
        if _TIME not in packet:
            sequence.thread_time = at

    def _add_perf_sample(self, packet: Message, sample: Message, sequence: Sequence) -> None:
        tid = sample.integer(3)
        at = self._packet_time(packet, sequence)
        self._add_stack_sample(sequence, sample.integer(4), (tid, self._first_pass.tracks.names.get(tid, "")), at)

    def _add_stack_sample(self, sequence: Sequence, stack: int, thread: tuple[int, str], time: int) -> None:
        if self._has_slices:
            self._builder.count_skipped("sample", "next to slices: import samples instead with `--value samples`")
            return
        frames = self._stacks.resolve(sequence, stack)
        if not frames:
            self._builder.count_skipped("sample", "without a stack, or with a lost stack")
            return
        if len(self._samples) >= 3 * MAX_SLICES:
            raise ValueError(f"it has more than {MAX_SLICES:,} samples")
        self._samples.extend((time, self._builder.add_thread(*thread), self._number_stack(frames)))

    def _number_stack(self, frames: list[int]) -> int:
        """The number of a stack."""
        return self._find_outer_stack.setdefault(tuple(frames), len(self._find_outer_stack))


def _event_phase(event: Message) -> str:
    """The phase of an event, as in Chrome's trace events: `B` and `E` begin and end a slice, `X` is a whole one."""
    found = _TYPES.get(event.integer(9))
    if found is None and not event.integer(9) and 6 in event:
        phase = Message(event.content(6)).integer(2)
        found = chr(phase) if phase < 128 else ""
    return found or ""


def _check_time(time: int) -> int:
    if not -(1 << 61) < time < 1 << 61:
        raise ValueError("a packet has an impossible time")
    return time
