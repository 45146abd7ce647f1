"""Collects the tracks and threads of a Perfetto trace. The packets that describe them may be anywhere in the file."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from framedex.base.protobuf import Message

_PROCESSES, _THREAD, _TRACK = 2, 44, 60  # of a packet
_MAX_DEPTH = 100


@dataclass(frozen=True, slots=True)
class _Track:
    """A track: its parent, its thread and its name. 0 means no parent or no thread."""

    parent: int
    tid: int
    name: str


@dataclass(slots=True)
class Tracks:
    """The described tracks and thread names."""

    tracks: dict[Hashable, _Track] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # of threads, by id

    def add_descriptions(self, packet: Message, sequence: int) -> None:
        """Add the descriptions in a packet: threads of a process, a track, or the thread of a sequence."""
        for thread in map(Message, Message(packet.content(_PROCESSES)).contents(2)):
            self._set_name(thread.integer(1), thread.text(2))
        if _TRACK in packet:
            track = Message(packet.content(_TRACK))
            thread = Message(track.content(4))
            name = track.text(2) or track.text(10) or track.text(13) or thread.text(5)
            self.tracks[track.integer(1)] = _Track(track.integer(5), thread.integer(2), name)
            self._set_name(thread.integer(2), thread.text(5))
        if _THREAD in packet:
            thread = Message(packet.content(_THREAD))
            self.tracks[build_default_track(sequence)] = _Track(0, thread.integer(2), thread.text(5))
            self._set_name(thread.integer(2), thread.text(5))

    def thread(self, track: Hashable) -> tuple[int, str]:
        """The id and name of the thread of a track. The id is 0 for a track without a thread."""
        found = self.tracks.get(track)
        tid, named, seen = 0, [], 0
        while found is not None and seen < _MAX_DEPTH:
            seen += 1
            if found.name:
                named.append(found.name)
            if tid := found.tid:
                break
            found = self.tracks.get(found.parent)
        return tid, " ".join(reversed(named)) or self.names.get(tid, "")

    def _set_name(self, tid: int, name: str) -> None:
        if tid and name:
            self.names[tid] = name


def build_default_track(sequence: int) -> Hashable:
    """The number of the default track of a sequence, for its events without a track."""
    return ("sequence", sequence)
