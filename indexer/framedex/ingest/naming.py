"""Convert recorded frames to logical frames: binaries name addresses, and code objects name Python frames.

Frames of other recorders already have names. The local files must confirm their lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from framedex.base import words
from framedex.binaries import classify_native_frame
from framedex.binaries.demangle import demangle
from framedex.binaries.names import readable_name
from framedex.binaries.roles import classify_python_frame
from framedex.index.file.values import to_storable
from framedex.index.write.records import FrameRecord, FunctionRecord, NamedBinary
from framedex.ingest.recorded_binaries import RecordedBinaries, describe_missing_binary, describe_unnamed_frames
from framedex.ingest.recorded_files import RecordedPaths
from framedex.model import (
    BinaryId,
    Capture,
    ImportedFrame,
    Language,
    Location,
    LocationEvidence,
    Module,
    NativeFrame,
    NativeSymbol,
    PythonFrame,
)
from framedex.path_resolution.moved_files import FolderMoves
from framedex.programs.ffi.model import Signature
from framedex.programs.ffi.signatures import parse_signature
from framedex.sources import count_processors, short_name
from framedex.sources.outline import OutlineMatch, Outlines
from framedex.sources.releases import FunctionOrigins


def build_python_record(
    paths: RecordedPaths,
    filename: str,
    qualname: str,
    first_line: int,
    instruction: int,
    line: int,
    returning: bool = False,
) -> FrameRecord:
    """Return a frame at `line` (0: unknown) of the Python code that begins at `first_line` of a file."""
    name, filename = to_storable(qualname), to_storable(filename)
    path = paths.resolve(filename)
    function = FunctionRecord(
        language=Language.PYTHON,
        role=classify_python_frame(filename, qualname),
        name=name,
        short_name=short_name(name),
        symbol=name,
        mangled="",
        module=filename if path is None or filename.startswith("<") else path,
        unit="",
        first_line=first_line,
        location=None if path is None else Location(path, first_line, LocationEvidence.EXACT),
    )
    location = None if path is None or line <= 0 else Location(path, line, LocationEvidence.EXACT)
    return FrameRecord(function, None, instruction, 0, location, returning, max(line, 0))


_OUTSIDE_MODULES = "[outside every module]"


class CaptureFrameNamer:
    """Names the frames of captures.

    `former` maps the project's former folders to its current folder, because its binaries may have been built before
    the move.
    """

    def __init__(self, binaries: RecordedBinaries | None = None, former: FolderMoves | None = None) -> None:
        self.recorded_binaries = binaries or RecordedBinaries()
        self.former_folders = former or FolderMoves()

    def name_frames(
        self, capture: Capture, origins: FunctionOrigins | None = None
    ) -> tuple[list[tuple[FrameRecord, ...]], list[str]]:
        """Return the logical frames of each recorded frame, outermost first, and the naming problems as sentences.

        `origins` has the releases of the binaries.
        """
        origins = origins or FunctionOrigins()
        found, problems = self._resolve(capture)
        paths = RecordedPaths.from_capture(capture, self.former_folders)
        foreign = capture.metadata.foreign
        imported = ImportedFrameConverter(paths, foreign.folders if foreign is not None else ())
        records: list[tuple[FrameRecord, ...]] = []
        for frame in capture.frames:
            if isinstance(frame, PythonFrame):
                records.append((convert_python_frame(capture, frame, paths),))
            elif isinstance(frame, ImportedFrame):
                records.append((imported.convert(frame),))
            else:
                records.append(_convert_native_frame(capture, frame, found.get(frame, _NOTHING_FOUND), paths, origins))
        return records, [*problems, *imported.problems]

    def binaries(self, capture: Capture) -> Sequence[NamedBinary]:
        """Return the binaries of the native frames of a capture."""
        modules = {frame.module for frame in capture.frames if isinstance(frame, NativeFrame) and frame.module >= 0}
        return [self.recorded_binaries.describe_binary(capture.modules[module]) for module in sorted(modules)]

    def ffi_handler(
        self, capture: Capture, entry: NativeFrame, origins: FunctionOrigins | None = None
    ) -> tuple[Signature | None, FrameRecord | None]:
        """Return the signature of the FFI handler entered at a frame, and its implementing function."""
        binary, _ = self.recorded_binaries.open(capture.modules[entry.module])
        found = binary.ffi_handler(entry.offset - 1) if binary is not None else None
        if binary is None or found is None:
            return None, None
        implementation = None
        if found.implementation is not None:
            at_entry = NativeFrame(entry.module, found.implementation + 1)
            named = _FoundFunctions(binary.resolve([found.implementation])[0])
            paths = RecordedPaths.from_capture(capture, self.former_folders)
            implementation = _convert_native_frame(capture, at_entry, named, paths, origins or FunctionOrigins())[0]
        return parse_signature(found.type_arguments), implementation

    def _resolve(self, capture: Capture) -> tuple[dict[NativeFrame, _FoundFunctions], list[str]]:
        by_module: dict[int, list[NativeFrame]] = {}
        for frame in capture.frames:
            if isinstance(frame, NativeFrame) and frame.module >= 0:
                by_module.setdefault(frame.module, []).append(frame)
        self.recorded_binaries.fetch_debug_files(capture.modules[module] for module in by_module)
        launch = capture.metadata.launch
        everything: dict[NativeFrame, _FoundFunctions] = {}
        problems: list[str] = []
        # Most of the time goes into line tables, which are read without the GIL.
        with ThreadPoolExecutor(count_processors()) as pool:
            resolve = partial(self._resolve_module, packages=launch.packages if launch else {})
            resolved = pool.map(resolve, map(capture.modules.__getitem__, by_module), by_module.values())
            for found, module_problems in resolved:
                everything.update(found)
                problems.extend(module_problems)
        return everything, problems

    def _resolve_module(
        self, module: Module, frames: Sequence[NativeFrame], packages: Mapping[str, str]
    ) -> tuple[dict[NativeFrame, _FoundFunctions], Sequence[str]]:
        """Return the names of the frames of one module (none if the binary is missing), and the problems."""
        binary, trouble = self.recorded_binaries.open(module)
        if binary is None:
            return {}, [describe_missing_binary(module.path, trouble, packages)]
        # A return address is one past the call, which may be the last instruction of its function.
        symbols = binary.resolve([frame.offset - 1 for frame in frames])
        found = {
            frame: _FoundFunctions(named) if named else _FoundFunctions(start=binary.function_start(frame.offset - 1))
            for frame, named in zip(frames, symbols, strict=True)
        }
        problems = [f"{module.path}: {problem}" for problem in binary.problems]
        if unnamed_problem := describe_unnamed_frames(binary, module.path, len(frames), symbols.count(())):
            problems.append(unnamed_problem)
        return found, [*trouble, *problems]


class _FoundFunctions(NamedTuple):
    """The functions at a frame, innermost inlined one first; if unknown, the start of the enclosing function."""

    symbols: tuple[NativeSymbol, ...] = ()
    start: int | None = None


_NOTHING_FOUND = _FoundFunctions()


def convert_python_frame(capture: Capture, frame: PythonFrame, paths: RecordedPaths) -> FrameRecord:
    """The record of a Python frame, with the line from its instruction."""
    code = capture.codes[frame.code]
    first_line = max(code.first_line, 1)
    return build_python_record(
        paths, code.filename, code.qualname, first_line, frame.instruction, frame.line, frame.is_returning
    )


def _convert_native_frame(
    capture: Capture, frame: NativeFrame, found: _FoundFunctions, paths: RecordedPaths, origins: FunctionOrigins
) -> tuple[FrameRecord, ...]:
    if frame.module < 0:
        return (build_unnamed_frame(BinaryId(_OUTSIDE_MODULES, "", ""), frame.offset, None),)
    module = capture.modules[frame.module]
    binary = module.id._replace(path=to_storable(module.path))
    if not found.symbols:
        return (build_unnamed_frame(binary, frame.offset, found.start),)
    records = []
    for depth, symbol in enumerate(reversed(found.symbols)):
        function = FunctionRecord(
            language=Language.NATIVE,
            role=classify_native_frame(module.path, symbol.name),
            name=to_storable(symbol.name),
            short_name=to_storable(short_name(symbol.name)),
            symbol=to_storable(symbol.symbol),
            mangled=to_storable(symbol.mangled),
            module=binary.path,
            unit=to_storable(symbol.unit or ""),
            first_line=0,
            location=None,
            origin=origins.origin_of(module.path, symbol.symbol),
        )
        path = paths.resolve_compiled(symbol.path, module.path) if symbol.path and symbol.line > 0 else None
        location = None if path is None else Location(path, symbol.line, LocationEvidence.EXACT)
        records.append(FrameRecord(function, binary, frame.offset, depth, location))
    return tuple(records)


def build_unnamed_frame(binary: BinaryId, offset: int, start: int | None) -> FrameRecord:
    """Return a frame without a name. If the start of its function is known, all frames of the function share it."""
    file = binary.path.rpartition("/")[2]
    name = f"{file}+{offset:#x}" if start is None else f"{file}+{start:#x} (unnamed function)"
    function = FunctionRecord(
        Language.NATIVE,
        classify_native_frame(binary.path, ""),
        name,
        name,
        "",
        "",
        binary.path,
        "",
        first_line=0,
        location=None,
    )
    return FrameRecord(function, binary, offset, 0, None)


_MAX_LINE_NUMBER = (1 << 31) - 1
_ANGLES = re.compile("([<>])")
# `pkg.(*T).f` is Go; names of slices look like `f(7)`, `xla::Run (f)` or `dot::(f32[2])`.
_NO_DECLARATION = re.compile(r"/|\.\(|\)\.|\(\d|\w\[\d| \((?!anonymous namespace\))|\A\[")
_BUILD_PATH = re.compile(r"[^<:?][^:]*")  # neither `<unknown>`, `??` nor `node:fs`


class ImportedFrameConverter:
    """Converts frames of other recorders to records. `problems` reports omitted lines, as sentences."""

    def __init__(self, paths: RecordedPaths, folders: Sequence[str] = ()) -> None:
        """Relative file names begin in one of `folders`: the one with a file that confirms the frame."""
        self._paths = paths
        self._folders = folders
        self._outlines = Outlines()
        self._contradicted: set[str] = set()

    def convert(self, frame: ImportedFrame) -> FrameRecord:
        """Return the frame, with its recorded line unless the local file contradicts it."""
        return self._convert_python(frame) if frame.language is Language.PYTHON else self._convert_native(frame)

    @property
    def problems(self) -> list[str]:
        """Return the problems found so far."""
        if not self._contradicted:
            return []
        named = words.format_first_names(sorted(self._contradicted), "file")
        return [f"Left out: lines that contradict the local files, which are other versions: {named}."]

    def _convert_python(self, frame: ImportedFrame) -> FrameRecord:
        """Return a Python frame.

        Recorders rarely have its qualified name and first line, so the local file provides them.
        """
        name, first_line, line = frame.function, frame.first_line, min(frame.line, _MAX_LINE_NUMBER)
        file = self._find_file(frame)
        path = self._paths.resolve(file)
        outline = self._outlines.outline_of(path) if path is not None else None
        if path is not None and outline is not None and (any_line := line or first_line):
            if outline.fit(name, any_line, Language.PYTHON) is OutlineMatch.CONTRADICTS:
                self._contradicted.add(path)
                line = 0
            elif found := outline.function_around(name, any_line):
                name, first_line = found
        return build_python_record(self._paths, file, name, first_line, 0, line)

    def _find_file(self, frame: ImportedFrame) -> str:
        """Return the file of a frame; for a relative name, the file that has the function at its line."""
        if not frame.file.endswith(".py") or frame.file.startswith("/"):
            return frame.file
        line = frame.line or frame.first_line
        for folder in self._folders:
            path = f"{folder}/{frame.file}"
            outline = self._outlines.outline_of(path)
            if outline is not None and outline.fit(frame.function, line, Language.PYTHON) is OutlineMatch.FITS:
                return path
        return frame.file

    def _convert_native(self, frame: ImportedFrame) -> FrameRecord:
        # A bare name may be anything, such as the op `copy.6`. Only names of code have parts that compilers add.
        is_code = bool(frame.file or frame.module) or frame.function.startswith("_Z") or "::" in frame.function
        symbol = to_storable(demangle(frame.function) if is_code else frame.function)
        name = readable_name(symbol) if is_code and _is_declaration(symbol) else symbol
        function = FunctionRecord(
            language=Language.NATIVE,
            role=classify_native_frame(frame.module, name),
            name=name,
            short_name=short_name(name),
            symbol=symbol,
            mangled=to_storable(frame.function),
            module=to_storable(frame.module or frame.file),
            unit="",
            first_line=0,
            location=None,
        )
        path, line = self._find_compiled_file(frame), min(frame.line, _MAX_LINE_NUMBER)
        location = None if path is None or not line else Location(path, line, LocationEvidence.EXACT)
        return FrameRecord(function, None, 0, int(frame.is_inlined), location)

    def _find_compiled_file(self, frame: ImportedFrame) -> str | None:
        """Return the file of a native frame. A relative name is resolved like one in a binary's debug information."""
        if frame.file.startswith("/") or not _BUILD_PATH.fullmatch(frame.file):
            return self._paths.resolve(frame.file)
        return self._paths.resolve_compiled(frame.file, frame.module)


def _is_declaration(symbol: str) -> bool:
    """Return whether a name is a C++ declaration with argument types, which can be omitted."""
    if "(" not in symbol:
        return False
    return _NO_DECLARATION.search(_remove_template_arguments(symbol)) is None


def _remove_template_arguments(symbol: str) -> str:
    """Return a name without its template arguments. Unbalanced angle brackets stay."""
    kept: list[str] = []
    opened: list[int] = []  # indices into `kept`
    for part in _ANGLES.split(symbol):
        if part == ">" and opened:
            del kept[opened.pop() :]
            continue
        if part == "<":
            opened.append(len(kept))
        kept.append(part)
    return "".join(kept)
