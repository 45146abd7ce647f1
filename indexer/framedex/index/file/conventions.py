"""Conventions shared by writers and readers of the tables: query fragments and the contents of totals."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Row = tuple[Any, ...]

IN_JSON = "IN (SELECT value FROM json_each(?))"
"""For any number of values bound as one JSON parameter (`json_list`), with one prepared statement."""

PYTHON_LEAF = "coalesce(nullif(s.site_leaf, 0), nullif(s.python_leaf, 0), s.leaf)"
"""The innermost node of `stacks s` towards Python: of an FFI run's site, an unmerged Python stack, or the stack."""

STATE_OF_LINE = (
    "coalesce((SELECT v.id FROM file_versions v WHERE v.id = fr.version AND v.is_own AND fr.how = 'exact'), 0)"
)
"""The `version` under which line totals (`line_calls`) count calls through the line of `frames fr`."""

LATEST_FIRST = "p.run DESC, p.started DESC, p.id DESC, c.id DESC"
"""Orders `calls c` of `captures p`; call ids alone only have the order in which captures were read."""

SPAN = 256
"""Ids per span, counted from a capture's first call: calls of one kind in a span share a row of `call_spans`."""

SAMPLES = 4
"""Limit of arguments stored per line or stack, and shown per line."""

MAKES_CLIENT = ("PJRT_Plugin_Initialize", "PJRT_Client_Create")
"""Functions called once per process and plug-in before any others (pjrt_c_api.h)."""

SEARCHED = ("function", "method", "class", "declaration", "macro", "message", "enum", "service", "record")
"""Kinds of definitions found by search; lambdas and module code have no names of their own."""


def json_list(values: Iterable[object]) -> str:
    """Return the values as the one JSON parameter that `IN_JSON` and `json_each` take."""
    return json.dumps(list(values))


def json_item(index: int) -> str:
    """Return SQL for an item of the array in the current row of `json_each(?) s` (`->>` needs SQLite 3.38)."""
    return f"json_extract(s.value, '$[{index}]')"
