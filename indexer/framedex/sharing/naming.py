"""Reads the names and lines of a capture's frames from the index, without the binaries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from framedex.index.ask.capture.capture import CaptureContents, NamedFrame
from framedex.index.file.values import to_storable
from framedex.index.write.records import FrameRecord, FunctionRecord, HandlerRecord
from framedex.ingest.naming import ImportedFrameConverter, build_unnamed_frame, convert_python_frame
from framedex.ingest.recorded_files import RecordedPaths, find_moves
from framedex.model import BinaryId, Capture, ImportedFrame, NativeFrame, PythonFrame
from framedex.programs.ffi.model import Signature
from framedex.shared.reading import SharedStream
from framedex.sources.releases import BinaryOrigin


class CaptureDefinitions(Protocol):
    """An object with the definitions of a capture, such as a stream."""

    @property
    def capture(self) -> Capture:
        """The capture, without its calls."""
        ...


class IndexedNames:
    """The frames of a capture, as the index names them."""

    def __init__(self, stream: CaptureDefinitions, contents: CaptureContents) -> None:
        self._capture = stream.capture
        self._contents = contents
        self._shared = stream if isinstance(stream, SharedStream) else None
        self._moves = find_moves(self._capture)
        self._native = {} if self._shared else self._named_frames()

    def frames(self) -> Sequence[tuple[FrameRecord, ...]]:
        """The logical frames of each recorded frame, outermost first."""
        if self._shared:
            return self._shared.frames
        paths = RecordedPaths.from_capture(self._capture)
        foreign = self._capture.metadata.foreign
        converter = ImportedFrameConverter(paths, foreign.folders if foreign is not None else ())
        return [self._name_frame(frame, paths, converter) for frame in self._capture.frames]

    def handler(self, entry: int) -> HandlerRecord | None:
        """The FFI handler whose entry is a frame of the capture."""
        if self._shared:
            return self._shared.handler(entry)
        frame = self._capture.frames[entry]
        named = self._native.get(frame) if isinstance(frame, NativeFrame) else None
        known = self._contents.named_handler(named[0].id) if named else None
        if known is None:
            return None
        signature, implementation = known
        return HandlerRecord(
            entry,
            None if signature is None else Signature(*map(tuple, json.loads(signature).values())),
            None if implementation is None else _build_record(implementation, None, 0),
        )

    def _name_frame(
        self, frame: NativeFrame | PythonFrame | ImportedFrame, paths: RecordedPaths, converter: ImportedFrameConverter
    ) -> tuple[FrameRecord, ...]:
        if isinstance(frame, PythonFrame):
            return (convert_python_frame(self._capture, frame, paths),)
        if isinstance(frame, ImportedFrame):
            return (converter.convert(frame),)
        binary = self._binary(frame)
        named = self._native.get(frame)
        if named is None:
            return (build_unnamed_frame(binary, frame.offset, None),)
        return tuple(_build_record(each, binary, frame.offset) for each in named)

    def _binary(self, frame: NativeFrame) -> BinaryId:
        if frame.module < 0:
            return BinaryId("[outside every module]", "", "")
        module = self._capture.modules[frame.module]
        return module.id._replace(path=to_storable(self._moves.current_path(module.path)))

    def _named_frames(self) -> Mapping[NativeFrame, list[NamedFrame]]:
        by_module: dict[int, list[NativeFrame]] = {}
        for frame in self._capture.frames:
            if isinstance(frame, NativeFrame):
                by_module.setdefault(frame.module, []).append(frame)
        found: dict[NativeFrame, list[NamedFrame]] = {}
        for frames in by_module.values():
            by_offset = self._contents.named_frames(self._binary(frames[0]), [frame.offset for frame in frames])
            found |= {frame: by_offset[frame.offset] for frame in frames if frame.offset in by_offset}
        return found


def _build_record(named: NamedFrame, binary: BinaryId | None, offset: int) -> FrameRecord:
    function = FunctionRecord(
        *named[2:11],
        location=named.place,
        origin=BinaryOrigin(named.release, named.is_release_known),
    )
    record = FrameRecord(function, binary, offset, named.depth, named.recorded)
    if named.found is None:
        return record
    return replace(record, stored_location=named.found, candidates=named.candidates)
