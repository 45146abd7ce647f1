"""Read captures into the index: each is read as a stream, and each of its batches is committed at once.

A process that follows a growing capture stores a mark in place of the capture's signature. Other processes then leave
the capture alone while that process runs.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from framedex.base import words
from framedex.base.errors import FramedexError, SystemLimitError
from framedex.base.progress import AdvanceCallback, Progress
from framedex.captures import (
    CaptureState,
    CaptureStream,
    UnreadableCaptureError,
    compute_capture_identity,
    is_being_written,
    read_capture_state,
    read_metadata,
)
from framedex.imports.stream import ForeignStream
from framedex.index import Store
from framedex.index.file.conventions import FOLLOWED_PREFIX
from framedex.index.file.values import to_storable
from framedex.index.write.capture import CaptureTakenError, CaptureWriter
from framedex.index.write.records import CaptureRecord, FfiRecords, KnownCapture
from framedex.ingest.ffi import name_ffi
from framedex.ingest.naming import CaptureFrameNamer
from framedex.ingest.phases import name_phases
from framedex.ingest.recorded_binaries import RecordedBinaries
from framedex.ingest.recorded_files import RecordedSources, StoredPrograms, find_moves
from framedex.ingest.report import CaptureReport
from framedex.model import Capture
from framedex.model.metadata import SHARED_FORMAT
from framedex.programs.ffi import parse_ffi_joins
from framedex.shared.reading import SharedStream
from framedex.sources.releases import Build, FunctionOrigins, find_builds
from framedex.texts.captures import format_all_problems

BATCH_CALLS = 1 << 18
"""The number of calls committed together: some tenths of a second of work for an interrupted run."""

_GROUP_KIB = 1 << 16
"""The size in KiB of stored captures that are read again together: some seconds of work for an interrupted run."""


AnyStream = CaptureStream | ForeignStream | SharedStream


def read_states(captures: Sequence[Path]) -> tuple[list[CaptureState], dict[Path, FramedexError]]:
    """Return the current state of each capture, and the reasons why others are unreadable.

    Raises SystemLimitError, because such an error does not mean that a capture is unreadable.
    """
    states: dict[str, CaptureState] = {}
    refused: dict[Path, FramedexError] = {}
    for path in dict.fromkeys(Path(os.path.realpath(path)) for path in captures):
        try:
            state = read_capture_state(path)
        except SystemLimitError:
            raise
        except FramedexError as error:
            refused[path] = error
        else:
            states.setdefault(state.identity, state)
    return list(states.values()), refused


def update_moved_path(store: Store, state: CaptureState) -> bool:
    """Store the new path of a moved capture; return whether it has moved. A copy of an existing one does not count."""
    known = store.known_capture(state.identity)
    if known is None or _has_path(known, state.path) or _still_exists(known):
        return False
    store.move_capture(known.id, state.path)
    return True


def read_captures(
    store: Store,
    states: Sequence[CaptureState],
    refused: dict[Path, FramedexError],
    progress: Progress,
    binaries: RecordedBinaries,
    locate: Callable[[], None],
) -> list[CaptureReport]:
    """Add the captures that are new, have grown, or were interrupted; unreadable captures go to `refused`.

    `locate` finds the lines of frames before calls are counted by line.

    Raises SystemLimitError. Then a capture may be partly read, and the next run continues it.
    """
    namer = CaptureFrameNamer(binaries, store.read_project_moves())
    added: list[CaptureReport] = []
    pending = [state for state in states if needs_reading(store, state)]
    with progress.task("Reading captures", sum(_size_kib(state) for state in pending)) as advance:
        for group in _group_stored_captures(store, pending):
            try:
                added += _replace_captures(store, group, namer, advance, locate)
            except SystemLimitError:
                raise
            except FramedexError:
                continue  # each capture is read on its own below
        for state in pending:
            # Another process may have read it meanwhile.
            if needs_reading(store, state):
                try:
                    stream = open_stream(state.path)
                except SystemLimitError:
                    raise
                except FramedexError as error:
                    refused[state.path] = error
                    continue
                try:
                    added.append(_read_capture(store, state, stream, namer, advance, locate))
                except (CaptureTakenError, UnreadableCaptureError) as error:
                    refused[state.path] = error
    return added


def _group_stored_captures(store: Store, states: Iterable[CaptureState]) -> Iterator[list[CaptureState]]:
    """Yield groups of captures whose stored calls are stale, each of at most `_GROUP_KIB` of files."""
    group: list[CaptureState] = []
    size = 0
    for state in states:
        known = store.known_capture(state.identity)
        if known is not None and known.calls and known.unfinished_signature != state.signature:
            if group and size + _size_kib(state) > _GROUP_KIB:
                yield group
                group, size = [], 0
            group.append(state)
            size += _size_kib(state)
    yield group


def _replace_captures(
    store: Store,
    states: Sequence[CaptureState],
    namer: CaptureFrameNamer,
    advance: AdvanceCallback,
    locate: Callable[[], None],
) -> list[CaptureReport]:
    """Replace stored captures in one transaction: otherwise each of them would rebuild all totals.

    Raises FramedexError, and changes nothing, if one of them cannot be read.
    """
    with store.transaction():
        stale = [state for state in states if needs_reading(store, state)]
        if len(stale) < 2:
            return []
        known = (store.known_capture(state.identity) for state in stale)
        store.empty_captures([capture.id for capture in known if capture is not None])
        return [_read_capture(store, state, open_stream(state.path), namer, advance, locate) for state in stale]


def open_stream(path: Path) -> AnyStream:
    """Return the calls of a capture or of an imported file. Raises FramedexError if it cannot be read."""
    foreign = read_metadata(path).foreign
    if foreign is None:
        return CaptureStream(path)
    return SharedStream(path) if foreign.format == SHARED_FORMAT else ForeignStream(path)


def _read_capture(
    store: Store,
    state: CaptureState,
    stream: AnyStream,
    namer: CaptureFrameNamer,
    advance: AdvanceCallback,
    locate: Callable[[], None],
) -> CaptureReport:
    reading = CaptureReading(store, stream, namer, state.signature, locate)
    weight, reported = _size_kib(state), 0
    while not reading.is_done:
        calls = stream.row
        reading.add_batch()
        done = weight * stream.row // max(stream.calls, 1)
        advance(done - reported, calls=stream.row - calls)
        reported = done
    advance(weight - reported)
    return replace(reading.report(), still_written=_is_still_written(state, stream.capture))


class CaptureReading:
    """A capture being read into the index. Its frames are named on construction.

    `signature` is the capture's signature at the start of the reading. Later changes lead to another signature.
    """

    def __init__(
        self,
        store: Store,
        stream: AnyStream,
        namer: CaptureFrameNamer,
        signature: str = "",
        locate: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare to read a capture. `locate` finds the lines of frames before calls are counted by line."""
        self._store = store
        self._stream = stream
        self._locate = locate
        self._writer: CaptureWriter | None = None
        self.is_done = False
        if isinstance(stream, SharedStream):
            self.record: CaptureRecord = build_shared_record(stream, signature)
            self._naming_problems: tuple[str, ...] = ()
        else:
            self.record, self._naming_problems = build_capture_record(stream.capture, namer, signature)
        known = store.known_capture(self.record.identity)
        self._has_grown = known is not None and known.signature != ""

    def add_batch(self) -> None:
        """Add the next calls in one transaction; the last batch marks the capture as complete."""
        with self._store.transaction():
            if self._writer is None:
                self._writer = self._store.begin_capture(self.record, self._stream.calls)
                if self._writer is None:  # another process has read it meanwhile
                    self.is_done = True
                    return
                self._locate()
            left = self._writer.rows - self._stream.row
            batch = self._stream.next(min(BATCH_CALLS, left) if left > 0 else BATCH_CALLS)
            self._writer.add(batch)
            # An empty batch is the last one, even if the file was truncated meanwhile.
            if self._stream.row >= self._stream.calls or not len(batch):
                self._writer.finish(problems=self._problems(), callbacks=self._stream.callbacks())
                self.is_done = True

    def report(self) -> CaptureReport:
        """Return the report of this reading."""
        capture = self._stream.capture
        problems = format_all_problems(capture.stops, self._problems())
        return CaptureReport(capture.path, self._stream.row, len(capture.stacks), problems, self._has_grown)

    def _problems(self) -> tuple[str, ...]:
        missing = self._stream.calls - self._stream.row
        cut = (f"The capture was cut short by {words.count(missing, 'call')} while it was read.",) if missing else ()
        return (*self._stream.problems, *cut, *self._naming_problems)


def build_capture_record(
    capture: Capture, namer: CaptureFrameNamer, signature: str = ""
) -> tuple[CaptureRecord, tuple[str, ...]]:
    """Return a capture without its calls, and the naming problems as sentences."""
    moves = find_moves(capture)
    modules = tuple(replace(module, path=moves.current_path(module.path)) for module in capture.modules)
    capture = replace(capture, modules=modules) if moves else capture
    builds = find_present_builds(capture)
    origins = FunctionOrigins(builds)
    frames, problems = namer.name_frames(capture, origins)
    kept = StoredPrograms(capture)
    record = CaptureRecord(
        capture,
        _read_start_time(capture),
        capture.metadata.command,
        frames,
        (*capture.problems, *problems),
        identity=compute_capture_identity(capture.path, capture.metadata),
        signature=signature,
        ffi=name_ffi(capture, namer, origins),
        builds=builds,
        started_ns=capture.metadata.started_unix_ns,
        binaries=namer.binaries(capture),
        program=kept.program,
        memory=kept.memory,
        options=kept.options,
        note=kept.note,
        source=RecordedSources(capture, namer.former_folders).source,
        phases=name_phases(capture),
    )
    return record, tuple(problems)


def find_present_builds(capture: Capture) -> list[Build]:
    """Return the recorded components of a capture, with their current folders."""
    moves = find_moves(capture)
    return [replace(build, folder=moves.current_path(build.folder)) for build in find_builds(capture)]


def _size_kib(state: CaptureState) -> int:
    """Return the size of a capture's files in kilobytes, as its weight in a progress bar."""
    try:
        return sum(entry.stat().st_size for entry in os.scandir(state.path)) >> 10
    except OSError:
        return 0


def needs_reading(store: Store, state: CaptureState) -> bool:
    """Return whether a capture must be read: the index lacks this state, and no other process follows it.

    Of several copies of a capture, the indexed path counts.
    """
    known = store.known_capture(state.identity)
    return known is None or (
        _has_path(known, state.path)
        and known.signature != state.signature
        and not is_followed(known.unfinished_signature)
    )


def _has_path(known: KnownCapture, path: Path) -> bool:
    return str(known.path) == to_storable(str(path))


def _still_exists(known: KnownCapture) -> bool:
    try:
        return read_capture_state(known.path).identity == known.identity
    except SystemLimitError:
        raise
    except FramedexError:
        return False


def _is_still_written(state: CaptureState, capture: Capture) -> bool:
    """Return whether the capture is still being written, or has changed while it was read."""
    if is_being_written(state.path, capture.metadata):
        return True
    try:
        return read_capture_state(state.path) != state
    except FramedexError:
        return False


def _read_start_time(capture: Capture) -> float:
    """Return the start of a recording (Unix time); without metadata about it, the modification time of its folder."""
    if capture.metadata.started_unix_ns is not None:
        return capture.metadata.started_unix_ns / 1e9
    try:
        return capture.path.stat().st_mtime
    except OSError:
        return 0.0


_FOLLOWER_MARK = re.compile(rf"{FOLLOWED_PREFIX}(\d+), begun at (\d+), since (\d+)")
_START_TIME_FIELD = 19  # the index of the field in /proc/PID/stat, counted after the name; see proc(5)


def make_follower_mark() -> str:
    """Return a unique mark of this process and this call."""
    return (
        f"{FOLLOWED_PREFIX}{os.getpid()}, begun at {_read_process_start_ticks(os.getpid())}, since "
        f"{time.monotonic_ns()}"
    )


def is_followed(signature: str | None) -> bool:
    """Return whether the stored signature of a capture is the mark of a running process."""
    found = _FOLLOWER_MARK.fullmatch(signature or "")
    return found is not None and _read_process_start_ticks(int(found[1])) == int(found[2])


def _read_process_start_ticks(process: int) -> int:
    """Return the start time of a process, in the kernel's ticks; -1 if it is not running."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
        return int(stat.rpartition(")")[2].split()[_START_TIME_FIELD])
    except (OSError, ValueError, IndexError):
        return -1


def build_shared_record(stream: SharedStream, signature: str) -> CaptureRecord:
    """Return a shared capture without its calls."""
    capture = stream.capture
    metadata = capture.metadata
    return CaptureRecord(
        capture,
        (metadata.started_unix_ns or 0) / 1e9,
        shlex.join(metadata.argv),
        stream.frames,
        stream.problems,
        identity=compute_capture_identity(capture.path, metadata),
        signature=signature,
        ffi=FfiRecords(parse_ffi_joins(capture), stream.sites, stream.handler),
        builds=stream.definitions.builds,
        started_ns=metadata.started_unix_ns,
        program=stream.program,
        options=stream.options,
        note=stream.note,
        memory=stream.memory,
        phases=stream.phases,
    )
