"""Interned data of a Perfetto trace: each sequence of packets numbers its names, frames and stacks.

Numbers are valid until the sequence is cleared (Perfetto, trace_packet.proto and interned_data.proto).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from framedex.base.protobuf import Message
from framedex.imports.building import ProfileBuilder
from framedex.imports.modules import Modules
from framedex.imports.names import build_imported_frame

NAMES, SOURCES, STACKS = 2, 4, 7  # of InternedData
_FUNCTIONS, _FRAMES, _BUILD_IDS, _PATHS, _FILES, _MAPPINGS = 5, 6, 16, 17, 18, 19
_HEX = frozenset(b"0123456789abcdefABCDEF")
_MICROSECOND = 1000

Symbols = Mapping[tuple[str, int], list[tuple[str, str, int]]]
"""Functions with their files and lines, innermost first, by a build-id in hex and an address."""


@dataclass(slots=True)
class SequenceClock:
    """A clock of a sequence: its unit, its current time, and the trace clock's lead over it, all in ns."""

    unit: int
    is_incremental: bool
    time: int
    lead_ns: int


@dataclass(slots=True)
class Sequence:
    """The packets of one writer."""

    is_valid: bool = False
    interned: dict[int, dict[int, bytes]] = field(default_factory=lambda: defaultdict(dict))
    defaults: Message = field(default_factory=lambda: Message(b""))
    clocks: dict[int, SequenceClock] = field(default_factory=dict)
    thread_time: int = 0
    """The thread time that the deltas of events add to, in ns."""
    frames: dict[int, list[int]] = field(default_factory=dict)
    stacks: dict[int, list[int]] = field(default_factory=dict)
    """Caches of resolved frames and stacks, by their numbers in the sequence."""

    def clear(self) -> None:
        """Forget all interned data, since numbers have new meanings from here on."""
        self.is_valid = True
        self.interned.clear()
        self._clear_caches()
        self.defaults = Message(b"")

    def add_interned(self, message: Message) -> None:
        """Add the interned data of a packet."""
        for kind in (NAMES, SOURCES, STACKS, _FUNCTIONS, _FRAMES, _BUILD_IDS, _PATHS, _FILES, _MAPPINGS):
            known = self.interned[kind]
            for entry in message.contents(kind):
                if known.setdefault(number := Message(entry).integer(1), entry) != entry:
                    known[number] = entry
                    self._clear_caches()

    def entry(self, kind: int, number: int) -> Message | None:
        """The interned entry with a number; None if it was lost."""
        found = self.interned[kind].get(number)
        return None if found is None else Message(found)

    def text(self, kind: int, number: int) -> str:
        """An interned text; empty if it was lost."""
        entry = self.entry(kind, number)
        return "" if entry is None else entry.text(2)

    def _clear_caches(self) -> None:
        self.frames.clear()
        self.stacks.clear()

    def set_clocks(self, snapshot: Message, reference: int) -> None:
        """Set the clocks of a snapshot. `reference` is the time of the trace's own clock, in ns."""
        for clock in map(Message, snapshot.contents(1)):
            unit = clock.integer(4) or 1
            now = clock.integer(2) * unit
            self.clocks[clock.integer(1)] = SequenceClock(unit, bool(clock.integer(3)), now, reference - now)

    def time(self, timestamp: int, clock: int) -> int:
        """Convert a time to the trace's clock, in ns."""
        found = self.clocks.get(clock)
        if found is None:
            return timestamp
        at = timestamp * found.unit + (found.time if found.is_incremental else 0)
        if found.is_incremental:
            found.time = at
        return at + found.lead_ns

    def thread_time_after(self, microseconds: int) -> int:
        """Advance the thread time by a number of microseconds. Returns it in ns."""
        self.thread_time += microseconds * _MICROSECOND
        return self.thread_time


class Stacks:
    """Builds frames and stacks from interned data."""

    def __init__(self, builder: ProfileBuilder, symbols: Symbols) -> None:
        self._builder = builder
        self._modules = Modules(builder)
        self._symbols = symbols

    def resolve(self, sequence: Sequence, number: int) -> list[int] | None:
        """The frames of a stack, innermost first; None if a part of it was lost."""
        if number in sequence.stacks:
            return sequence.stacks[number]
        stack = sequence.entry(STACKS, number)
        if stack is None:
            return None
        frames: list[int] = []
        for each in reversed(stack.integers(2)):
            found = sequence.frames.get(each) or self._frames(sequence, each)
            if found is None:
                return None
            frames += sequence.frames.setdefault(each, found)
        return sequence.stacks.setdefault(number, frames)

    def resolve_inline(self, message: Message) -> list[int]:
        """The frames of a stack stored in an event, innermost first."""
        frames = [
            build_imported_frame(each.text(1), each.text(2), each.integer(3))
            for each in map(Message, message.contents(1))
        ]
        return [self._builder.add_frame(frame) for frame in reversed(frames)]

    def _frames(self, sequence: Sequence, number: int) -> list[int] | None:
        """The frame with a number and its inlined frames, innermost first; None if it was lost."""
        frame = sequence.entry(_FRAMES, number)
        if frame is None:
            return None
        mapping = sequence.entry(_MAPPINGS, frame.integer(3)) or Message(b"")
        path = "/".join(sequence.text(_PATHS, part).strip("/") for part in mapping.integers(7))
        path = f"/{path}" if sequence.text(_PATHS, next(iter(mapping.integers(7)), 0)).startswith("/") else path
        build_id = format_hexadecimal((sequence.entry(_BUILD_IDS, mapping.integer(2)) or mapping).content(2))
        name, address = sequence.text(_FUNCTIONS, frame.integer(2)), frame.integer(4)
        file, line = sequence.text(_FILES, frame.integer(5)), frame.integer(6)
        symbols = self._symbols.get((build_id, address)) if build_id else None
        module = "" if path == file else path  # without a binary, some recorders repeat the source path
        if symbols is not None:
            last = len(symbols) - 1
            frames = [
                build_imported_frame(*each, module=module, is_inlined=place < last)
                for place, each in enumerate(symbols)
            ]
            return [self._builder.add_frame(each) for each in frames]
        if name:
            return [self._builder.add_frame(build_imported_frame(name, file, line, module=module))]
        return [self._builder.add_frame(self._modules.frame_at(path, build_id, address))]


def format_hexadecimal(build_id: bytes) -> str:
    """Format a build-id in hex. Some recorders store the hex digits already."""
    is_text = len(build_id) >= 32 and len(build_id) % 2 == 0 and _HEX.issuperset(build_id)
    return build_id.decode().lower() if is_text else build_id.hex()
