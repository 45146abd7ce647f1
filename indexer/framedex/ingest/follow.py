"""Follow captures while their programs run, adding only new records to the index.

The frames and live objects that later calls refer to stay in memory between two updates.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.errors import FramedexError
from framedex.binaries import BinaryStore
from framedex.captures import CaptureState, CaptureStream, is_complete, read_capture_state
from framedex.index import Store
from framedex.index.write.capture import CaptureTakenError, CaptureWriter, NoRoomError
from framedex.ingest.captures import BATCH_CALLS, build_capture_record, make_follower_mark, needs_reading
from framedex.ingest.naming import CaptureFrameNamer
from framedex.ingest.recorded_binaries import RecordedBinaries
from framedex.path_resolution.files import PathMap

if TYPE_CHECKING:  # rarely needed
    from framedex.binaries.debuginfod import Debuginfod

UPDATE_INTERVAL_S = 0.5
"""Seconds between two updates."""

_RECORD_DELAY_NS = 50_000_000
"""The maximum delay, in ns, between the start of a call and its record, unless its thread is stopped."""

_RESERVED_CALL_IDS = 1 << 24
"""The number of reserved call ids, because the ids of another capture may follow."""


class Follower:
    """Follows captures into an index until they end."""

    def __init__(
        self, store: Store, locate_functions: Callable[[], object], debuginfod: Debuginfod | None = None
    ) -> None:
        """`locate_functions` locates new functions in the source. `debuginfod` provides debug files."""
        self._store = store
        rules = PathMap(store.sources.path_rules())
        binaries = RecordedBinaries(rules, debuginfod=debuginfod, kept=BinaryStore())
        self._namer = CaptureFrameNamer(binaries, store.read_project_moves())
        self._locate_functions = locate_functions
        self.calls = 0  # the number of new calls
        self.refused: dict[Path, FramedexError] = {}
        self._followed: dict[Path, _FollowedCapture] = {}
        self._finished: set[Path] = set()  # captures that have ended, or that another process follows

    @property
    def paths(self) -> Sequence[Path]:
        """Return the captures that are being followed."""
        return list(self._followed)

    def update(self, captures: Sequence[Path]) -> int:
        """Update the captures that are new or being written; return the number of new calls.

        Captures that can no longer be read go to `refused` and are not read again.
        """
        calls = 0
        has_new_frames = False
        for path in dict.fromkeys(Path(os.path.realpath(path)) for path in (*self._followed, *captures)):
            if path in self._finished:
                continue
            try:
                is_ended = is_complete(path)
                followed = self._followed.get(path) or self._begin(path)
                if followed is not None:
                    calls += followed.update(is_ended)
                    has_new_frames |= followed.has_more_frames
            except CaptureTakenError:
                is_ended = True
            except FramedexError as error:
                if _is_readable(path):  # the error is about the index, not the capture
                    raise
                self.refused[path] = error
                is_ended = True
            if is_ended:
                self._followed.pop(path, None)
                self._finished.add(path)
        if has_new_frames:
            self._locate_functions()
        self.calls += calls
        return calls

    def _begin(self, path: Path) -> _FollowedCapture | None:
        """Start to follow a capture; return None if it is indexed in this state or another process follows it."""
        if not needs_reading(self._store, read_capture_state(path)):
            return None
        self._followed[path] = _FollowedCapture(self._store, path, self._namer)
        return self._followed[path]


def _is_readable(path: Path) -> bool:
    try:
        read_capture_state(path)
    except FramedexError:
        return False
    return True


class _FollowedCapture:
    """A capture that is being written."""

    def __init__(self, store: Store, path: Path, namer: CaptureFrameNamer) -> None:
        self._store = store
        self._path = path
        self._namer = namer
        self.has_more_frames = False
        self._begin()

    def _begin(self) -> None:
        self._stream = CaptureStream(self._path, is_followed=True)
        self._record, self._naming_problems = build_capture_record(
            self._stream.capture, self._namer, make_follower_mark()
        )
        self._writer: CaptureWriter | None = None
        self.has_more_frames = True

    def update(self, is_ended: bool) -> int:
        """Write the new records, or all records once the capture `is_ended`; return the number of new calls."""
        before = self._stream.row
        if self._writer is None:
            self._writer = self._store.begin_capture(self._record, max(_RESERVED_CALL_IDS, 4 * self._stream.calls))
            assert self._writer is not None  # no stored capture has this signature
        else:
            self.has_more_frames = False
            if not self._extend():
                self._begin()
                return self.update(is_ended)
        until_ns = None if is_ended else time.monotonic_ns() - _RECORD_DELAY_NS
        try:
            while self._add_batch(self._writer, until_ns):
                pass
        except NoRoomError:
            self._begin()
            return self.update(is_ended)
        if is_ended:
            self._finish(self._writer)
        return self._stream.row - before

    def _extend(self) -> bool:
        """Continue with the new records; return False if the capture has to be read again from the start."""
        known = self._stream.capture
        if not self._stream.extend():
            return False
        if self._stream.capture is known:
            return True
        self._record, self._naming_problems = build_capture_record(
            self._stream.capture, self._namer, self._record.signature
        )
        self.has_more_frames = len(self._stream.capture.frames) > len(known.frames)
        assert self._writer is not None
        return self._writer.extend(self._record)

    def _add_batch(self, writer: CaptureWriter, until_ns: int | None) -> bool:
        """Write the next calls; return False if there are no more calls yet."""
        if until_ns is None:  # the last batch may have only totals of earlier calls
            batch = self._stream.next(BATCH_CALLS)
        else:
            batch = self._stream.next(BATCH_CALLS, until_ns)
            if not len(batch) and not len(batch.changed):
                return False
        with self._store.transaction():
            writer.add(batch)
        return len(batch) == BATCH_CALLS

    def _finish(self, writer: CaptureWriter) -> None:
        state: CaptureState = read_capture_state(self._path)
        with self._store.transaction():
            writer.finish(
                problems=(*self._stream.problems, *self._naming_problems),
                stops=self._stream.stops,
                signature=state.signature,
                callbacks=self._stream.callbacks(),
                was_followed=True,
            )
