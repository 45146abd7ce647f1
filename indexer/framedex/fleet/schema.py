"""The tables of a store and their columns. docs/reference/store-format.md documents them for users.

Raise `VERSION` with every change that an earlier framedex cannot read.
"""

from __future__ import annotations

from framedex.fleet.libraries import pa

VERSION = 1

MARKER = "framedex-fleet.json"
"""The file at the root of a store that identifies the format and its version."""

CAPTURES = pa.schema(
    [
        ("capture", pa.string()),
        ("day", pa.string()),
        ("job", pa.string()),
        ("rank", pa.int64()),
        ("host", pa.string()),
        ("pid", pa.int64()),
        ("started", pa.int64()),  # ns since the Unix epoch
        ("command", pa.string()),
        ("path", pa.string()),
        ("calls", pa.int64()),
        ("stacks", pa.int64()),
        ("misuse", pa.string()),  # JSON: counts by kind
        ("problems", pa.string()),  # JSON: sentences
        ("packages", pa.string()),  # JSON: versions
        ("metadata", pa.string()),  # JSON
        ("signature", pa.string()),
        ("generation", pa.int64()),
        ("part", pa.string()),  # the name of the files with the calls and call kinds
        ("shared_by", pa.int64()),  # number of captures in these files
    ]
)
FILE_COLUMNS = ("signature", "generation", "part", "shared_by")
"""Internal columns of `captures` about files. SQL queries do not see them."""

CALLS = pa.schema(
    [
        ("capture", pa.string()),
        ("call", pa.int64()),
        ("parent", pa.int64()),
        ("start", pa.int64()),  # ns since the Unix epoch
        ("duration", pa.int64()),  # ns
        ("boundary", pa.string()),
        ("function", pa.string()),
        ("thread", pa.string()),
        ("stack", pa.string()),
        ("error", pa.int64()),
        ("arguments", pa.string()),  # JSON
    ]
)
CALL_KINDS = pa.schema(
    [
        ("capture", pa.string()),
        ("boundary", pa.string()),
        ("function", pa.string()),
        ("thread", pa.string()),
        ("stack", pa.string()),
        ("error", pa.int64()),
        ("calls", pa.int64()),
        ("duration", pa.int64()),
        ("own_duration", pa.int64()),
        ("longest", pa.int64()),
        ("longest_call", pa.int64()),
        ("first_call", pa.int64()),
        ("latest_call", pa.int64()),
    ]
)
SEGMENTS = pa.schema(
    [
        ("capture", pa.string()),
        ("name", pa.string()),  # the name of the part of a shared file
        ("data", pa.binary()),
    ]
)
PART_TABLES = ("calls", "call_kinds", "segments")
"""The tables whose files are the parts of captures."""

STACKS = pa.schema(
    [
        ("id", pa.string()),
        ("frames", pa.list_(pa.string())),  # outermost first
        ("python", pa.list_(pa.string())),
        ("user_frame", pa.string()),
        ("outcome", pa.string()),
        ("is_truncated", pa.bool_()),
    ]
)
FRAMES = pa.schema(
    [
        ("id", pa.string()),
        ("depth", pa.int64()),
        ("language", pa.string()),
        ("role", pa.string()),
        ("function", pa.string()),
        ("symbol", pa.string()),
        ("path", pa.string()),
        ("line", pa.int64()),
        ("how", pa.string()),
        ("module", pa.string()),
        ("build_id", pa.string()),
        ("fingerprint", pa.string()),
        ("offset", pa.int64()),
        ("first_line", pa.int64()),
        ("is_returning", pa.bool_()),
        ("known", pa.int64()),
        ("description", pa.string()),
    ]
)
