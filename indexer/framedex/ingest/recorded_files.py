"""The files that a capture refers to: real paths of recorded file names, stored programs, and stored sources.

Recorded file names are resolved to absolute real paths, based on the folders at the time of recording.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, replace
from functools import cached_property, partial

from framedex.captures import SOURCE, matches_content_name, read_cells, read_stored_program, read_stored_source
from framedex.index.file.values import to_storable
from framedex.index.write.records import RecordedSource, StoredMemory, StoredProgram
from framedex.model import Capture, Program, ProgramFrame, ProgramMemory, ProgramOp
from framedex.path_resolution.files import BUILD_FOLDER, file_exists, is_process_path
from framedex.path_resolution.moved_files import FolderMoves
from framedex.programs import read_note, read_options, read_program, read_program_memory
from framedex.sources.releases import list_python_libraries

_FROZEN = re.compile(r"<frozen (\w+(?:\.\w+)*)>")


def find_moves(capture: Capture) -> FolderMoves:
    """Return the moves of a capture's folders since it was recorded."""
    return FolderMoves.of_capture(capture.metadata.folder, os.path.realpath(capture.path))


class RecordedPaths:
    """Resolves recorded file names to absolute real paths; None for names without a file, such as `<string>`.

    Relative names are below `folder`. `moves` are the moves since the recording, and `former` the moves since the
    binaries of the project were built. `libraries` are the folders of Python's standard library. If there is exactly
    one, modules built into the interpreter (`<frozen importlib._bootstrap>`) resolve to their files there. `cells` are
    the files of a notebook's cells.
    """

    def __init__(
        self,
        folder: str,
        libraries: Collection[str] = (),
        moves: FolderMoves | None = None,
        former: FolderMoves | None = None,
        cells: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._moves = moves or FolderMoves()
        self._former = former or FolderMoves()
        self._libraries = libraries
        self._cells = cells or {}
        self._known: dict[str, str | None] = {}

    @classmethod
    def from_capture(cls, capture: Capture, former: FolderMoves | None = None) -> RecordedPaths:
        """Return the paths of a capture."""
        cells = read_cells(capture.path)
        return cls(capture.metadata.cwd or "", list_python_libraries(capture), find_moves(capture), former, cells)

    def resolve(self, name: str) -> str | None:
        """The local path of a recorded file name; None if it names no file. Cached."""
        if name not in self._known:
            self._known[name] = self._resolve(name)
        return self._known[name]

    def _resolve(self, name: str) -> str | None:
        if not name or "\0" in name:
            return None
        if name in self._cells:
            return to_storable(os.path.realpath(self._cells[name]))
        if name.startswith("<"):
            return self._resolve_frozen(name)
        path = os.path.join(self._folder, name)  # noqa: PTH118 - names may be no valid Path text
        if not os.path.isabs(path):  # noqa: PTH117
            return None
        if is_process_path(path):  # Bazel records paths below the compiler's working folder
            return to_storable(os.path.normpath(path))
        return to_storable(os.path.realpath(self._moves.current_path(path)))

    def _resolve_frozen(self, name: str) -> str | None:
        """Return the source file of a module built into the interpreter; None if several libraries are possible."""
        module = _FROZEN.fullmatch(name)
        if module is None or len(self._libraries) != 1:
            return None
        beginning = f"{next(iter(self._libraries))}/{module[1].replace('.', '/')}"
        found = next(filter(file_exists, (f"{beginning}.py", f"{beginning}/__init__.py")), None)
        return None if found is None else to_storable(os.path.realpath(found))

    def resolve_compiled(self, name: str, binary: str) -> str | None:
        """Return the path of a file name from the debug information of a binary.

        A relative name is resolved beside the binary if the file exists there, as the sources of our own libraries do
        in a wheel. Otherwise it is resolved below `BUILD_FOLDER`.
        """
        if not name or "\0" in name:
            return self.resolve(name)
        if os.path.isabs(name):  # noqa: PTH117
            return self.resolve(self._former.current_path(name) if self._former.is_in_moved_folder(binary) else name)
        sibling = os.path.join(os.path.dirname(binary), name)  # noqa: PTH118, PTH120 - as below
        return self.resolve(sibling if file_exists(sibling) else f"{BUILD_FOLDER}/{name}")


class StoredPrograms:
    """The files stored beside a capture's calls, by their names in the calls; None if missing or changed.

    It has the same methods as a shared capture's stream.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    def program(self, name: str) -> StoredProgram | None:
        """Return a program."""
        data = read_stored_program(self._capture.path, name)
        if data is None:
            return None
        return StoredProgram(
            hashlib.sha256(data).hexdigest(),
            len(data),
            partial(_read_located_program, data, RecordedPaths.from_capture(self._capture)),
        )

    def memory(self, name: str) -> StoredMemory | None:
        """Return the memory inside an optimised program."""
        data = read_stored_program(self._capture.path, name)
        if data is None:
            return None
        read = partial(_read_located_memory, data, RecordedPaths.from_capture(self._capture))
        return StoredMemory(hashlib.sha256(data).hexdigest(), read)

    def options(self, name: str) -> str | None:
        """Return the options of a compilation by their names, as JSON."""
        data = read_stored_program(self._capture.path, name)
        return None if data is None else json.dumps(read_options(data))

    def note(self, name: str) -> str | None:
        """Return JAX's note on a program, as JSON."""
        data = read_stored_program(self._capture.path, name)
        note_fields = None if data is None else read_note(data)
        return None if note_fields is None else json.dumps(asdict(note_fields))


def _read_located_program(data: bytes, paths: RecordedPaths) -> Program:
    """Return a program with the real paths of its files, without lines of other sources (`<stdin>`)."""
    program = read_program(data)
    ops: Counter[ProgramOp] = Counter()
    for op, count in program.ops.items():
        ops[ProgramOp(op.kind, op.name, _locate_frames(op.frames, paths))] += count
    return replace(program, ops=ops)


def _read_located_memory(data: bytes, paths: RecordedPaths) -> ProgramMemory | None:
    """Return the memory inside a program, with lines as in `_read_located_program`."""
    memory = read_program_memory(data)
    if memory is None:
        return None
    locate = partial(_locate_frames, paths=paths)
    buffers = (
        replace(
            buffer,
            frames=locate(buffer.frames),
            fused=tuple(
                (op, next(iter(locate(() if frame is None else (frame,))), None)) for op, frame in buffer.fused
            ),
        )
        for buffer in memory.buffers
    )
    fusions = (
        replace(fusion, lines=tuple((located, ops) for frame, ops in fusion.lines for located in locate((frame,))))
        for fusion in memory.fusions
    )
    return replace(memory, buffers=tuple(buffers), fusions=tuple(fusions))


def _locate_frames(frames: Iterable[ProgramFrame], paths: RecordedPaths) -> tuple[ProgramFrame, ...]:
    located = ((paths.resolve(frame.path), frame) for frame in frames if frame.line > 0)
    return tuple(ProgramFrame(path, frame.line, frame.function) for path, frame in located if path is not None)


class RecordedSources:
    """The recorded source files of a capture. Their descriptions are read when the first file is requested."""

    def __init__(self, capture: Capture, former: FolderMoves) -> None:
        """`former` maps the project's former folders to its current folder."""
        self._capture = capture
        self._former = former

    def source(self, path: str) -> RecordedSource | None:
        """Return the file at a real path; None if the capture does not describe it."""
        return self._by_path.get(path)

    @cached_property
    def _by_path(self) -> Mapping[str, RecordedSource]:
        paths = RecordedPaths.from_capture(self._capture, self._former)
        found = {}
        for description in self._capture.descriptions:
            if description.kind != SOURCE:
                continue
            path, content, modified = (description.content.get(key) for key in ("path", "content", "modified_ns"))
            if isinstance(path, str) and isinstance(content, str) and isinstance(modified, int):
                real = paths.resolve(path)
                if real is not None:
                    read = partial(read_stored_source, self._capture.path, content)
                    found[real] = RecordedSource(modified, read, partial(matches_content_name, name=content))
        return found
