"""Firefox Profiler format, version 60 (https://github.com/firefox-devtools/profiler, `docs-developer/`).

Each call appears twice. A marker has its line, arguments and stack. Samples have the time during which it was the
innermost call of its thread. Device memory in use appears as counters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from framedex.base.version import VERSION
from framedex.export.content import CallBegin, CallEnd, read_events
from framedex.export.firefox_threads import OpenCall, Thread, open_overflow_file, to_milliseconds
from framedex.export.samples import format_line
from framedex.texts.errors import name_error

if TYPE_CHECKING:
    from framedex.export.content import ExportContent, ExportedFrame
    from framedex.export.formats import Weight
    from framedex.model import DeviceMemory
    from framedex.model.totals import KindRow


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


def write(content: ExportContent, file: IO[bytes], weight: Weight) -> None:
    """Write the profile; its samples are weighted by time, and `weight` is ignored."""
    with open_overflow_file() as overflow:
        profile = _Profile(content, overflow)
        profile.read_calls()
        profile.write(file)


class _Profile:
    """The threads and their shared tables."""

    def __init__(self, content: ExportContent, overflow: IO[bytes]) -> None:
        self._content = content
        self._overflow = overflow
        self._tables = ProfileTables(content)
        self._began = min(content.start_unix_ns(capture.id) for capture in content.captures)
        self._threads: dict[int, Thread] = {}
        self._kinds: dict[int, tuple[int, int, str]] = {}

    def read_calls(self) -> None:
        """Copy all calls into the columns of their threads."""
        for event in read_events(self._content.calls):
            if isinstance(event, CallEnd):
                self._find_thread(event.thread).end(event.time)
            else:
                self._begin_call(event)

    def _begin_call(self, event: CallBegin) -> None:
        kind = event.kind
        if kind.id not in self._kinds:
            stack = self._tables.intern_stack(self._content.steps(kind))
            self._kinds[kind.id] = stack, self._tables.intern_text(kind.function), self._marker_data(kind)
        stack, name, fields = self._kinds[kind.id]
        data = f'{{"type": "call", "call": {event.call}, "arguments": {json.dumps(event.arguments)}{fields}'
        self._find_thread(kind.thread).begin(OpenCall(stack, name, event.time, kind.error != -1, data))

    def _marker_data(self, kind: KindRow) -> str:
        """Return the marker data shared by all calls of a kind, as JSON object members with a leading comma."""
        line = self._content.line(kind)
        fields = {
            "line": "" if line is None else f"{format_line(line)} {line.function}",
            "url": (line and line.location.url) or "",
            "error": name_error(kind.error) if kind.error > 0 else "",
        }
        return "".join(f", {json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items() if value)

    def _find_thread(self, thread: int) -> Thread:
        if thread not in self._threads:
            row = self._content.thread(thread)
            self._threads[thread] = Thread(row, self._content.start_unix_ns(row.capture) - self._began, self._overflow)
        return self._threads[thread]

    def write(self, file: IO[bytes]) -> None:
        """Write the profile."""
        file.write(f'{{"meta": {json.dumps(self._build_meta())},\n"threads": ['.encode())
        for number, thread in enumerate(self._threads.values()):
            capture = thread.row.capture
            file.write(b",\n" if number else b"\n")
            thread.write(file, self._commands[capture], self._pid(capture))
        counters = json.dumps(list(self._build_counters()))
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

    def _build_meta(self) -> dict[str, Any]:
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

    def _build_counters(self) -> Iterator[dict[str, Any]]:
        first = {thread.row.capture: number for number, thread in reversed(list(enumerate(self._threads.values())))}
        for device in self._content.memory:
            if device.capture in first:
                name = f"memory in use, device {device.device}"
                fields = {"name": name, "category": "Memory", "description": name, "pid": self._pid(device.capture)}
                yield {**fields, "mainThreadIndex": first[device.capture], "samples": self._memory_changes(device)}

    def _memory_changes(self, device: DeviceMemory) -> dict[str, Any]:
        """Return the change of memory in use at each time; negative if memory was freed."""
        began = self._content.start_unix_ns(device.capture) - self._began
        levels = [0, *(used for _, used in device.over_time)]
        return {
            "time": [float(to_milliseconds(began + time)) for time, _ in device.over_time],
            "count": [after - before for before, after in pairwise(levels)],
            "length": len(device.over_time),
        }


OTHER, PYTHON, NATIVE = range(3)
CATEGORIES = [
    {"name": name, "color": color, "subcategories": ["Other"]}
    for name, color in (("Other", "grey"), ("Python", "yellow"), ("Native", "blue"))
]
_LIBRARY = 1  # the resource type of a library


class ProfileTables:
    """Assigns numbers to stacks and texts."""

    def __init__(self, content: ExportContent) -> None:
        self._content = content
        self._stacks: dict[tuple[int | None, int], int] = {}  # by number of the calling stack, and frame number
        self._frames: dict[int, int] = {}  # by step number
        self._functions: dict[tuple[str, str, int, str, bool], int] = {}
        self._sources: dict[str, int] = {}
        self._libraries: dict[str, int] = {}
        self._texts: dict[str, int] = {}

    def intern_stack(self, steps: tuple[int, ...]) -> int:
        """Return the number of a stack, given by its steps, outermost first."""
        found: int | None = None
        for step in steps:
            frame = self._frames.setdefault(step, len(self._frames))
            found = self._stacks.setdefault((found, frame), len(self._stacks))
        assert found is not None  # a stack has at least the boundary function
        return found

    def intern_text(self, text: str) -> int:
        """Return the number of a text."""
        return self._texts.setdefault(text, len(self._texts))

    def write(self, file: IO[bytes]) -> None:
        """Write `"libs"` and `"shared"`, members of the profile."""
        steps = [self._content.step(number) for number in self._frames]
        shared = {
            "stackTable": _build_table(
                prefix=[caller for caller, _ in self._stacks], frame=[frame_number for _, frame_number in self._stacks]
            ),
            "frameTable": self._frame_table(steps),
            "funcTable": self._function_table(),
            "resourceTable": self._resource_table(),
            "nativeSymbols": _build_table(libIndex=[], address=[], name=[], functionSize=[]),
            "sources": _build_table(
                uuid=[None] * len(self._sources), filename=[self.intern_text(path) for path in self._sources]
            ),
            "stringArray": list(self._texts),
        }
        libraries = [_describe_library(path) for path in self._libraries]
        file.write(f'"libs": {json.dumps(libraries)},\n"shared": {json.dumps(shared)}'.encode())

    def _frame_table(self, steps: list[ExportedFrame]) -> dict[str, Any]:
        empty = [None] * len(steps)
        return _build_table(
            address=[-1] * len(steps),  # an address has meaning only with the address of its symbol
            inlineDepth=[0] * len(steps),
            category=[PYTHON if step.is_python else NATIVE if step.module else OTHER for step in steps],
            subcategory=[0] * len(steps),
            func=[self._number_function(step) for step in steps],
            nativeSymbol=empty,
            innerWindowID=empty,
            line=[step.line or None for step in steps],
            column=empty,
        )

    def _number_function(self, step: ExportedFrame) -> int:
        path = step.path or step.defined_in
        key = step.name, step.url or path, step.first_line, step.module, step.is_python
        return self._functions.setdefault(key, len(self._functions))

    def _function_table(self) -> dict[str, Any]:
        empty = [None] * len(self._functions)
        return _build_table(
            name=[self.intern_text(name) for name, *_ in self._functions],
            isJS=[False] * len(empty),
            relevantForJS=[False] * len(empty),
            resource=[
                self._libraries.setdefault(module, len(self._libraries)) if module else -1
                for *_, module, _ in self._functions
            ],
            source=[
                self._sources.setdefault(path, len(self._sources)) if path else None for _, path, *_ in self._functions
            ],
            lineNumber=[first or None for _, _, first, *_ in self._functions],
            columnNumber=empty,
        )

    def _resource_table(self) -> dict[str, Any]:
        return _build_table(
            lib=list(range(len(self._libraries))),
            name=[self.intern_text(PurePosixPath(path).name) for path in self._libraries],
            host=[None] * len(self._libraries),
            type=[_LIBRARY] * len(self._libraries),
        )


def _describe_library(path: str) -> dict[str, Any]:
    name = PurePosixPath(path).name
    known = {"name": name, "path": path, "debugName": name, "debugPath": path}
    return {"arch": "x86_64", **known, "breakpadId": "", "codeId": None}


def _build_table(**columns: list[Any]) -> dict[str, Any]:
    return {**columns, "length": len(next(iter(columns.values())))}
