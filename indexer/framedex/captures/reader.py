"""Decodes a capture folder into the shared vocabulary. The format is described in docs/reference/capture-format.md."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from framedex.captures.contents import content_of, read_contents
from framedex.captures.end import read_end, with_end
from framedex.captures.metadata import read_metadata
from framedex.captures.object_table import object_table
from framedex.captures.unreadable import refusing_unreadable
from framedex.model import (
    BinaryState,
    CallBatch,
    CallKind,
    Calls,
    Capture,
    CodeObject,
    Description,
    Function,
    KindTotals,
    MergeOutcome,
    Metadata,
    Module,
    NativeFrame,
    ObjectColumns,
    PythonFrame,
    Stack,
    StopReason,
    Stops,
    Thread,
)
from framedex.nativepart import _call_stream, _native
from framedex.systemlimits import raise_if_no_descriptor


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """What a capture holds so far.

    `was_stopped`: recording was switched off before the process ended. `stops` say what it lacks.
    """

    threads: int
    calls: int
    was_stopped: bool
    stops: Stops


_ALWAYS = (1 << 63) - 1


class CaptureStream:
    """A capture whose calls come a batch at a time, as it was at one moment: it may still be written.

    `capture` is all but the calls, of which there are `calls`. Damaged or truncated streams give what they hold, and a
    list of problems that is whole once all calls have come.
    """

    def __init__(self, path: Path, *, is_followed: bool = False) -> None:
        """Read what the calls of the capture in folder `path` refer to.

        With `is_followed`, what is written meanwhile can be asked for with `extend`.

        Raises FramedexError when the folder is no capture, or one of a version that this framedex does not read, and as
        `next` and `extend` do where the system fails to read a file: SystemLimitError or UnreadableCaptureError.
        """
        metadata = with_end(read_metadata(path), read_end(path))
        with refusing_unreadable():
            self._native = _call_stream.CallStream(
                os.fsencode(path),
                metadata.started_clock_ns or 0,
                object_table(),
                bool(metadata.selected_by),
                is_followed,
            )
        self.row = 0  # how many calls have come
        self.object_types = tuple(self._native.object_types)
        self._size = self._native.size_of_definitions
        self.capture = _definitions(path, metadata, self._native.definitions())

    @property
    def stops(self) -> Stops:
        """Why calls after the end are missing, as it was at the last look."""
        return _stops(self._native.stops)

    @property
    def calls(self) -> int:
        """How many calls there are."""
        return self._native.calls

    def extend(self) -> bool:
        """Find what was written since: `next` goes on there, and `capture` has what is new at the ends of its tuples.

        False where that cannot be (the calls are kept in a ring, or files are gone): the capture is to be read anew.
        """
        with refusing_unreadable():
            if not self._native.extend():
                return False
        if self._native.size_of_definitions != self._size:
            self._size = self._native.size_of_definitions
            self.capture = _definitions(self.capture.path, self.capture.metadata, self._native.definitions())
        return True

    def next(self, most: int, until_ns: int = _ALWAYS) -> CallBatch:
        """The next calls by start, `most` at most; none at the end, or behind `until_ns` of CLOCK_MONOTONIC.

        While a capture is written, a call may be written a little later than another that began after it: so its last
        moments are better left for the next time.
        """
        with refusing_unreadable():
            native = self._native.next(most, until_ns)
        self.row = native["first"] + len(native["kind"])
        return CallBatch(
            first=native["first"],
            kinds=tuple(CallKind(*kind) for kind in native["kinds"]),
            arguments=tuple(native["arguments"]),
            kind=native["kind"],
            inside=native["inside"],
            start=native["start"],
            duration=native["duration"],
            argument=native["argument"],
            totals=KindTotals(**native["totals"]),
            samples=native["samples"],
            spans=native["spans"],
            durations=native["durations"],
            changed=native["changed"],
            types=self.object_types,
            objects=ObjectColumns(**native["objects"]),
            numbers=native["numbers"],
            violations=native["violations"],
            chains=tuple(map(tuple, native["chains"])),
            links=native["links"],
        )

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read as far as the calls have come, in plain sentences."""
        damaged = self._native.damaged
        left_out = (f"{damaged} damaged records were left out.",) if damaged else ()
        return (*self._native.problems, *left_out)


def read_capture(path: Path) -> Capture:
    """Decode the capture in folder `path` with all its calls at once, which takes some 100 bytes of memory a call.

    Damaged or truncated streams give what they hold and a list of problems. Raises FramedexError when the folder is no
    capture, or one of a version that this framedex does not read.
    """
    stream = CaptureStream(path)
    batch = stream.next(stream.calls)
    thread, function, stack, error = (
        np.array([(kind.thread, kind.function, kind.stack, kind.error) for kind in batch.kinds], np.int64)
        .reshape(-1, 4)[batch.kind]
        .T
    )
    calls = Calls(
        thread=thread.astype(np.uint32),
        function=function.astype(np.uint32),
        stack=stack.astype(np.uint32),
        start=batch.start,
        duration=batch.duration,
        error=error.astype(np.int32),
        arguments=tuple(batch.arguments[place] for place in batch.argument.tolist()),
    )
    return replace(stream.capture, calls=calls, problems=stream.problems)


def recorded_modules(path: Path) -> Sequence[Module]:
    """The binaries in the capture in folder `path`; none where its files are not there. Raises as `CaptureStream`."""
    contents = read_contents(path)
    with refusing_unreadable():
        return [_module(contents, *entry) for entry in _native.read_modules(os.fsencode(path))]


def _definitions(path: Path, metadata: Metadata, decoded: _call_stream.Definitions) -> Capture:
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
        calls=Calls.none(),
        problems=tuple(decoded["problems"]),
        descriptions=tuple(_descriptions(decoded["descriptions"])),
        stops=_stops(decoded["stops"]),
    )


def count_records(path: Path) -> RecordCounts:
    """Count the records of the capture in folder `path` without decoding them; what is damaged does not count.

    Raises as `CaptureStream` does where the system fails to read a file.
    """
    with refusing_unreadable():
        counts = _native.count_records(os.fsencode(path))
    return RecordCounts(counts["threads"], counts["calls"], counts["stopped"], _stops(counts["stops"]))


def fingerprint_of(path: Path) -> str:
    """What the recorder writes as `Module.fingerprint` of a file; empty if it cannot be read.

    Raises SystemLimitError where this process has too many open files.
    """
    fingerprint = _native.fingerprint(os.fsencode(path))
    if not fingerprint:
        raise_if_no_descriptor()
    return fingerprint


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
