"""Find the names and lines of frames, once for all captures that contain a frame."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.errors import FramedexError
from framedex.base.progress import SilentProgress
from framedex.binaries import BinaryStore
from framedex.fleet.identities import compute_frame_ids
from framedex.index import Index, Store
from framedex.ingest.captures import build_capture_record, find_present_builds
from framedex.ingest.ffi import name_handler
from framedex.ingest.locations import locate_functions
from framedex.ingest.naming import CaptureFrameNamer
from framedex.ingest.recorded_binaries import RecordedBinaries
from framedex.ingest.release_maps import mark_stale_for_release_maps
from framedex.model import NativeFrame, Stack
from framedex.sharing.naming import IndexedNames
from framedex.sources.releases import FunctionOrigins

if TYPE_CHECKING:
    from framedex.index.write.records import FrameRecord, HandlerRecord
    from framedex.model import Capture
    from framedex.sources.releases import Build

Logical = tuple["FrameRecord", ...]


@dataclass(frozen=True, slots=True)
class _Definitions:
    capture: Capture


@dataclass(frozen=True, slots=True)
class CaptureNames:
    """The names of a capture: the logical frames of each recorded frame, outermost first, and its components.

    `problems` are sentences about unnamed frames. `handler` returns the FFI handler entered at a frame of the capture.
    """

    logical: Sequence[Logical]
    builds: Sequence[Build]
    problems: tuple[str, ...]
    handler: Callable[[int], HandlerRecord | None]

    def frames(self) -> Sequence[Logical]:
        """Return the logical frames."""
        return self.logical


class FrameNamer:
    """Names frames with temporary indexes without calls: a context manager.

    Each index is for frames of one capture, so names do not depend on earlier captures.
    """

    def __init__(self) -> None:
        """Create the temporary folder."""
        self._folder = tempfile.TemporaryDirectory(prefix="framedex-fleet-")
        self._path = Path(self._folder.name) / "names.db"
        self._binaries = RecordedBinaries(kept=BinaryStore())
        self._namer = CaptureFrameNamer(self._binaries)
        self._known: dict[str, Logical] = {}
        self._named_frames: dict[tuple[str, frozenset[str]], Logical] = {}

    def __enter__(self) -> FrameNamer:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def name_capture(self, capture: Capture) -> CaptureNames:
        """Return the names of a capture. Without debug information, the callees of a frame in it determine its line."""
        ids = compute_frame_ids(capture)
        new = [place for place, key in enumerate(ids) if key not in self._known]
        problems: tuple[str, ...] = ()
        if new:
            named, problems = self._name_frames(capture, new)
            self._known |= {ids[place]: logical for place, logical in zip(new, named, strict=True)}
        standing = self._callee_dependent_frames(capture, ids)
        logical = [standing.get(place, self._known[key]) for place, key in enumerate(ids)]
        builds = find_present_builds(capture)
        handler = partial(name_handler, capture, self._namer, FunctionOrigins(builds))
        return CaptureNames(logical, builds, problems, handler)

    def _callee_dependent_frames(self, capture: Capture, ids: Sequence[str]) -> Mapping[int, Logical]:
        """Return the logical frames of the frames whose line depends on their callees, by index in the capture."""
        calling = {}
        keys = {}
        for place, inward in _map_callees(capture).items():
            symbols = {each: self._known[ids[each]][0].function.symbol for each in inward}
            if self._known[ids[place]][0].stored_location is not None and any(symbols.values()):
                calling[place] = sorted(each for each, symbol in symbols.items() if symbol)
                keys[place] = ids[place], frozenset(filter(None, symbols.values()))
        if new := [place for place, key in keys.items() if key not in self._named_frames]:
            called = sorted({each for place in new for each in calling[place]} - {*new})
            pairs = [(inner, place) for place in new for inner in calling[place]]
            named, _ = self._name_frames(capture, [*new, *called], pairs)
            self._named_frames |= {keys[place]: logical for place, logical in zip(new, named, strict=False)}
        return {place: self._named_frames[key] for place, key in keys.items()}

    def _name_frames(
        self, capture: Capture, positions: Sequence[int], stacks: Sequence[tuple[int, int]] = ()
    ) -> tuple[Sequence[Logical], tuple[str, ...]]:
        """Return the logical frames of some frames of a capture, and sentences about unnamed frames.

        `positions` are the frames' indices in the capture. `stacks` has pairs of such indices: a callee and its caller.
        """
        number = {place: at for at, place in enumerate(positions)}
        only = replace(
            capture,
            frames=tuple(capture.frames[place] for place in positions),
            stacks=tuple(Stack((number[inner], number[outer])) for inner, outer in stacks),
            functions=(),
            descriptions=(),
        )
        try:
            with Store(self._path) as store:
                with store.transaction():
                    mark_stale_for_release_maps(store.sources)
                record, problems = build_capture_record(only, self._namer)
                writer = store.begin_capture(record, 0)
                assert writer is not None  # a capture without a signature is always rewritten
                writer.finish()
                with store.transaction():
                    locate_functions(store.sources, SilentProgress(), self._binaries)
                with Index.open(self._path) as index:
                    return IndexedNames(_Definitions(only), index.capture(writer.id)).frames(), problems
        except FramedexError as error:
            raise FramedexError(
                f"Frame names cannot be stored in {tempfile.gettempdir()}. {error.message}",
                "Set TMPDIR to a folder with more room.",
            ) from error
        finally:
            for file in self._path.parent.iterdir():
                file.unlink()


def _map_callees(capture: Capture) -> dict[int, set[int]]:
    """Return the direct native callees of each native frame, all by index in the capture."""
    calling: dict[int, set[int]] = {}
    for inner, outer in {pair for stack in capture.stacks for pair in pairwise(stack.frames)}:
        if isinstance(capture.frames[outer], NativeFrame) and isinstance(capture.frames[inner], NativeFrame):
            calling.setdefault(outer, set()).add(inner)
    return calling
