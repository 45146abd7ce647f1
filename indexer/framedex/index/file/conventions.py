"""What writers and readers of the tables have in common, beside the schema: fragments of queries, and what totals are
kept of."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Row = tuple[Any, ...]

IN_JSON = "IN (SELECT value FROM json_each(?))"
"""For values bound as one JSON parameter (`json_list`): any number of them, and one prepared statement."""

PYTHON_LEAF = "coalesce(nullif(s.site_leaf, 0), nullif(s.python_leaf, 0), s.leaf)"
"""The innermost node of `stacks s` on its way out to Python: of an FFI run's site, of Python kept apart, or of all."""

STATE_OF_LINE = (
    "coalesce((SELECT v.id FROM file_versions v WHERE v.id = fr.version AND v.is_own AND fr.how = 'exact'), 0)"
)
"""The `version` under which totals of lines (`line_calls`) count what passed the line of `frames fr`."""

LATEST_FIRST = "p.run DESC, p.started DESC, p.id DESC, c.id DESC"
"""Orders `calls c` of `captures p`. The ids of calls alone say in which order captures were read."""

SPAN = 256
"""Calls, counted from the first of a capture, that share a row of `call_spans` where they are of one kind."""

SAMPLES = 4
"""Argument objects that are shown for a line; no more of them are kept, for a line or a stack."""

MAKES_CLIENT = ("PJRT_Plugin_Initialize", "PJRT_Client_Create")
"""What is called once per process and plug-in before anything else can be (pjrt_c_api.h)."""

SEARCHED = ("function", "method", "class", "declaration", "macro", "message", "enum", "service", "record")
"""The kinds of definitions that are found. Lambdas, and what runs when a file is loaded, have no names of their own."""


def json_list(values: Iterable[object]) -> str:
    """The values as the one JSON parameter that `IN_JSON` and `json_each` take."""
    return json.dumps(list(values))


def json_item(index: int) -> str:
    """What stands at an index in the array that `json_each(?) s` has come to (`->>` needs SQLite 3.38)."""
    return f"json_extract(s.value, '$[{index}]')"
