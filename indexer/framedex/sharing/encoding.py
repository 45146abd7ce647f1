"""Encodes a capture as the parts of a shared file: its calls in batches, then the definitions that they refer to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from framedex.base import words
from framedex.captures import SOURCE
from framedex.index.write.records import FrameRecord, HandlerRecord
from framedex.ingest.captures import AnyStream
from framedex.ingest.ffi import name_sites
from framedex.ingest.phases import name_phases
from framedex.ingest.recorded_files import StoredPrograms
from framedex.model import CallBatch, CompileNote, Program, ProgramMemory
from framedex.model.startup import PHASE_DESCRIPTIONS
from framedex.programs.ffi import parse_ffi_joins
from framedex.programs.ffi.joins import BOUNDARY
from framedex.programs.notes import build_note
from framedex.shared.columns import encode_batch
from framedex.shared.contents import (
    Definitions,
    SharedHandler,
    SharedOps,
    SharedPhase,
    SharedProgram,
    SharedSite,
)
from framedex.shared.packing import pack_value
from framedex.shared.reading import SharedStream
from framedex.shared.tables import FrameTables
from framedex.sharing.metadata import redact_metadata
from framedex.sharing.redaction import Redaction
from framedex.sources.releases import Build

CALLS_AT_ONCE = 1 << 18
"""Calls in a part."""


class FrameNames(Protocol):
    """The names of a capture's frames."""

    def frames(self) -> Sequence[tuple[FrameRecord, ...]]:
        """The logical frames of each recorded frame, outermost first."""
        ...

    def handler(self, entry: int) -> HandlerRecord | None:
        """The FFI handler whose entry is a frame of the capture."""
        ...


class CaptureEncoder:
    """Encodes the batches of a stream, and collects the definitions that their calls refer to."""

    def __init__(self, stream: AnyStream, names: FrameNames, redaction: Redaction) -> None:
        self._stream = stream
        self._names = names
        self._redaction = redaction
        self._stored_programs = stream if isinstance(stream, SharedStream) else StoredPrograms(stream.capture)
        self._tables = FrameTables()
        self._handlers: dict[int, SharedHandler] = {}
        self._programs: dict[str, SharedProgram] = {}
        self._memories: dict[str, ProgramMemory] = {}
        self._options: dict[str, str] = {}
        self._notes: dict[str, CompileNote] = {}

    def encode_batch(self, batch: CallBatch) -> bytes:
        """Encode the next batch of calls. Raises FramedexError if it is too large to share."""
        self._collect(batch)
        plain = replace(batch, types=tuple(map(self._redaction.redact_object_type, batch.types)))
        return encode_batch(plain, self._redaction.redact_arguments, self._redaction.redact_text)

    def encode_definitions(self, definitions: Definitions) -> bytes:
        """Encode redacted definitions."""
        return json.dumps(pack_value(definitions, self._redaction.redact_text), separators=(",", ":")).encode()

    def definitions(self, builds: Sequence[Build], *, with_clock: bool) -> Definitions:
        """Return the definitions of the encoded batches. `with_clock=False` leaves out the time of the recording."""
        stream, tables = self._stream, self._tables
        capture = stream.capture
        joins = parse_ffi_joins(capture)
        sites = stream.sites if isinstance(stream, SharedStream) else name_sites(capture, joins)
        frames = tuple(tuple(map(tables.convert_frame, group)) for group in self._names.frames())
        shared_sites = tuple(
            SharedSite(
                site.key,
                site.target,
                tuple(map(tables.convert_frame, site.frames)),
                site.user_frame,
                site.from_metadata,
            )
            for site in sites
        )
        phases = self._name_phases()
        return Definitions(
            metadata=redact_metadata(capture.metadata, with_clock=with_clock),
            paths=tables.paths,
            functions=tables.functions,
            frames=frames,
            stacks=tuple(capture.stacks),
            boundaries=capture.functions,
            threads=capture.threads,
            calls=stream.row,
            problems=self._list_problems(),
            stops=capture.stops,
            # Descriptions of sources name texts that are not shared; phases have named frames.
            descriptions=tuple(
                (each.kind, json.dumps(each.content))
                for each in capture.descriptions
                if each.kind not in (SOURCE, *PHASE_DESCRIPTIONS)
            ),
            sites=shared_sites,
            builds=tuple(builds),
            handlers=tuple(self._handlers.values()),
            programs=self._programs,
            options=self._options,
            notes=self._notes,
            phases=phases,
            memories=self._memories,
            callbacks=tuple((call, time) for call, time in stream.callbacks().tolist()),
        )

    def _collect(self, batch: CallBatch) -> None:
        capture = self._stream.capture
        for kind in batch.kinds:
            stack = capture.stacks[kind.stack].frames
            if capture.functions[kind.function].boundary == BOUNDARY and stack and stack[0] not in self._handlers:
                self._collect_handler(stack[0])
        for arguments in batch.arguments:
            if '.kept": "' in arguments:
                self._collect_stored(json.loads(arguments))

    def _list_problems(self) -> tuple[str, ...]:
        stream = self._stream
        missing = stream.calls - stream.row
        cut = (f"The capture was cut short by {words.count(missing, 'call')} while it was shared.",) if missing else ()
        return (*dict.fromkeys((*stream.capture.problems, *stream.problems)), *cut)

    def _name_phases(self) -> tuple[SharedPhase, ...]:
        stream = self._stream
        phases = stream.phases if isinstance(stream, SharedStream) else name_phases(stream.capture)
        return tuple(
            SharedPhase(
                *(phase.kind, phase.name, phase.thread, phase.start, phase.duration),
                tuple(map(self._tables.convert_frame, phase.frames)),
                phase.is_last,
            )
            for phase in phases
        )

    def _collect_handler(self, entry: int) -> None:
        handler = self._names.handler(entry)
        if handler is not None:
            made_from = None if handler.implementation is None else self._tables.convert_frame(handler.implementation)
            self._handlers[entry] = SharedHandler(entry, handler.signature, made_from)

    def _collect_stored(self, arguments: Mapping[str, Any]) -> None:
        program, options, note, optimized = (
            arguments.get(f"{key}.kept") for key in ("program", "compile_options", "jax", "optimized")
        )
        if isinstance(program, str) and program not in self._programs:
            kept = self._stored_programs.program(program)
            if kept is not None:
                self._programs[program] = self._build_program(kept.size, kept.read())
        if isinstance(options, str) and options not in self._options:
            text = self._stored_programs.options(options)
            self._options |= {} if text is None else {options: text}
        if isinstance(note, str) and note not in self._notes:
            text = self._stored_programs.note(note)
            self._notes |= {} if text is None else {note: build_note(json.loads(text))}
        if isinstance(optimized, str) and optimized not in self._memories:
            stored = self._stored_programs.memory(optimized)
            memory = None if stored is None else stored.read()
            self._memories |= {} if memory is None else {optimized: memory}

    def _build_program(self, size: int, program: Program) -> SharedProgram:
        path = self._tables.number_path
        lines = tuple(
            SharedOps(
                op.kind, op.name, tuple((path(frame.path), frame.line, frame.function) for frame in op.frames), count
            )
            for op, count in program.ops.items()
        )
        return SharedProgram(size, program.name, lines, program.problem, program.signature)
