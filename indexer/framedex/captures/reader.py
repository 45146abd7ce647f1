"""Decodes a capture folder into the shared vocabulary. The format is described in docs/capture-format.md."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framedex.captures.contents import content_of, read_contents
from framedex.captures.folders import METADATA_FILE
from framedex.errors import FramedexError
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
from framedex.regularfile import read_regular_text
from framedex_native import _native

FORMAT = "framedex-capture"


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
        calls=_calls(decoded["calls"], _started(metadata)),
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


def read_metadata(path: Path) -> dict[str, Any]:
    """What the capture in folder `path` says of the run. Raises FramedexError as `read_capture` does."""
    file = path / METADATA_FILE
    try:
        metadata = json.loads(read_regular_text(file))
    except FileNotFoundError:
        raise FramedexError(
            f"{path} is not a capture: it has no {METADATA_FILE}.",
            "Name a folder that `framedex run` made, for example one below .framedex/captures.",
        ) from None
    except OSError as error:
        raise FramedexError(
            f"{file} cannot be read: {error.strerror or error}.",
            "Check the permissions of the folder and of the files in it, then run `framedex index` again.",
        ) from None
    except (ValueError, RecursionError) as error:
        raise FramedexError(f"{file} cannot be read: {error}.", "Record the program again.") from None
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise FramedexError(f"{path} is not a framedex capture.", "Name a folder that `framedex run` made.")
    if metadata.get("version") not in _native.FORMAT_VERSIONS:
        readable = " and ".join(map(str, _native.FORMAT_VERSIONS))
        raise FramedexError(
            f"{path} has capture format {metadata.get('version')}; this framedex reads {readable}.",
            "Read it with the framedex that recorded it, or record the program again.",
        )
    return metadata


def _stops(native: Mapping[str, Any]) -> Stops:
    bits = native["reasons"]
    return Stops(
        tuple(reason for reason in StopReason if bits & _native.STOP_REASONS[reason.name.lower()]),
        native["threads"],
        native["missing_calls"],
        bool(bits & _native.STOP_REASONS["thread_missing"]),
    )


def _started(metadata: dict[str, Any]) -> int:
    """What CLOCK_MONOTONIC was when the recording began, in nanoseconds; 0 if the metadata do not say it."""
    started = metadata.get("started_clock_ns")
    return started if isinstance(started, int) and 0 <= started < 2**63 else 0


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


def _calls(columns: dict[str, Any], started: int) -> Calls:
    return Calls(
        thread=columns["thread"],
        function=columns["function"],
        stack=columns["stack"],
        start=columns["start"] - started,
        duration=columns["duration"],
        error=columns["error"],
        arguments=tuple(columns["arguments"]),
    )
