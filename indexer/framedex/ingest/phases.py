"""Read the phases of a capture, which native/framedex_native/ffi/phases.py describes, and name their frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from framedex.index.write.records import FrameRecord, PhaseRecord
from framedex.ingest.naming import build_python_record
from framedex.ingest.recorded_files import RecordedPaths
from framedex.model import Capture, PhaseKind

_UNKNOWN_INSTRUCTION = 0
_MOST_NS = 1 << 62
_MOST_NUMBER = 1 << 31


def name_phases(capture: Capture) -> tuple[PhaseRecord, ...]:
    """Return the phases of the capture's own process. A forked child also has the phases of its parent."""
    if capture.metadata.started_clock_ns is None:
        return ()
    return tuple(_read_phases(capture, capture.metadata.started_clock_ns))


def _read_phases(capture: Capture, began: int) -> Iterator[PhaseRecord]:
    paths = RecordedPaths.from_capture(capture)
    for description in capture.descriptions:
        content = description.content
        if capture.metadata.pid is not None and content.get("pid") != capture.metadata.pid:
            continue
        match description.kind, content:
            case "process", {"pid": int(thread), "started_ns": int(started), "followed_ns": int(followed)}:
                if 0 < started <= followed < _MOST_NS and 0 <= thread < _MOST_NUMBER:
                    name = "early" if content.get("is_early") is True else ""
                    yield PhaseRecord(PhaseKind.PROCESS, name, thread, started - began, followed - started, ())
            case "phase", {
                "thread": int(thread),
                "name": str(name),
                "start_ns": int(start),
                "duration_ns": int(lasted),
            }:
                if 0 < start < _MOST_NS and 0 <= lasted < _MOST_NS and 0 <= thread < _MOST_NUMBER:
                    is_last = content.get("is_last") is True
                    with suppress(ValueError):  # a kind of a later version
                        kind = PhaseKind(content.get("kind"))
                        frames = tuple(_name_frames(paths, content.get("frames")))
                        yield PhaseRecord(kind, name, thread, start - began, lasted, frames, is_last)


def _name_frames(paths: RecordedPaths, frames: object) -> Iterator[FrameRecord]:
    """Yield the frames of a stack, outermost first."""
    for frame in reversed(frames) if isinstance(frames, list) else ():
        match frame:
            case [str(file), int(line), str(function), int(first)] if 0 < line < _MOST_NUMBER > first >= 0:
                yield build_python_record(paths, file, function, first, _UNKNOWN_INSTRUCTION, line)
