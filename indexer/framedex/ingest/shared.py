"""A shared capture as an index record. The index that it was shared from has named and located its frames."""

from __future__ import annotations

import shlex

from framedex.captures import capture_identity
from framedex.ffi import follow_ffi
from framedex.index.write.records import CaptureRecord, FfiRecords
from framedex.shared.reading import SharedStream


def shared_record(stream: SharedStream, signature: str) -> CaptureRecord:
    """Return a shared capture without its calls."""
    capture = stream.capture
    metadata = capture.metadata
    return CaptureRecord(
        capture,
        (metadata.started_unix_ns or 0) / 1e9,
        shlex.join(metadata.argv),
        stream.frames,
        stream.problems,
        identity=capture_identity(capture.path, metadata),
        signature=signature,
        ffi=FfiRecords(follow_ffi(capture), stream.sites, stream.handler),
        builds=stream.definitions.builds,
        began=metadata.started_unix_ns,
        program=stream.program,
        options=stream.options,
        note=stream.note,
    )
