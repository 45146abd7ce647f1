"""Captures on disk: finding them, decoding them. Nothing outside this package knows their format."""

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
