"""Captures on disk: find, decode and remove them. Only this package knows their format.

Start at `reader.py` (`CaptureStream`). `metadata.py` describes the recorded process, `stored_files.py`
reads programs, sources and notebook cells.
docs/reference/capture-format.md specifies the bytes.

Invariants:

- A capture is self-contained: any later version on any machine can index it. An unknown version is rejected.
- A record is complete or absent, so a kill at any moment loses no completed record.
- Every change of a capture is detected, because each record has a checksum over its content, stream and position.
- A system error never counts as damage: `UnreadableCaptureError` stops the reader, and the index stores nothing.
"""

from typing import TYPE_CHECKING

from framedex.base.lazy import export_lazily

if TYPE_CHECKING:
    from framedex.captures.folders import (
        build_metadata_glob,
        capture_folders,
        find_captures_of_run,
        find_captures_within,
        project_captures_folder,
    )
    from framedex.captures.metadata import (
        foreign_file,
        read_metadata,
        write_foreign,
        write_foreign_metadata,
        write_program_end,
    )
    from framedex.captures.reader import (
        CaptureStream,
        RecordCounts,
        compute_fingerprint,
        count_records,
        read_capture,
        recorded_modules,
    )
    from framedex.captures.state import (
        CaptureState,
        UnreadableCaptureError,
        compute_capture_identity,
        is_being_written,
        is_complete,
        read_capture_state,
    )
    from framedex.captures.stored_files import (
        SOURCE,
        Cell,
        content_name,
        matches_content_name,
        read_cells,
        read_content_size,
        read_stored_buffer,
        read_stored_program,
        read_stored_source,
        stored_program_path,
        write_cells,
        write_digests,
        write_stored_buffer,
        write_stored_program,
    )

__all__ = [
    "SOURCE",
    "CaptureState",
    "CaptureStream",
    "Cell",
    "RecordCounts",
    "UnreadableCaptureError",
    "build_metadata_glob",
    "capture_folders",
    "compute_capture_identity",
    "compute_fingerprint",
    "content_name",
    "count_records",
    "find_captures_of_run",
    "find_captures_within",
    "foreign_file",
    "is_being_written",
    "is_complete",
    "matches_content_name",
    "project_captures_folder",
    "read_capture",
    "read_capture_state",
    "read_cells",
    "read_content_size",
    "read_metadata",
    "read_stored_buffer",
    "read_stored_program",
    "read_stored_source",
    "recorded_modules",
    "stored_program_path",
    "write_cells",
    "write_digests",
    "write_foreign",
    "write_foreign_metadata",
    "write_program_end",
    "write_stored_buffer",
    "write_stored_program",
]

__getattr__ = export_lazily(
    __name__,
    {
        "folders": (
            "capture_folders",
            "build_metadata_glob",
            "find_captures_of_run",
            "find_captures_within",
            "project_captures_folder",
        ),
        "metadata": ("foreign_file", "read_metadata", "write_program_end", "write_foreign", "write_foreign_metadata"),
        "reader": (
            "CaptureStream",
            "RecordCounts",
            "count_records",
            "compute_fingerprint",
            "read_capture",
            "recorded_modules",
        ),
        "state": (
            "CaptureState",
            "UnreadableCaptureError",
            "compute_capture_identity",
            "read_capture_state",
            "is_being_written",
            "is_complete",
        ),
        "stored_files": (
            "SOURCE",
            "Cell",
            "content_name",
            "read_content_size",
            "matches_content_name",
            "read_cells",
            "read_stored_buffer",
            "read_stored_program",
            "read_stored_source",
            "stored_program_path",
            "write_cells",
            "write_digests",
            "write_stored_buffer",
            "write_stored_program",
        ),
    },
)
