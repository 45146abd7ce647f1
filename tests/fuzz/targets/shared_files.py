"""Shared captures with valid digests: any content is imported completely and consistently, or refused."""

from __future__ import annotations

import hashlib
import json
import shutil

from framedex.base.errors import FramedexError
from framedex.captures import foreign_file
from framedex.model import ImportOrigin
from framedex.model.metadata import SHARED_FORMAT
from framedex.shared.archive import ArchiveWriter
from framedex.shared.keeping import read_stored_excerpts, unpack_shared
from framedex.shared.reading import SharedStream
from tests.fuzz.inputs import scratch

MAX_SIZE = 1 << 14

_LENGTH = 2  # bytes that store the length of the definitions


def run(data: bytes) -> None:
    """Parse a file with these definitions and this batch, and follow every reference in the result."""
    folder = scratch() / "shared"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    end = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    with foreign_file(folder).open("wb") as file:
        writing = ArchiveWriter(file)
        writing.add("definitions.json", data[_LENGTH:end])
        writing.add("calls/000000", data[end:])
        writing.add("sources/000000", data)
        writing.finish({})
    try:
        unpack_shared(folder, ImportOrigin(SHARED_FORMAT, str(folder / "a.fdx.zip"), hashlib.sha256(data).hexdigest()))
        stream = SharedStream(folder)
        batch = stream.next(stream.calls)
    except FramedexError as error:
        assert error.message and error.remedy
        return
    capture = stream.capture
    assert all(0 <= frame < len(stream.frames) for stack in capture.stacks for frame in (*stack.frames, *stack.python))
    assert all(records and records[0].module is None for records in stream.frames)
    for kind in batch.kinds:
        assert capture.functions[kind.function] and capture.threads[kind.thread] and capture.stacks[kind.stack]
    assert all(len(column) == len(batch) for column in (batch.inside, batch.start, batch.duration, batch.argument))
    assert all(batch.kinds[kind] for kind in batch.kind.tolist())
    assert all(folder in folder.joinpath(text).parents for text in read_stored_excerpts(folder).values())
    for name in stream.definitions.programs:
        kept = stream.program(name)
        assert kept is not None and kept.read().ops is not None
    json.dumps([stream.note(name) for name in stream.definitions.notes])
    assert all(stream.memory(name) is not None for name in stream.definitions.memories)
    assert len(stream.phases) == len(stream.definitions.phases)
