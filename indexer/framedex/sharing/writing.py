"""Writes a capture to one file: batches of calls, then the definitions with names and lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from framedex.base.progress import Progress
from framedex.index.ask.capture.capture import CaptureContents
from framedex.ingest.captures import AnyStream
from framedex.ingest.recorded_files import RecordedSources
from framedex.path_resolution.moved_files import FolderMoves
from framedex.shared.archive import DEFINITIONS, ArchiveWriter
from framedex.sharing.encoding import CALLS_AT_ONCE, CaptureEncoder
from framedex.sharing.excerpts import SourceAmount, collect_excerpts
from framedex.sharing.naming import IndexedNames
from framedex.sharing.redaction import Redaction


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
        encoder = CaptureEncoder(stream, IndexedNames(stream, contents), redaction)
        with progress.task("Sharing calls", stream.calls) as advance:
            number = 0
            while not number or stream.row < stream.calls:
                batch = stream.next(CALLS_AT_ONCE)
                writing.add(f"calls/{number:06}", encoder.encode_batch(batch))
                number += 1
                advance(len(batch), calls=len(batch))
                if not len(batch):
                    break
        definitions = encoder.definitions(contents.builds(), with_clock=with_clock)
        recorded = RecordedSources(stream.capture, FolderMoves()).source
        texts = collect_excerpts(definitions, contents, sources, recorded)
        definitions = redaction.redact_definitions(texts.definitions)
        for member, text in texts.members.items():
            writing.add(member, redaction.redact_text(text).encode("utf-8", "surrogateescape"))
        writing.add(DEFINITIONS, encoder.encode_definitions(definitions))
        writing.finish({"sources": sources.value, "redacted": redaction.counts()})
    held = (
        (stream.row, "call"),
        (len(definitions.stacks), "stack"),
        (len(definitions.programs), "program"),
        (len(texts.members), "excerpt" if sources is SourceAmount.LINES else "source file"),
    )
    return SharingResult(held, (*definitions.problems, *texts.problems))
