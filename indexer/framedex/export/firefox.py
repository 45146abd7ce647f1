"""Firefox Profiler format, version 60 (https://github.com/firefox-devtools/profiler, `docs-developer/`).

The calls of a thread appear twice. Markers have the line, arguments and stack of each call. Samples have the time in
which a call was the innermost one. Device memory in use appears as counters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any

from framedex.errorcodes import error_name
from framedex.export.columns import shelf
from framedex.export.firefox_tables import CATEGORIES, Tables
from framedex.export.firefox_threads import OpenCall, Thread, milliseconds
from framedex.export.labels import line_text
from framedex.export.spans import Begin, End, spans
from framedex.version import VERSION

if TYPE_CHECKING:
    from framedex.export.content import Content
    from framedex.export.weights import Weight
    from framedex.model import DeviceMemory
    from framedex.model.exported import KindRow

_VERSION = 60
_FIELDS = {"line": "Line", "url": "Address of the line", "arguments": "Arguments", "error": "Error", "call": "Call"}
_SCHEMA = {
    "name": "call",
    "display": ["marker-chart", "marker-table", "timeline-overview"],
    "chartLabel": "{marker.name}",
    "tooltipLabel": "{marker.name}",
    "tableLabel": "{marker.data.line} {marker.data.arguments}",
    "fields": [
        {"key": key, "label": label, "format": "integer" if key == "call" else "string"}
        for key, label in _FIELDS.items()
    ],
}


def write(content: Content, file: IO[bytes], weight: Weight) -> None:
    """Write the profile; its samples are weighted by time, and `weight` is ignored."""
    with shelf() as shelved:
        profile = _Profile(content, shelved)
        profile.read_calls()
        profile.write(file)


class _Profile:
    """The threads and their shared tables."""

    def __init__(self, content: Content, shelved: IO[bytes]) -> None:
        self._content = content
        self._shelved = shelved
        self._tables = Tables(content)
        self._began = min(content.began(capture.id) for capture in content.captures)
        self._threads: dict[int, Thread] = {}
        self._kinds: dict[int, tuple[int, int, str]] = {}

    def read_calls(self) -> None:
        """Copy all calls into the columns of their threads."""
        for event in spans(self._content.calls):
            if isinstance(event, End):
                self._thread(event.thread).end(event.time)
            else:
                self._begin(event)

    def _begin(self, event: Begin) -> None:
        kind = event.kind
        if kind.id not in self._kinds:
            stack = self._tables.stack(self._content.steps(kind))
            self._kinds[kind.id] = stack, self._tables.text(kind.function), self._told(kind)
        stack, name, told = self._kinds[kind.id]
        data = f'{{"type": "call", "call": {event.call}, "arguments": {json.dumps(event.arguments)}{told}'
        self._thread(kind.thread).begin(OpenCall(stack, name, event.time, kind.error != -1, data))

    def _told(self, kind: KindRow) -> str:
        """Return the marker data shared by all calls of a kind, as JSON object members with a leading comma."""
        line = self._content.line(kind)
        told = {
            "line": "" if line is None else f"{line_text(line)} {line.function}",
            "url": (line and line.location.url) or "",
            "error": error_name(kind.error) if kind.error > 0 else "",
        }
        return "".join(f", {json.dumps(key)}: {json.dumps(value)}" for key, value in told.items() if value)

    def _thread(self, thread: int) -> Thread:
        if thread not in self._threads:
            row = self._content.thread(thread)
            self._threads[thread] = Thread(row, self._content.began(row.capture) - self._began, self._shelved)
        return self._threads[thread]

    def write(self, file: IO[bytes]) -> None:
        """Write the profile."""
        file.write(f'{{"meta": {json.dumps(self._meta())},\n"threads": ['.encode())
        for number, thread in enumerate(self._threads.values()):
            capture = thread.row.capture
            file.write(b",\n" if number else b"\n")
            thread.write(file, self._commands[capture], self._pid(capture))
        counters = json.dumps(list(self._counters()))
        file.write(f'],\n"counters": {counters},\n'.encode())
        self._tables.write(file)
        file.write(b"}\n")

    @cached_property
    def _commands(self) -> dict[int, str]:
        return {capture.id: capture.command for capture in self._content.captures}

    def _pid(self, capture: int) -> str:
        """Return an id that distinguishes the process of a capture from others."""
        pid = self._content.metadata[capture].pid or 0
        return f"{pid}.{capture}" if len(self._commands) > 1 else str(pid)

    def _meta(self) -> dict[str, Any]:
        return {
            "interval": 0.001,  # ms: the resolution of times
            "startTime": self._began / 1e6,
            "processType": 0,
            "product": ", ".join(self._commands.values()),
            "importedFrom": f"framedex {VERSION}",
            "stackwalk": 1,
            "version": 30,
            "preprocessedProfileVersion": _VERSION,
            "symbolicated": True,
            "symbolicationNotSupported": True,
            "usesOnlyOneStackType": True,
            "sourceCodeIsNotOnSearchfox": True,
            "categories": CATEGORIES,
            "markerSchema": [_SCHEMA],
        }

    def _counters(self) -> Iterator[dict[str, Any]]:
        first = {thread.row.capture: number for number, thread in reversed(list(enumerate(self._threads.values())))}
        for device in self._content.memory:
            if device.capture in first:
                name = f"memory in use, device {device.device}"
                told = {"name": name, "category": "Memory", "description": name, "pid": self._pid(device.capture)}
                yield {**told, "mainThreadIndex": first[device.capture], "samples": self._in_use(device)}

    def _in_use(self, device: DeviceMemory) -> dict[str, Any]:
        """Return the change of memory in use at each time; negative if memory was freed."""
        began = self._content.began(device.capture) - self._began
        levels = [0, *(used for _, used in device.over_time)]
        return {
            "time": [float(milliseconds(began + time)) for time, _ in device.over_time],
            "count": [after - before for before, after in pairwise(levels)],
            "length": len(device.over_time),
        }
