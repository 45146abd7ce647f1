"""A thread of a Firefox profile: its samples and markers, built as calls begin and end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from framedex.export.columns import Column

if TYPE_CHECKING:
    from framedex.model.exported import ThreadRow

_INTERVAL, _BEGINS = "1", "2"  # phases of markers


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

    def __init__(self, row: ThreadRow, began: int, shelf: IO[bytes]) -> None:
        self.row = row
        self._began = began
        self._open: list[OpenCall] = []
        self._told = 0  # end of the last sample, in ns since the capture began
        self._samples = {name: Column(shelf) for name in ("stack", "time", "weight")}
        self._markers = {name: Column(shelf) for name in ("name", "startTime", "endTime", "phase", "category", "data")}

    def begin(self, call: OpenCall) -> None:
        """Begin a call inside the running one."""
        self._pass(call.start)
        self._open.append(call)
        if not call.returns:
            self._mark(call, None)

    def end(self, time: int) -> None:
        """End the innermost call."""
        self._pass(time)
        self._mark(self._open.pop(), time)

    def _pass(self, time: int) -> None:
        """Add a sample for the innermost call up to a time."""
        if time > self._told:
            call = self._open[-1] if self._open else None
            self._samples["stack"].add(str(call.stack) if call is not None else "null")
            self._samples["time"].add(self._ms(self._told))
            self._samples["weight"].add(milliseconds(time - self._told) if call is not None and call.returns else "0")
            self._told = time

    def _mark(self, call: OpenCall, end: int | None) -> None:
        start = self._ms(call.start)
        self._markers["name"].add(str(call.name))
        self._markers["startTime"].add(start)
        self._markers["endTime"].add("null" if end is None else self._ms(end))
        self._markers["phase"].add(_BEGINS if end is None else _INTERVAL)
        self._markers["category"].add("0")
        self._markers["data"].add(f'{call.data}, "cause": {{"time": {start}, "stack": {call.stack}}}}}')

    def _ms(self, time: int) -> str:
        return milliseconds(self._began + time)

    def write(self, file: IO[bytes], command: str, pid: str) -> None:
        """Write the thread, with its process's command line and id."""
        self._pass(self._told + 1)  # end the last sample: no call runs after it
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
        _write(file, "samples", self._samples, {"weightType": "tracing-ms"})
        _write(file, "markers", self._markers, {})
        file.write(b"}")


def milliseconds(nanoseconds: int) -> str:
    """Return a time in milliseconds as JSON, exact to the nanosecond."""
    return f"{nanoseconds // 1_000_000}.{nanoseconds % 1_000_000:06}"


def _write(file: IO[bytes], name: str, columns: dict[str, Column], more: dict[str, str]) -> None:
    length = next(iter(columns.values())).length
    file.write(f', "{name}": {json.dumps({**more, "length": length}).removesuffix("}")}'.encode())
    for column, values in columns.items():
        file.write(f', "{column}": '.encode())
        values.write(file)
    file.write(b"}")
