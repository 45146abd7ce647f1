"""Convert recorded frames to logical frames: binaries name addresses, and code objects name Python frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from framedex.binaries import role_of
from framedex.ffi.model import Signature
from framedex.ffi.signature import signature_of
from framedex.index.file.values import storable
from framedex.index.write.records import FrameRecord, FunctionRecord, NamedBinary
from framedex.ingest.absent import why_absent
from framedex.ingest.paths import Paths
from framedex.ingest.python_frames import python_record
from framedex.ingest.recorded import RecordedBinaries
from framedex.ingest.stripped import why_unnamed
from framedex.ingest.told import ToldFrames
from framedex.model import (
    BinaryId,
    Capture,
    How,
    Language,
    Location,
    Module,
    NativeFrame,
    NativeSymbol,
    PythonFrame,
    ToldFrame,
)
from framedex.path_resolution.moves import Moves
from framedex.releases import Origins
from framedex.sources import processors, short_name

_OUTSIDE = "[outside every module]"


class Namer:
    """Names the frames of captures.

    `former` maps the project's former folders to its present one, because its binaries may have been built before the
    move.
    """

    def __init__(self, binaries: RecordedBinaries | None = None, former: Moves | None = None) -> None:
        self._binaries = binaries or RecordedBinaries()
        self.former = former or Moves()

    def name_frames(
        self, capture: Capture, origins: Origins | None = None
    ) -> tuple[list[tuple[FrameRecord, ...]], list[str]]:
        """Return the logical frames of each recorded frame, outermost first, and the naming problems as sentences.

        `origins` has the releases of the binaries.
        """
        origins = origins or Origins()
        found, problems = self._resolve(capture)
        paths = Paths.of(capture, self.former)
        foreign = capture.metadata.foreign
        told = ToldFrames(paths, foreign.folders if foreign is not None else ())
        records: list[tuple[FrameRecord, ...]] = []
        for frame in capture.frames:
            if isinstance(frame, PythonFrame):
                records.append((recorded_python(capture, frame, paths),))
            elif isinstance(frame, ToldFrame):
                records.append((told.record(frame),))
            else:
                records.append(_native_records(capture, frame, found.get(frame, _NOTHING), paths, origins))
        return records, [*problems, *told.problems]

    def binaries(self, capture: Capture) -> Sequence[NamedBinary]:
        """Return the binaries of the native frames of a capture."""
        modules = {frame.module for frame in capture.frames if isinstance(frame, NativeFrame) and frame.module >= 0}
        return [self._binaries.noted(capture.modules[module]) for module in sorted(modules)]

    def ffi_handler(
        self, capture: Capture, entry: NativeFrame, origins: Origins | None = None
    ) -> tuple[Signature | None, FrameRecord | None]:
        """Return the signature of the FFI handler entered at a frame, and its implementing function."""
        binary, _ = self._binaries.open(capture.modules[entry.module])
        found = binary.ffi_handler(entry.offset - 1) if binary is not None else None
        if binary is None or found is None:
            return None, None
        implementation = None
        if found.implementation is not None:
            at_entry = NativeFrame(entry.module, found.implementation + 1)
            named = _Found(binary.resolve([found.implementation])[0])
            paths = Paths.of(capture, self.former)
            implementation = _native_records(capture, at_entry, named, paths, origins or Origins())[0]
        return signature_of(found.type_arguments), implementation

    def _resolve(self, capture: Capture) -> tuple[dict[NativeFrame, _Found], list[str]]:
        by_module: dict[int, list[NativeFrame]] = {}
        for frame in capture.frames:
            if isinstance(frame, NativeFrame) and frame.module >= 0:
                by_module.setdefault(frame.module, []).append(frame)
        self._binaries.fetch_debug_files(capture.modules[module] for module in by_module)
        launch = capture.metadata.launch
        everything: dict[NativeFrame, _Found] = {}
        problems: list[str] = []
        # Most of the time goes into line tables, which are read without the GIL.
        with ThreadPoolExecutor(processors()) as pool:
            resolve = partial(self._resolve_module, packages=launch.packages if launch else {})
            resolved = pool.map(resolve, map(capture.modules.__getitem__, by_module), by_module.values())
            for found, trouble in resolved:
                everything.update(found)
                problems.extend(trouble)
        return everything, problems

    def _resolve_module(
        self, module: Module, frames: Sequence[NativeFrame], packages: Mapping[str, str]
    ) -> tuple[dict[NativeFrame, _Found], Sequence[str]]:
        """Return the names of the frames of one module (none if the binary is missing), and the problems."""
        binary, trouble = self._binaries.open(module)
        if binary is None:
            return {}, [why_absent(module.path, trouble, packages)]
        # A return address is one past the call, which may be the last instruction of its function.
        symbols = binary.resolve([frame.offset - 1 for frame in frames])
        found = {
            frame: _Found(named) if named else _Found(start=binary.function_start(frame.offset - 1))
            for frame, named in zip(frames, symbols, strict=True)
        }
        problems = [f"{module.path}: {problem}" for problem in binary.problems]
        if told := why_unnamed(binary, module.path, len(frames), symbols.count(())):
            problems.append(told)
        return found, [*trouble, *problems]


class _Found(NamedTuple):
    """The functions at a frame, innermost inlined one first; without any, the start of the enclosing function."""

    symbols: tuple[NativeSymbol, ...] = ()
    start: int | None = None


_NOTHING = _Found()


def recorded_python(capture: Capture, frame: PythonFrame, paths: Paths) -> FrameRecord:
    code = capture.codes[frame.code]
    first_line = max(code.first_line, 1)
    return python_record(
        paths, code.filename, code.qualname, first_line, frame.instruction, frame.line, frame.is_returning
    )


def _native_records(
    capture: Capture, frame: NativeFrame, found: _Found, paths: Paths, origins: Origins
) -> tuple[FrameRecord, ...]:
    if frame.module < 0:
        return (unnamed(BinaryId(_OUTSIDE, "", ""), frame.offset, None),)
    module = capture.modules[frame.module]
    binary = module.id._replace(path=storable(module.path))
    if not found.symbols:
        return (unnamed(binary, frame.offset, found.start),)
    records = []
    for depth, symbol in enumerate(reversed(found.symbols)):
        function = FunctionRecord(
            language=Language.NATIVE,
            role=role_of(module.path, symbol.name),
            name=storable(symbol.name),
            short_name=storable(short_name(symbol.name)),
            symbol=storable(symbol.symbol),
            mangled=storable(symbol.mangled),
            module=binary.path,
            unit=storable(symbol.unit or ""),
            first_line=0,
            location=None,
            origin=origins.of(module.path, symbol.symbol),
        )
        path = paths.compiled(symbol.path, module.path) if symbol.path and symbol.line > 0 else None
        location = None if path is None else Location(path, symbol.line, How.EXACT)
        records.append(FrameRecord(function, binary, frame.offset, depth, location))
    return tuple(records)


def unnamed(binary: BinaryId, offset: int, start: int | None) -> FrameRecord:
    """Return a frame without a name. If the start of its function is known, all frames of the function share it."""
    file = binary.path.rpartition("/")[2]
    name = f"{file}+{offset:#x}" if start is None else f"{file}+{start:#x} (unnamed function)"
    function = FunctionRecord(
        Language.NATIVE, role_of(binary.path, ""), name, name, "", "", binary.path, "", first_line=0, location=None
    )
    return FrameRecord(function, binary, offset, 0, None)
