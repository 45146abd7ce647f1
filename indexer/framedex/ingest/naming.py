"""Makes logical frames of recorded ones: binaries name addresses, and code objects name Python frames."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from framedex.binaries import role_of
from framedex.ffi.model import Signature
from framedex.ffi.signature import signature_of
from framedex.index.file.values import storable
from framedex.index.write.records import FrameRecord, FunctionRecord, NamedBinary
from framedex.ingest.absent import why_absent
from framedex.ingest.recorded import RecordedBinaries
from framedex.ingest.stripped import why_unnamed
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
    Role,
)
from framedex.releases import Origins, python_libraries
from framedex.sources import processors, short_name
from framedex.whereabouts.files import is_here, is_of_a_process
from framedex.whereabouts.moves import Moves
from framedex.whereabouts.rules import BUILD_FOLDER

_OUTSIDE = "[outside every module]"
_FROZEN = re.compile(r"<frozen (\w+(?:\.\w+)*)>")


class Namer:
    """Names the frames of captures.

    `former` leads from where the project was to where it is: its binaries may have been built before it was moved.
    """

    def __init__(self, binaries: RecordedBinaries | None = None, former: Moves | None = None) -> None:
        self._binaries = binaries or RecordedBinaries()
        self._former = former or Moves()

    def name_frames(
        self, capture: Capture, origins: Origins | None = None
    ) -> tuple[list[tuple[FrameRecord, ...]], list[str]]:
        """The logical frames of each recorded frame, outermost first; and what stood in the way, as sentences.

        `origins` say which release the binaries are of.
        """
        origins = origins or Origins()
        found, problems = self._resolve(capture)
        paths = Paths.of(capture, self._former)
        records: list[tuple[FrameRecord, ...]] = []
        for frame in capture.frames:
            if isinstance(frame, PythonFrame):
                records.append((_recorded_python(capture, frame, paths),))
            else:
                records.append(_native_records(capture, frame, found.get(frame, _NOTHING), paths, origins))
        return records, problems

    def binaries(self, capture: Capture) -> Sequence[NamedBinary]:
        """The binaries that the native frames of a capture are in."""
        modules = {frame.module for frame in capture.frames if isinstance(frame, NativeFrame) and frame.module >= 0}
        return [self._binaries.noted(capture.modules[module]) for module in sorted(modules)]

    def ffi_handler(
        self, capture: Capture, entry: NativeFrame, origins: Origins | None = None
    ) -> tuple[Signature | None, FrameRecord | None]:
        """What the FFI handler that is entered at a frame takes, and the function that it was made from."""
        binary, _ = self._binaries.open(capture.modules[entry.module])
        found = binary.ffi_handler(entry.offset - 1) if binary is not None else None
        if binary is None or found is None:
            return None, None
        implementation = None
        if found.implementation is not None:
            at_entry = NativeFrame(entry.module, found.implementation + 1)
            named = _Found(binary.resolve([found.implementation])[0])
            paths = Paths.of(capture, self._former)
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
        """What is known of the frames of one module, nothing where there is no such binary; what stood in the way."""
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
    """The functions at a frame, innermost inlined one first; without any, where the one begins that it is in."""

    symbols: tuple[NativeSymbol, ...] = ()
    start: int | None = None


_NOTHING = _Found()


def moves_of(capture: Capture) -> Moves:
    """What has moved along with a capture since it was made."""
    return Moves.of_capture(capture.metadata.folder, os.path.realpath(capture.path))


class Paths:
    """Turns recorded file names into absolute real paths; None for what is no file, such as `<string>`.

    Relative ones are below `folder`; `moves` say what has moved since, `former` what has moved after the binaries of
    the project were built. `libraries` are the folders of Python's own library: of one, what an interpreter has built
    in (`<frozen importlib._bootstrap>`) was made from its file there.
    """

    def __init__(
        self,
        folder: str,
        libraries: Collection[str] = (),
        moves: Moves | None = None,
        former: Moves | None = None,
    ) -> None:
        self._folder = folder
        self._moves = moves or Moves()
        self._former = former or Moves()
        self._libraries = libraries
        self._known: dict[str, str | None] = {}

    @classmethod
    def of(cls, capture: Capture, former: Moves | None = None) -> Paths:
        """Those of a capture."""
        return cls(capture.metadata.cwd or "", python_libraries(capture), moves_of(capture), former)

    def real(self, name: str) -> str | None:
        if name not in self._known:
            self._known[name] = self._real(name)
        return self._known[name]

    def _real(self, name: str) -> str | None:
        if not name or "\0" in name:
            return None
        if name.startswith("<"):
            return self._frozen(name)
        path = os.path.join(self._folder, name)  # noqa: PTH118 - names may be no valid Path text
        if not os.path.isabs(path):  # noqa: PTH117
            return None
        if is_of_a_process(path):  # Bazel's builds record what was below the compiler's working folder: not ours
            return storable(os.path.normpath(path))
        return storable(os.path.realpath(self._moves.now(path)))

    def _frozen(self, name: str) -> str | None:
        """The file that a module built into the interpreter was made from: in several libraries nobody can tell."""
        module = _FROZEN.fullmatch(name)
        if module is None or len(self._libraries) != 1:
            return None
        beginning = f"{next(iter(self._libraries))}/{module[1].replace('.', '/')}"
        found = next(filter(is_here, (f"{beginning}.py", f"{beginning}/__init__.py")), None)
        return None if found is None else storable(os.path.realpath(found))

    def compiled(self, name: str, binary: str) -> str | None:
        """The path of a file name from the debug information of a binary.

        A relative one is of a file that lies beside the binary (as our own libraries' sources do in a wheel), else it
        is taken to be below `BUILD_FOLDER`.
        """
        if not name or "\0" in name:
            return self.real(name)
        if os.path.isabs(name):  # noqa: PTH117
            return self.real(self._former.now(name) if self._former.has_reached(binary) else name)
        beside = os.path.join(os.path.dirname(binary), name)  # noqa: PTH118, PTH120 - as below
        return self.real(beside if is_here(beside) else f"{BUILD_FOLDER}/{name}")


def _recorded_python(capture: Capture, frame: PythonFrame, paths: Paths) -> FrameRecord:
    code = capture.codes[frame.code]
    first_line = max(code.first_line, 1)
    return python_record(
        paths, code.filename, code.qualname, first_line, frame.instruction, frame.line, frame.is_returning
    )


def python_record(
    paths: Paths, filename: str, qualname: str, first_line: int, instruction: int, line: int, returning: bool = False
) -> FrameRecord:
    """A frame of Python code that begins at `first_line` of a file and stands at `line` (0: unknown)."""
    name, filename = storable(qualname), storable(filename)
    path = paths.real(filename)
    function = FunctionRecord(
        language=Language.PYTHON,
        role=_python_role(filename, qualname),
        name=name,
        short_name=short_name(name),
        symbol=name,
        mangled="",
        module=filename if path is None or filename.startswith("<") else path,
        unit="",
        first_line=first_line,
        location=None if path is None else Location(path, first_line, How.EXACT),
    )
    location = None if path is None or line <= 0 else Location(path, line, How.EXACT)
    return FrameRecord(function, None, instruction, 0, location, returning, max(line, 0))


def _python_role(filename: str, qualname: str) -> Role:
    if filename.startswith("<frozen "):
        return Role.INTERPRETER
    # What ffi_call returns: the one frame of JAX's between a program's line and the custom call that it stands for.
    is_bridge = qualname == "ffi_call.<locals>.wrapped" and filename.endswith("/jax/_src/ffi.py")
    # What framedex put between a program and JAX to follow its programs (`framedex_native/ffi/programs.py`).
    is_own = "/framedex_native/ffi/" in filename
    return Role.GLUE if is_bridge or is_own else Role.CODE


def _native_records(
    capture: Capture, frame: NativeFrame, found: _Found, paths: Paths, origins: Origins
) -> tuple[FrameRecord, ...]:
    if frame.module < 0:
        return (_unnamed(BinaryId(_OUTSIDE, "", ""), frame.offset, None),)
    module = capture.modules[frame.module]
    binary = module.id._replace(path=storable(module.path))
    if not found.symbols:
        return (_unnamed(binary, frame.offset, found.start),)
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


def _unnamed(binary: BinaryId, offset: int, start: int | None) -> FrameRecord:
    """A frame without a name. Where its function is known to begin, all frames of that function are of one function."""
    file = binary.path.rpartition("/")[2]
    name = f"{file}+{offset:#x}" if start is None else f"{file}+{start:#x} (unnamed function)"
    function = FunctionRecord(
        Language.NATIVE, role_of(binary.path, ""), name, name, "", "", binary.path, "", first_line=0, location=None
    )
    return FrameRecord(function, binary, offset, 0, None)
