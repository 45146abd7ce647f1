"""Decode a capture folder into the shared data model. docs/reference/capture-format.md specifies the format."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from framedex.base.errors import raise_if_no_descriptor
from framedex.base.nativepart import _call_stream, _native
from framedex.captures.metadata import add_program_end, read_metadata, read_program_end
from framedex.captures.state import convert_read_errors
from framedex.captures.stored_files import find_digest, read_digests
from framedex.model import (
    BinaryState,
    CallBatch,
    CallKind,
    Calls,
    Capture,
    CodeObject,
    Function,
    KindTotals,
    MergeOutcome,
    Metadata,
    Module,
    NativeFrame,
    ObjectColumns,
    ObjectDescription,
    PythonFrame,
    StackColumns,
    StackList,
    StopReason,
    StopReasons,
    Thread,
)
from framedex.programs.objects.table import ObjectField, load_boundary_functions


@cache
def object_table() -> _call_stream.ObjectTable:
    """The functions of the PJRT C API with their object values."""
    table = _call_stream.ObjectTable()
    for name, function in load_boundary_functions().items():
        table.add_function(
            name,
            [_field_tuple(field) for field in function.inputs],
            [_field_tuple(field) for field in function.results],
            function.reads,
            [field.type for field in function.results if field.name in function.sizes],
            function.takes_callback,
            function.identifies or "",
            function.reports_deletion or "",
        )
    return table


def _field_tuple(field: ObjectField) -> tuple[str, str, str, bool]:
    return field.name, field.type, field.role.value, field.is_list


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """The number of records in a capture so far.

    `was_stopped`: recording was switched off before the process ended. `stops` has the reasons for missing records.
    """

    threads: int
    calls: int
    was_stopped: bool
    stops: StopReasons


_NO_TIME_LIMIT_NS = (1 << 63) - 1


class CaptureStream:
    """A snapshot of a capture, possibly still being written, whose calls are read in batches.

    `capture` has everything except the calls; `calls` is their number. Damaged or truncated streams give the intact
    records and a list of problems, which is complete after the last call.
    """

    def __init__(self, path: Path, *, is_followed: bool = False) -> None:
        """Read the definitions of the capture in folder `path`.

        With `is_followed`, `extend` can read later records.

        Raises FramedexError if the folder is not a capture or its version is unsupported. Raises SystemLimitError or
        UnreadableCaptureError, like `next` and `extend`, if the system fails to read a file.
        """
        metadata = read_metadata(path)
        with convert_read_errors():
            self._native = _call_stream.CallStream(
                os.fsencode(path),
                metadata.started_clock_ns or 0,
                object_table(),
                bool(metadata.selected_by),
                is_followed,
            )
        self.row = 0  # number of calls read
        self.object_types = tuple(self._native.object_types)
        self._size = self._native.size_of_definitions
        has_all_calls = not (metadata.selected_by or self._native.stops["reasons"])
        metadata = add_program_end(metadata, read_program_end(path), has_all_calls=has_all_calls)
        self.capture = self._build_capture(path, metadata)

    @property
    def stops(self) -> StopReasons:
        """The reasons for missing calls at the end, as of the last read."""
        return _build_stops(self._native.stops)

    @property
    def calls(self) -> int:
        """The number of calls."""
        return self._native.calls

    def extend(self) -> bool:
        """Find records written since: `next` continues there, and `capture` has new items at the ends of its tuples.

        False if that is impossible (a ring buffer, or missing files): the caller must reread the capture.
        """
        with convert_read_errors():
            if not self._native.extend():
                return False
        if self._native.size_of_definitions != self._size:
            self._size = self._native.size_of_definitions
            self.capture = self._build_capture(self.capture.path, self.capture.metadata)
        return True

    def next(self, max_calls: int, until_ns: int = _NO_TIME_LIMIT_NS) -> CallBatch:
        """The next calls by start time, at most `max_calls`; none at the end, or after `until_ns` of CLOCK_MONOTONIC.

        While a capture is being written, a call may be written shortly after another call that started later. So do not
        read the last moments yet: the next read gets them.
        """
        with convert_read_errors():
            native = self._native.next(max_calls, until_ns)
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

    def _build_capture(self, path: Path, metadata: Metadata) -> Capture:
        decoded = self._native.definitions()
        digests = read_digests(path)
        return Capture(
            path=path,
            metadata=metadata,
            modules=tuple(_build_module(digests, *entry) for entry in decoded["modules"]),
            codes=tuple(CodeObject(*entry) for entry in decoded["codes"]),
            frames=tuple(_build_frame(*entry) for entry in decoded["frames"]),
            stacks=StackList(self._native.stack_count, self._read_stacks),
            functions=tuple(Function(*entry) for entry in decoded["functions"]),
            threads=tuple(Thread(*entry) for entry in decoded["threads"]),
            calls=Calls.empty(),
            problems=tuple(decoded["problems"]),
            descriptions=tuple(_parse_descriptions(decoded["descriptions"])),
            stops=_build_stops(decoded["stops"]),
        )

    def _read_stacks(self, begin: int, end: int) -> StackColumns:
        native = self._native.stacks(begin, end)
        outcomes = [MergeOutcome(name) for name in native["outcomes"]]
        return StackColumns(native["frames"], native["sizes"], outcomes, native["is_truncated"])

    def callbacks(self) -> _call_stream.Integers:
        """Rows (call, time) of the calls read so far that registered callbacks for events, by call.

        The runtime invoked the callback at this time, in ns since the recording began. The largest integer means that
        the runtime has not invoked it yet. Calls whose callbacks were not recorded are missing.
        """
        with convert_read_errors():
            return self._native.callbacks()

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about damaged or missing records, up to the last call read."""
        damaged = self._native.damaged
        left_out = (f"{damaged} damaged records were left out.",) if damaged else ()
        return (*self._native.problems, *left_out)


def read_capture(path: Path) -> Capture:
    """Decode the whole capture in folder `path`, which takes about 100 bytes of memory per call.

    Damaged or truncated streams give the intact records and a list of problems. Raises FramedexError if the folder is
    not a capture or its version is unsupported.
    """
    import numpy as np  # `framedex run` counts records without it

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
        arguments=tuple(batch.arguments[index] for index in batch.argument.tolist()),
    )
    # A tuple, because a `StackList` keeps the whole stream in memory.
    return replace(stream.capture, stacks=tuple(stream.capture.stacks), calls=calls, problems=stream.problems)


def recorded_modules(path: Path) -> Sequence[Module]:
    """The binaries in the capture in folder `path`; empty if its files are missing. Raises like `CaptureStream`."""
    digests = read_digests(path)
    with convert_read_errors():
        return [_build_module(digests, *entry) for entry in _native.read_modules(os.fsencode(path))]


def count_records(path: Path) -> RecordCounts:
    """Count the intact records of the capture in folder `path` without decoding them.

    Raises like `CaptureStream` if the system fails to read a file.
    """
    with convert_read_errors():
        counts = _native.count_records(os.fsencode(path))
    return RecordCounts(counts["threads"], counts["calls"], counts["stopped"], _build_stops(counts["stops"]))


def compute_fingerprint(path: Path) -> str:
    """The `Module.fingerprint` that the recorder writes for a file; empty if the file is unreadable.

    Raises SystemLimitError if this process has too many open files.
    """
    fingerprint = _native.fingerprint(os.fsencode(path))
    if not fingerprint:
        raise_if_no_descriptor()
    return fingerprint


def _build_stops(native: _native.Stops) -> StopReasons:
    bits = native["reasons"]
    return StopReasons(
        tuple(reason for reason in StopReason if bits & _native.STOP_REASONS[reason.name.lower()]),
        native["threads"],
        native["missing_calls"],
        bool(bits & _native.STOP_REASONS["thread_missing"]),
        native["queries"],
    )


def _build_module(
    digests: Mapping[str, str],
    path: str,
    base: int,
    size: int,
    build_id: bytes,
    fingerprint: str,
    file: tuple[int, int, int, int],
) -> Module:
    state = BinaryState(*file) if any(file) else None
    return Module(path, base, size, build_id.hex() or None, fingerprint, state, find_digest(digests, path, state))


def _build_frame(is_python: bool, owner: int, offset: int, line: int, is_returning: bool) -> NativeFrame | PythonFrame:
    return PythonFrame(owner, offset, line, is_returning) if is_python else NativeFrame(owner, offset)


def _parse_descriptions(entries: Iterable[tuple[str, str]]) -> Iterator[ObjectDescription]:
    for kind, text in entries:
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(content, dict):
            yield ObjectDescription(kind, content)
