"""The pprof message of the public `profile.proto`, for the protobuf library."""

from __future__ import annotations

from tests.indexer.export.described import INTEGER, MANY, MESSAGE, ONE, TEXT, UNSIGNED, message_class

_MESSAGES = {
    "Profile": [
        ("sample_type", 1, MESSAGE, "ValueType", MANY),
        ("sample", 2, MESSAGE, "Sample", MANY),
        ("mapping", 3, MESSAGE, "Mapping", MANY),
        ("location", 4, MESSAGE, "Location", MANY),
        ("function", 5, MESSAGE, "Function", MANY),
        ("string_table", 6, TEXT, "", MANY),
        ("time_nanos", 9, INTEGER, "", ONE),
        ("comment", 13, INTEGER, "", MANY),
        ("default_sample_type", 14, INTEGER, "", ONE),
    ],
    "ValueType": [("type", 1, INTEGER, "", ONE), ("unit", 2, INTEGER, "", ONE)],
    "Sample": [
        ("location_id", 1, UNSIGNED, "", MANY),
        ("value", 2, INTEGER, "", MANY),
        ("label", 3, MESSAGE, "Label", MANY),
    ],
    "Label": [("key", 1, INTEGER, "", ONE), ("str", 2, INTEGER, "", ONE)],
    "Mapping": [("id", 1, UNSIGNED, "", ONE), ("filename", 5, INTEGER, "", ONE)],
    "Location": [
        ("id", 1, UNSIGNED, "", ONE),
        ("mapping_id", 2, UNSIGNED, "", ONE),
        ("address", 3, UNSIGNED, "", ONE),
        ("line", 4, MESSAGE, "Line", MANY),
    ],
    "Line": [("function_id", 1, UNSIGNED, "", ONE), ("line", 2, INTEGER, "", ONE)],
    "Function": [
        ("id", 1, UNSIGNED, "", ONE),
        ("name", 2, INTEGER, "", ONE),
        ("system_name", 3, INTEGER, "", ONE),
        ("filename", 4, INTEGER, "", ONE),
        ("start_line", 5, INTEGER, "", ONE),
    ],
}


PprofProfile = message_class(_MESSAGES, "Profile")
