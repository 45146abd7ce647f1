"""Writes a capture to one file: batches of calls, then the definitions with names and lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import IO, Any

from framedex import words
from framedex.captures import SOURCE
from framedex.ffi import parse_ffi_joins
from framedex.ffi.joins import BOUNDARY
from framedex.index.ask.capture.capture import CaptureContents
from framedex.ingest.captures import AnyStream
from framedex.ingest.ffi import name_sites
from framedex.ingest.recorded_files import RecordedSources, StoredPrograms
from framedex.model import CallBatch, CompileNote, Program
from framedex.model.startup import PHASE_DESCRIPTIONS
from framedex.path_resolution.moved_files import FolderMoves
from framedex.programs.notes import build_note
from framedex.progress import Progress
from framedex.releases import Build
from framedex.shared.archive import DEFINITIONS, ArchiveWriter
from framedex.shared.columns import encode_batch
from framedex.shared.contents import (
    Definitions,
    SharedHandler,
    SharedOps,
    SharedProgram,
    SharedSite,
)
from framedex.shared.packing import pack_value
from framedex.shared.reading import SharedStream
from framedex.shared.tables import FrameTables
from framedex.sharing.excerpts import SourceAmount, excerpts
from framedex.sharing.metadata import shared_metadata
from framedex.sharing.naming import IndexedNames
from framedex.sharing.redaction import Redaction

_CALLS_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class SharingResult:
    """The contents of a shared file by count, and the problems of sharing as sentences."""

    contents: tuple[tuple[int, str], ...]
    problems: tuple[str, ...]


def share(
    stream: AnyStream,
    contents: CaptureContents,
    file: IO[bytes],
    sources: SourceAmount,
    redaction: Redaction,
    progress: Progress,
    *,
    with_clock: bool = True,
) -> SharingResult:
    """Write the calls of a stream, and their definitions from the index, to an open file.

    `with_clock=False` leaves out the time of the recording.

    Raises FramedexError if the capture is too large, and OSError if the file cannot be written.
    """
    with ArchiveWriter(file) as writing:
        gathered = _DefinitionCollector(stream, contents)
        with progress.task("Sharing calls", stream.calls) as advance:
            number = 0
            while not number or stream.row < stream.calls:
                batch = stream.next(_CALLS_AT_ONCE)
                gathered.add_batch(batch)
                plain = replace(batch, types=tuple(map(redaction.object_type, batch.types)))
                writing.add(f"calls/{number:06}", encode_batch(plain, redaction.arguments, redaction.text))
                number += 1
                advance(len(batch), calls=len(batch))
                if not len(batch):
                    break
        definitions = gathered.definitions(contents.builds(), with_clock)
        recorded = RecordedSources(stream.capture, FolderMoves()).source
        texts = excerpts(definitions, contents, sources, recorded)
        definitions = redaction.definitions(texts.definitions)
        for member, text in texts.members.items():
            writing.add(member, redaction.text(text).encode("utf-8", "surrogateescape"))
        writing.add(DEFINITIONS, _json(definitions, redaction))
        writing.finish({"sources": sources.value, "redacted": redaction.counts()})
    held = (
        (stream.row, "call"),
        (len(definitions.stacks), "stack"),
        (len(definitions.programs), "program"),
        (len(texts.members), "excerpt" if sources is SourceAmount.LINES else "source file"),
    )
    return SharingResult(held, (*definitions.problems, *texts.problems))


def _json(definitions: Definitions, redaction: Redaction) -> bytes:
    return json.dumps(pack_value(definitions, redaction.text), separators=(",", ":")).encode()


class _DefinitionCollector:
    """Collects the definitions that the calls of a stream refer to."""

    def __init__(self, stream: AnyStream, contents: CaptureContents) -> None:
        self._stream = stream
        self._stored_programs = stream if isinstance(stream, SharedStream) else StoredPrograms(stream.capture)
        self._names = IndexedNames(stream, contents)
        self._tables = FrameTables()
        self._handlers: dict[int, SharedHandler] = {}
        self._programs: dict[str, SharedProgram] = {}
        self._options: dict[str, str] = {}
        self._notes: dict[str, CompileNote] = {}

    def add_batch(self, batch: CallBatch) -> None:
        """Collect the handlers and programs of a batch of calls."""
        capture = self._stream.capture
        for kind in batch.kinds:
            stack = capture.stacks[kind.stack].frames
            if capture.functions[kind.function].boundary == BOUNDARY and stack and stack[0] not in self._handlers:
                self._replay_handler(stack[0])
        for arguments in batch.arguments:
            if '.kept": "' in arguments:
                self._replay_stored(json.loads(arguments))

    def definitions(self, builds: tuple[Build, ...], with_clock: bool) -> Definitions:
        """Return the collected definitions."""
        stream, tables = self._stream, self._tables
        capture = stream.capture
        joins = parse_ffi_joins(capture)
        sites = stream.sites if isinstance(stream, SharedStream) else name_sites(capture, joins)
        frames = tuple(tuple(map(tables.frame, group)) for group in self._names.frames())
        shared_sites = tuple(
            SharedSite(
                site.key, site.target, tuple(map(tables.frame, site.frames)), site.user_frame, site.from_metadata
            )
            for site in sites
        )
        return Definitions(
            metadata=shared_metadata(capture.metadata, with_clock=with_clock),
            paths=tables.paths,
            functions=tables.functions,
            frames=frames,
            stacks=capture.stacks,
            boundaries=capture.functions,
            threads=capture.threads,
            calls=stream.row,
            problems=self._problems(),
            stops=capture.stops,
            # Descriptions of sources name texts that are not shared, and phases name files of the process.
            descriptions=tuple(
                (each.kind, json.dumps(each.content))
                for each in capture.descriptions
                if each.kind not in (SOURCE, *PHASE_DESCRIPTIONS)
            ),
            sites=shared_sites,
            builds=builds,
            handlers=tuple(self._handlers.values()),
            programs=self._programs,
            options=self._options,
            notes=self._notes,
        )

    def _problems(self) -> tuple[str, ...]:
        stream = self._stream
        missing = stream.calls - stream.row
        cut = (f"The capture was cut short by {words.count(missing, 'call')} while it was shared.",) if missing else ()
        return (*dict.fromkeys((*stream.capture.problems, *stream.problems)), *cut)

    def _replay_handler(self, entry: int) -> None:
        handler = self._names.handler(entry)
        if handler is not None:
            made_from = None if handler.implementation is None else self._tables.frame(handler.implementation)
            self._handlers[entry] = SharedHandler(entry, handler.signature, made_from)

    def _replay_stored(self, arguments: Mapping[str, Any]) -> None:
        program, options, note = (arguments.get(f"{key}.kept") for key in ("program", "compile_options", "jax"))
        if isinstance(program, str) and program not in self._programs:
            kept = self._stored_programs.program(program)
            if kept is not None:
                self._programs[program] = self._program(kept.size, kept.read())
        if isinstance(options, str) and options not in self._options:
            text = self._stored_programs.options(options)
            self._options |= {} if text is None else {options: text}
        if isinstance(note, str) and note not in self._notes:
            text = self._stored_programs.note(note)
            self._notes |= {} if text is None else {note: build_note(json.loads(text))}

    def _program(self, size: int, program: Program) -> SharedProgram:
        path = self._tables.path
        lines = tuple(
            SharedOps(
                op.kind, op.name, tuple((path(frame.path), frame.line, frame.function) for frame in op.frames), count
            )
            for op, count in program.ops.items()
        )
        return SharedProgram(size, program.name, lines, program.problem, program.signature)
