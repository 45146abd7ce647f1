"""Captures that are followed while their programs run: what is new of them comes into the index, and nothing else.

What a capture's calls refer to, and which objects live, stays in memory from one look to the next.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.binaries import KeptBinaries
from framedex.captures import CaptureState, CaptureStream, capture_state, is_over
from framedex.errors import FramedexError
from framedex.index import Store
from framedex.index.write.capture import CaptureTakenError, CaptureWriter, NoRoomError
from framedex.ingest.captures import CALLS_AT_ONCE, is_due, record_of
from framedex.ingest.marks import mark_of_this_process
from framedex.ingest.naming import Namer
from framedex.ingest.recorded import RecordedBinaries
from framedex.whereabouts.rules import PathMap

if TYPE_CHECKING:  # few runs need it
    from framedex.binaries.debuginfod import Debuginfod

EVERY = 0.5
"""Seconds between two looks."""

_SETTLED_NS = 50_000_000
"""A call is written at most so long after it began, but for a thread that is stopped meanwhile."""

_ROOM = 1 << 24
"""Calls for which ids are kept free: another capture's may begin behind them."""


class Follower:
    """Follows captures into an index, until they are over."""

    def __init__(self, store: Store, place: Callable[[], object], debuginfod: Debuginfod | None = None) -> None:
        """`place` finds the source of functions that are new. `debuginfod` is asked for debug files."""
        self._store = store
        rules = PathMap(store.sources.path_rules())
        binaries = RecordedBinaries(rules, debuginfod=debuginfod, kept=KeptBinaries())
        self._namer = Namer(binaries, store.former_places())
        self._place = place
        self.calls = 0  # that were new
        self.refused: dict[Path, FramedexError] = {}
        self._followed: dict[Path, _Followed] = {}
        self._left: set[Path] = set()  # over, or another process's

    @property
    def paths(self) -> Sequence[Path]:
        """The captures that are being followed."""
        return list(self._followed)

    def look(self, captures: Sequence[Path]) -> int:
        """Bring the captures up to date that are new or being written; returns how many calls are new.

        Those that cannot be read any more go to `refused`, and nobody looks at them again.
        """
        calls = 0
        is_more_known = False
        for path in dict.fromkeys(Path(os.path.realpath(path)) for path in (*self._followed, *captures)):
            if path in self._left:
                continue
            try:
                is_ended = is_over(path)
                followed = self._followed.get(path) or self._begin(path)
                if followed is not None:
                    calls += followed.look(is_ended)
                    is_more_known |= followed.has_more_frames
            except CaptureTakenError:
                is_ended = True
            except FramedexError as error:
                if _can_be_read(path):  # it is the index that is in trouble
                    raise
                self.refused[path] = error
                is_ended = True
            if is_ended:
                self._followed.pop(path, None)
                self._left.add(path)
        if is_more_known:
            self._place()
        self.calls += calls
        return calls

    def _begin(self, path: Path) -> _Followed | None:
        """Follow a capture from now on; None where it is there as it is, or another process follows it."""
        if not is_due(self._store, capture_state(path)):
            return None
        self._followed[path] = _Followed(self._store, path, self._namer)
        return self._followed[path]


def _can_be_read(path: Path) -> bool:
    try:
        capture_state(path)
    except FramedexError:
        return False
    return True


class _Followed:
    """A capture that is being written."""

    def __init__(self, store: Store, path: Path, namer: Namer) -> None:
        self._store = store
        self._path = path
        self._namer = namer
        self.has_more_frames = False
        self._begin()

    def _begin(self) -> None:
        self._stream = CaptureStream(self._path, is_followed=True)
        self._record, self._naming_problems = record_of(self._stream.capture, self._namer, mark_of_this_process())
        self._writer: CaptureWriter | None = None
        self.has_more_frames = True

    def look(self, is_ended: bool) -> int:
        """Write what is new; all of it once the capture `is_ended`. Returns how many calls it was."""
        before = self._stream.row
        if self._writer is None:
            self._writer = self._store.begin_capture(self._record, max(_ROOM, 4 * self._stream.calls))
            assert self._writer is not None  # no capture that is read has this signature
        else:
            self.has_more_frames = False
            if not self._extend():
                self._begin()
                return self.look(is_ended)
        until = None if is_ended else time.monotonic_ns() - _SETTLED_NS
        try:
            while self._add_batch(self._writer, until):
                pass
        except NoRoomError:
            self._begin()
            return self.look(is_ended)
        if is_ended:
            self._finish(self._writer)
        return self._stream.row - before

    def _extend(self) -> bool:
        """Go on with what was written since; False where the capture is to be read anew."""
        known = self._stream.capture
        if not self._stream.extend():
            return False
        if self._stream.capture is known:
            return True
        self._record, self._naming_problems = record_of(self._stream.capture, self._namer, self._record.signature)
        self.has_more_frames = len(self._stream.capture.frames) > len(known.frames)
        assert self._writer is not None
        return self._writer.extend(self._record)

    def _add_batch(self, writer: CaptureWriter, until: int | None) -> bool:
        """Write the next calls; False if there are no more as yet."""
        if until is None:  # the last batch may have no calls, but what those before came to
            batch = self._stream.next(CALLS_AT_ONCE)
        else:
            batch = self._stream.next(CALLS_AT_ONCE, until)
            if not len(batch) and not len(batch.changed):
                return False
        with self._store.transaction():
            writer.add(batch)
        return len(batch) == CALLS_AT_ONCE

    def _finish(self, writer: CaptureWriter) -> None:
        state: CaptureState = capture_state(self._path)
        with self._store.transaction():
            writer.finish(
                problems=(*self._stream.problems, *self._naming_problems),
                stops=self._stream.stops,
                signature=state.signature,
                was_followed=True,
            )
