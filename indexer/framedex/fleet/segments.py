"""The segment of a capture: its complete content, as rows with the parts of a shared file (`framedex.shared`).

A store keeps the segment beside the columns that SQL queries read. So a pulled capture is an imported shared file, and
nothing about it is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from framedex.fleet.libraries import pa, parquet
from framedex.fleet.schema import SEGMENTS
from framedex.shared.archive import DEFINITIONS, ArchiveWriter
from framedex.sharing.encoding import CaptureEncoder
from framedex.sharing.redaction import Redaction

if TYPE_CHECKING:
    from framedex.fleet.naming import CaptureNames
    from framedex.ingest.captures import AnyStream
    from framedex.model import CallBatch


class SegmentFile:
    """Writes the segment of one capture: a context manager. The definitions are written at its end."""

    def __init__(self, path: Path, capture: str, stream: AnyStream, names: CaptureNames) -> None:
        """Create the file. `capture` is the id of the capture in the store."""
        self._capture = capture
        self._names = names
        self._encoder = CaptureEncoder(stream, names, Redaction())
        self._writer = segment_writer(path)
        self._batches = 0

    def __enter__(self) -> SegmentFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                definitions = self._encoder.definitions(self._names.builds, with_clock=True)
                self._write(DEFINITIONS, self._encoder.encode_definitions(definitions))
        finally:
            self._writer.close()

    def add(self, batch: CallBatch) -> None:
        """Write a batch of calls. Raises FramedexError if it is too large to share."""
        self._write(f"calls/{self._batches:06}", self._encoder.encode_batch(batch))
        self._batches += 1

    def _write(self, name: str, data: bytes) -> None:
        self._writer.write_table(pa.table([[self._capture], [name], [data]], SEGMENTS))


def segment_writer(path: Path) -> Any:
    """Return a Parquet writer for segments, with a row group for each part."""
    return parquet.ParquetWriter(path, SEGMENTS, compression="zstd", use_dictionary=False, store_schema=False)


def write_shared_file(parts: Iterable[tuple[str, bytes]], file: IO[bytes]) -> None:
    """Write the parts of a segment into an open file, in the format of `framedex share`.

    Raises FramedexError if it is too large, and OSError if it cannot be written.
    """
    with ArchiveWriter(file) as writing:
        for name, data in parts:
            writing.add(name, data)
        writing.finish({"sources": "none", "redacted": None})
