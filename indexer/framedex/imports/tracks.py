"""The tracks and threads of a Perfetto trace, by what its packets tell of them anywhere in the file."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from framedex.imports.wire import Message

_PROCESSES, _THREAD, _TRACK = 2, 44, 60  # of a packet
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class _Track:
    """A track: the one that it is part of, 0 for none; its thread where it is one's, and its name."""

    parent: int
    tid: int
    name: str


@dataclass(slots=True)
class Tracks:
    """What is told of tracks and threads."""

    tracks: dict[Hashable, _Track] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # of threads, by their ids

    def learn(self, packet: Message, sequence: int) -> None:
        """Learn what a packet tells: the threads of a process, a track, or the thread of a sequence."""
        for thread in map(Message, Message(packet.content(_PROCESSES)).contents(2)):
            self._name(thread.integer(1), thread.text(2))
        if _TRACK in packet:
            track = Message(packet.content(_TRACK))
            thread = Message(track.content(4))
            name = track.text(2) or track.text(10) or track.text(13) or thread.text(5)
            self.tracks[track.integer(1)] = _Track(track.integer(5), thread.integer(2), name)
            self._name(thread.integer(2), thread.text(5))
        if _THREAD in packet:
            thread = Message(packet.content(_THREAD))
            self.tracks[of_sequence(sequence)] = _Track(0, thread.integer(2), thread.text(5))
            self._name(thread.integer(2), thread.text(5))

    def thread(self, track: Hashable) -> tuple[int, str]:
        """The id and the name of the thread that a track is of; what is no thread's has id 0."""
        found = self.tracks.get(track)
        tid, named, seen = 0, [], 0
        while found is not None and seen < _DEEPEST:
            seen += 1
            if found.name:
                named.append(found.name)
            if tid := found.tid:
                break
            found = self.tracks.get(found.parent)
        return tid, " ".join(reversed(named)) or self.names.get(tid, "")

    def _name(self, tid: int, name: str) -> None:
        if tid and name:
            self.names[tid] = name


def of_sequence(sequence: int) -> Hashable:
    """The track of what a sequence has on none."""
    return ("sequence", sequence)
