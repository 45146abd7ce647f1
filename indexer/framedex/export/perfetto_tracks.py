"""The tracks of a Perfetto trace: a process for each capture, its threads, and the memory of its devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from framedex import words
from framedex.export.protobuf import integer, message, text

if TYPE_CHECKING:
    from framedex.export.content import Content
    from framedex.model import CaptureRow, DeviceMemory

_BYTES = 3  # CounterDescriptor.Unit.UNIT_SIZE_BYTES


class Tracks:
    """Assigns numbers to tracks."""

    def __init__(self, content: Content) -> None:
        self._content = content
        captures = [capture.id for capture in content.captures]
        self._processes = {capture: number for number, capture in enumerate(captures, 1)}
        self._threads = {thread: number for number, thread in enumerate(content.calls.threads, len(captures) + 1)}
        first = len(captures) + len(self._threads) + 1
        self._devices = {_key(device): number for number, device in enumerate(content.memory, first)}

    def of_thread(self, thread: int) -> int:
        """Return the track of a thread."""
        return self._threads[thread]

    def of_device(self, device: DeviceMemory) -> int:
        """Return the track of a device's memory in use."""
        return self._devices[_key(device)]

    def descriptors(self) -> Iterator[bytes]:
        """Yield all tracks, as `TrackDescriptor`."""
        pids = self._pids()
        for capture in self._content.captures:
            process = integer(1, pids[capture.id]) + text(6, _name(capture)) + text(2, capture.command)
            yield integer(1, self._processes[capture.id]) + message(3, process)
        seen: set[tuple[int, int]] = set()
        for thread in self._content.calls.threads.values():
            if thread.capture not in pids:
                continue
            told = integer(1, self._threads[thread.id]) + integer(5, self._processes[thread.capture])
            if (thread.capture, thread.tid) in seen:  # the system reused the id of a thread that had ended
                yield told + text(2, thread.label)
            else:
                seen.add((thread.capture, thread.tid))
                known = integer(1, pids[thread.capture]) + integer(2, thread.tid) + text(5, thread.label)
                yield told + message(4, known)
        for device in self._content.memory:
            told = integer(1, self.of_device(device)) + integer(5, self._processes[device.capture])
            yield told + text(2, f"memory in use, device {device.device}") + message(8, integer(3, _BYTES))

    def _pids(self) -> dict[int, int]:
        """Return the process id of each capture: the recorded one, unless several captures have the same."""
        told = {capture: self._content.metadata[capture].pid or 0 for capture in self._processes}
        times = Counter(told.values())
        return {capture: pid if times[pid] == 1 else (1 << 22) + capture for capture, pid in told.items()}


def _name(capture: CaptureRow) -> str:
    return f"{words.command_short(capture.command)} (capture {capture.id})"


def _key(device: DeviceMemory) -> tuple[int, str]:
    return device.capture, device.device
