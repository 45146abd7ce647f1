"""Captures on disk: find, decode and remove them. Only this package knows their format.

Start at `reader.py` (`CaptureStream`). `metadata.py` describes the recorded process, `cells.py` stores notebook cells.
docs/reference/capture-format.md specifies the bytes.

Invariants:

- A capture is self-contained: any later version on any machine can index it. An unknown version is rejected.
- A record is complete or absent, so a kill at any moment loses no completed record.
- Every change of a capture is detected, because each record has a checksum over its content, stream and position.
- A system error never counts as damage: `unreadable.py` stops the reader, and the index stores nothing.
"""

from framedex.captures.cells import Cell, read_cells, write_cells
from framedex.captures.contents import write_contents
from framedex.captures.end import write_end
from framedex.captures.folders import (
    capture_folders,
    captures_below,
    captures_of_run,
    captures_pattern,
    captures_within,
)
from framedex.captures.foreign import foreign_file, write_foreign, write_foreign_metadata
from framedex.captures.kept import SOURCE, has_content_name, read_kept_program, read_kept_source
from framedex.captures.metadata import read_metadata
from framedex.captures.reader import (
    CaptureStream,
    RecordCounts,
    count_records,
    fingerprint_of,
    read_capture,
    recorded_modules,
)
from framedex.captures.state import CaptureState, capture_identity, capture_state, is_being_written, is_over
from framedex.captures.unreadable import UnreadableCaptureError

__all__ = [
    "SOURCE",
    "CaptureState",
    "CaptureStream",
    "Cell",
    "RecordCounts",
    "UnreadableCaptureError",
    "capture_folders",
    "capture_identity",
    "capture_state",
    "captures_below",
    "captures_of_run",
    "captures_pattern",
    "captures_within",
    "count_records",
    "fingerprint_of",
    "foreign_file",
    "has_content_name",
    "is_being_written",
    "is_over",
    "read_capture",
    "read_cells",
    "read_kept_program",
    "read_kept_source",
    "read_metadata",
    "recorded_modules",
    "write_cells",
    "write_contents",
    "write_end",
    "write_foreign",
    "write_foreign_metadata",
]
