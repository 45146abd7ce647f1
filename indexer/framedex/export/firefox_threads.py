"""A thread of a Firefox profile: its samples and markers, in JSON columns that are built as calls begin and end."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from framedex.base.errors import FramedexError

if TYPE_CHECKING:
    from framedex.model.totals import ThreadRow


_MAX_CHARACTERS = 1 << 16  # maximum characters of a column in memory


def open_overflow_file() -> IO[bytes]:
    """Open a temporary file for the parts of columns that exceed the memory limit."""
    return tempfile.TemporaryFile(buffering=0)  # unbuffered, so that closing writes nothing and cannot fail


class JsonColumn:
    """A JSON array that grows value by value. Parts beyond the memory limit go to the overflow, which columns share.

    `length` is the number of values.
    """

    def __init__(self, overflow: IO[bytes]) -> None:
        self.length = 0
        self._overflow = overflow
        self._values: list[str] = []
        self._characters = 0
        self._parts: list[tuple[int, int]] = []

    def add(self, value: str) -> None:
        """Append a value, given as JSON."""
        self.length += 1
        self._values.append(value)
        self._characters += len(value) + 1
        if self._characters > _MAX_CHARACTERS:
            self._parts.append(_append_part(self._overflow, self._text() + b","))
            self._values.clear()
            self._characters = 0

    def write(self, file: IO[bytes]) -> None:
        """Write the array; no value may be added afterwards."""
        file.write(b"[")
        for part in self._read():
            file.write(part)
        file.write(b"]")

    def _read(self) -> Iterator[bytes]:
        """Yield the parts as JSON; the trailing comma is removed if no values follow in memory."""
        last = len(self._parts) - 1
        for number, (place, length) in enumerate(self._parts):
            self._overflow.seek(place)
            part = self._overflow.read(length)
            yield part if self._values or number < last else part[:-1]
        yield self._text()

    def _text(self) -> bytes:
        return ",".join(self._values).encode()


def _append_part(overflow: IO[bytes], part: bytes) -> tuple[int, int]:
    """Append a part to the overflow; return its offset and length. Raises FramedexError if the disk is full."""
    try:
        place = overflow.seek(0, os.SEEK_END)
        left = part
        while left:  # a full disk first takes a part of the write, then refuses the rest
            left = left[overflow.write(left) :]
    except OSError as error:
        raise FramedexError(
            f"Temporary files of the export in {tempfile.gettempdir()} could not be written: {error.strerror}.",
            "Set TMPDIR to a folder with more room.",
        ) from error
    return place, len(part)


_INTERVAL, _INTERVAL_START = "1", "2"  # phases of markers


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A running call: numbers of its stack and name, start in ns, and its marker data as an unclosed JSON object."""

    stack: int
    name: int
    start: int
    returns: bool
    data: str


class Thread:
    """A thread whose calls begin and end in time order.

    `began` is the start of its capture, in ns since the profile began. A call that had not returned has a marker
    without an
    end, and no time.
    """

    def __init__(self, row: ThreadRow, began: int, overflow: IO[bytes]) -> None:
        self.row = row
        self._began = began
        self._open: list[OpenCall] = []
        self._sampled_until = 0  # end of the last sample, in ns since the capture began
        self._samples = {name: JsonColumn(overflow) for name in ("stack", "time", "weight")}
        self._markers = {
            name: JsonColumn(overflow) for name in ("name", "startTime", "endTime", "phase", "category", "data")
        }

    def begin(self, call: OpenCall) -> None:
        """Begin a call inside the running one."""
        self._add_sample(call.start)
        self._open.append(call)
        if not call.returns:
            self._add_marker(call, None)

    def end(self, time: int) -> None:
        """End the innermost call."""
        self._add_sample(time)
        self._add_marker(self._open.pop(), time)

    def _add_sample(self, time: int) -> None:
        """Add a sample for the innermost call up to a time."""
        if time > self._sampled_until:
            call = self._open[-1] if self._open else None
            self._samples["stack"].add(str(call.stack) if call is not None else "null")
            self._samples["time"].add(self._ms(self._sampled_until))
            self._samples["weight"].add(
                to_milliseconds(time - self._sampled_until) if call is not None and call.returns else "0"
            )
            self._sampled_until = time

    def _add_marker(self, call: OpenCall, end: int | None) -> None:
        start = self._ms(call.start)
        self._markers["name"].add(str(call.name))
        self._markers["startTime"].add(start)
        self._markers["endTime"].add("null" if end is None else self._ms(end))
        self._markers["phase"].add(_INTERVAL_START if end is None else _INTERVAL)
        self._markers["category"].add("0")
        self._markers["data"].add(f'{call.data}, "cause": {{"time": {start}, "stack": {call.stack}}}}}')

    def _ms(self, time: int) -> str:
        return to_milliseconds(self._began + time)

    def write(self, file: IO[bytes], command: str, pid: str) -> None:
        """Write the thread, with its process's command line and id."""
        self._add_sample(self._sampled_until + 1)  # end the last sample: no call runs after it
        known = {
            "processType": "default",
            "processName": command,
            "processStartupTime": self._began / 1e6,
            "processShutdownTime": None,
            "registerTime": self._began / 1e6,
            "unregisterTime": None,
            "pausedRanges": [],
            "name": self.row.label,
            "isMainThread": self.row.label == "main",
            "showMarkersInTimeline": True,
            "pid": pid,
            "tid": self.row.tid,
        }
        file.write(json.dumps(known).removesuffix("}").encode())
        _write_columns(file, "samples", self._samples, {"weightType": "tracing-ms"})
        _write_columns(file, "markers", self._markers, {})
        file.write(b"}")


def to_milliseconds(nanoseconds: int) -> str:
    """Return a time in milliseconds as JSON, exact to the nanosecond."""
    return f"{nanoseconds // 1_000_000}.{nanoseconds % 1_000_000:06}"


def _write_columns(file: IO[bytes], name: str, columns: dict[str, JsonColumn], more: dict[str, str]) -> None:
    length = next(iter(columns.values())).length
    file.write(f', "{name}": {json.dumps({**more, "length": length}).removesuffix("}")}'.encode())
    for column, values in columns.items():
        file.write(f', "{column}": '.encode())
        values.write(file)
    file.write(b"}")
