"""Decodes a capture folder into the shared vocabulary. The format is described in docs/capture-format.md."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from framedex.captures.contents import content_of, read_contents
from framedex.captures.metadata import read_metadata
from framedex.model import (
    BinaryState,
    Calls,
    Capture,
    CodeObject,
    Description,
    Function,
    MergeOutcome,
    Module,
    NativeFrame,
    PythonFrame,
    Stack,
    StopReason,
    Stops,
    Thread,
)
from framedex_native import _native


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """What a capture holds so far.

    `was_stopped`: recording was switched off before the process ended. `stops` say what it lacks.
    """

    threads: int
    calls: int
    was_stopped: bool
    stops: Stops


def read_capture(path: Path) -> Capture:
    """Decode the capture in folder `path`. Damaged or truncated streams give what they hold and a list of problems.

    Raises FramedexError when the folder is no capture, or one of a version that this framedex does not read.
    """
    metadata = read_metadata(path)
    decoded = _native.read_capture(os.fsencode(path))
    contents = read_contents(path)
    return Capture(
        path=path,
        metadata=metadata,
        modules=tuple(_module(contents, *entry) for entry in decoded["modules"]),
        codes=tuple(CodeObject(*entry) for entry in decoded["codes"]),
        frames=tuple(_frame(*entry) for entry in decoded["frames"]),
        stacks=tuple(Stack(frames, python, MergeOutcome(name), cut) for frames, python, name, cut in decoded["stacks"]),
        functions=tuple(Function(*entry) for entry in decoded["functions"]),
        threads=tuple(Thread(*entry) for entry in decoded["threads"]),
        calls=_calls(decoded["calls"], metadata.started_clock_ns or 0),
        problems=tuple(decoded["problems"]),
        descriptions=tuple(_descriptions(decoded["descriptions"])),
        stops=_stops(decoded["stops"]),
    )


def count_records(path: Path) -> RecordCounts:
    """Count the records of the capture in folder `path` without decoding them; what is damaged does not count."""
    counts = _native.count_records(os.fsencode(path))
    return RecordCounts(counts["threads"], counts["calls"], counts["stopped"], _stops(counts["stops"]))


def fingerprint_of(path: Path) -> str:
    """What the recorder writes as `Module.fingerprint` of a file; empty if it cannot be read."""
    return _native.fingerprint(os.fsencode(path))


def _stops(native: _native.Stops) -> Stops:
    bits = native["reasons"]
    return Stops(
        tuple(reason for reason in StopReason if bits & _native.STOP_REASONS[reason.name.lower()]),
        native["threads"],
        native["missing_calls"],
        bool(bits & _native.STOP_REASONS["thread_missing"]),
    )


def _module(
    contents: Mapping[str, str],
    path: str,
    base: int,
    size: int,
    build_id: bytes,
    fingerprint: str,
    file: tuple[int, int, int, int],
) -> Module:
    state = BinaryState(*file) if any(file) else None
    return Module(path, base, size, build_id.hex() or None, fingerprint, state, content_of(contents, path, state))


def _frame(is_python: bool, owner: int, offset: int, line: int, is_returning: bool) -> NativeFrame | PythonFrame:
    return PythonFrame(owner, offset, line, is_returning) if is_python else NativeFrame(owner, offset)


def _descriptions(entries: Iterable[tuple[str, str]]) -> Iterator[Description]:
    for kind, text in entries:
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict):
            yield Description(kind, content)


def _calls(columns: _native.Calls, started_clock_ns: int) -> Calls:
    return Calls(
        thread=columns["thread"],
        function=columns["function"],
        stack=columns["stack"],
        start=columns["start"] - started_clock_ns,
        duration=columns["duration"],
        error=columns["error"],
        arguments=tuple(columns["arguments"]),
    )
