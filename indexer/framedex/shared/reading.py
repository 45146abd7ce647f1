"""Reads a shared file as a stream of calls, with the interface of `CaptureStream`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import numpy as np
import numpy.typing as npt

from framedex.base.errors import FramedexError
from framedex.base.untrusted import DamagedArchiveError
from framedex.captures import foreign_file, read_metadata
from framedex.index.write.records import (
    FrameRecord,
    HandlerRecord,
    PhaseRecord,
    SiteRecord,
    StoredMemory,
    StoredProgram,
)
from framedex.model import (
    CallBatch,
    Calls,
    Capture,
    Metadata,
    ObjectDescription,
    Program,
    ProgramFrame,
    ProgramOp,
)
from framedex.shared.archive import DEFINITIONS, ArchiveReader
from framedex.shared.columns import BatchDecoder, DefinitionCounts
from framedex.shared.contents import Definitions, SharedProgram
from framedex.shared.packing import unpack_value
from framedex.shared.tables import FrameRecords
from framedex.sources.releases import REPOSITORIES

_MAX_STACK_FRAMES = 20_000_000
_MAX_FRAMES = 4_000_000
READ_ERRORS = (ValueError, LookupError, TypeError, OverflowError, RecursionError)
"""The exceptions that reading a malformed file can raise."""


@contextmanager
def converting_read_errors(path: Path) -> Iterator[None]:
    """Context manager that turns errors of reading the shared file at a path into FramedexError."""
    try:
        yield
    except (OSError, *READ_ERRORS) as error:
        text = error.strerror or error if isinstance(error, OSError) else error
        reason = text if isinstance(error, (OSError, ValueError)) else "its contents are inconsistent"
        raise FramedexError(
            f"{path} cannot be read as a shared capture: {reason}.",
            "Nothing was imported. Get a new copy of the file, or have the capture shared again.",
        ) from error


def read_definitions(archive: ArchiveReader) -> Definitions:
    """Read the definitions of a shared file. Raises ValueError or LookupError if they are inconsistent."""
    definitions = unpack_value(Definitions, archive.read_json(DEFINITIONS))
    frames = len(definitions.frames)
    if frames > _MAX_FRAMES or sum(len(stack.frames) + len(stack.python) for stack in definitions.stacks) > (
        _MAX_STACK_FRAMES
    ):
        raise DamagedArchiveError("it has more frames than a shared capture allows")
    if not all(definitions.frames):
        raise DamagedArchiveError("one of its frames has no function")
    for stack in definitions.stacks:
        if not all(0 <= frame < frames for frame in (*stack.frames, *stack.python)):
            raise DamagedArchiveError("a stack refers to a missing frame")
    for handler in definitions.handlers:
        if not 0 <= handler.frame < frames:
            raise DamagedArchiveError("a handler refers to a missing frame")
    if not all(build.component in REPOSITORIES for build in definitions.builds):
        raise DamagedArchiveError("it names the version of an unknown component")
    _check_programs(definitions)
    return definitions


def _check_programs(definitions: Definitions) -> None:
    for program in definitions.programs.values():
        for lines in program.lines:
            if not all(0 <= path < len(definitions.paths) for path, _, _ in lines.frames) or lines.ops < 0:
                raise DamagedArchiveError("a program refers to a missing file")
    if not all(isinstance(json.loads(text), dict) for text in definitions.options.values()):
        raise DamagedArchiveError("the options of a compilation are malformed")


class SharedStream:
    """Streams the calls and definitions of a shared capture."""

    def __init__(self, path: Path) -> None:
        """Read the shared file in the capture folder `path`. Raises FramedexError if it is malformed."""
        metadata = read_metadata(path)
        assert metadata.foreign is not None
        self._origin = Path(metadata.foreign.origin)
        with converting_read_errors(self._origin):
            self._fill(path, metadata)

    def _fill(self, path: Path, metadata: Metadata) -> None:
        self._archive = ArchiveReader(foreign_file(path))
        self.definitions = definitions = read_definitions(self._archive)
        self._records = records = FrameRecords(definitions)
        self.frames: Sequence[tuple[FrameRecord, ...]] = [
            tuple(map(records.build_record, frames)) for frames in definitions.frames
        ]
        self.sites = tuple(
            SiteRecord(
                site.key,
                site.target,
                tuple(map(records.build_record, site.frames)),
                site.user_frame,
                site.from_metadata,
            )
            for site in definitions.sites
        )
        self.phases = tuple(
            PhaseRecord(
                *(phase.kind, phase.name, phase.thread, phase.start, phase.duration),
                tuple(map(records.build_record, phase.frames)),
                phase.is_last,
            )
            for phase in definitions.phases
        )
        if not all(0 <= site.user_frame < len(site.frames) for site in self.sites):
            raise DamagedArchiveError("a site refers to a missing frame")
        self._handlers = {handler.frame: handler for handler in definitions.handlers}
        self._batches = iter(self._archive.batches)
        bounds = (len(definitions.boundaries), len(definitions.threads), len(definitions.stacks))
        self._decoder = BatchDecoder(DefinitionCounts(*bounds, len(definitions.frames)))
        self.row = 0
        self.calls = definitions.calls
        self.problems = definitions.problems
        self._callbacks = np.array(definitions.callbacks, np.int64).reshape(-1, 2)
        self.capture = Capture(
            path=path,
            metadata=metadata,
            modules=(),
            codes=(),
            frames=(),
            stacks=definitions.stacks,
            functions=definitions.boundaries,
            threads=definitions.threads,
            calls=Calls.empty(),
            problems=(),
            descriptions=tuple(_parse_descriptions(definitions)),
            stops=definitions.stops,
        )

    def callbacks(self) -> npt.NDArray[np.int64]:
        """Return the invocations of callbacks, as in `CaptureStream.callbacks`."""
        return self._callbacks

    def next(self, limit: int) -> CallBatch:
        """Return the next shared batch of calls, in order of start; an empty batch at the end."""
        with converting_read_errors(self._origin):
            batch = self._next()
        self.row += len(batch)
        return batch

    def _next(self) -> CallBatch:
        name = next(self._batches, None)
        if name is None:
            raise DamagedArchiveError("it has fewer calls than it declares")
        batch = self._decoder.decode(self._archive.read(name))
        if (self.calls and not len(batch)) or self.row + len(batch) > self.calls:
            raise DamagedArchiveError("its number of calls differs from the one it declares")
        return batch

    def handler(self, entry: int) -> HandlerRecord | None:
        """The FFI handler whose entry is a frame of the capture."""
        found = self._handlers.get(entry)
        if found is None:
            return None
        implementation = None if found.implementation is None else self._records.build_record(found.implementation)
        return HandlerRecord(entry, found.signature, implementation)

    def program(self, name: str) -> StoredProgram | None:
        """Return the program that arguments of calls refer to by this name. A prefix of its key marks it as shared."""
        found = self.definitions.programs.get(name)
        if found is None:
            return None
        return StoredProgram(_program_key(found), found.size, lambda: self._build_program(found))

    def memory(self, name: str) -> StoredMemory | None:
        """Return the memory inside an optimised program. Its key has the same prefix as that of a program."""
        found = self.definitions.memories.get(name)
        return None if found is None else StoredMemory(_program_key(found), lambda: found)

    def options(self, name: str) -> str | None:
        """The options of a compilation, as JSON."""
        return self.definitions.options.get(name)

    def note(self, name: str) -> str | None:
        """The JAX note of a program, as JSON."""
        found = self.definitions.notes.get(name)
        return None if found is None else json.dumps(asdict(found))

    def _build_program(self, shared: SharedProgram) -> Program:
        paths = self.definitions.paths
        ops = {
            ProgramOp(
                lines.kind,
                lines.name,
                tuple(ProgramFrame(paths[path], line, name) for path, line, name in lines.frames),
            ): lines.ops
            for lines in shared.lines
        }
        return Program(shared.name, ops, shared.problem, shared.signature)


def _program_key(shared: object) -> str:
    return f"shared {hashlib.sha256(repr(shared).encode('utf-8', 'surrogatepass')).hexdigest()}"


def _parse_descriptions(definitions: Definitions) -> list[ObjectDescription]:
    found = []
    for kind, text in definitions.descriptions:
        content = json.loads(text)
        if isinstance(content, dict):
            found.append(ObjectDescription(kind, content))
    return found
