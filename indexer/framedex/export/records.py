"""Calls as flat records, the rows of CSV, JSON lines and Parquet tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from framedex.errorcodes import error_name

if TYPE_CHECKING:
    from framedex.export.content import Content
    from framedex.index.ask.call.objects import ObjectNames
    from framedex.model import CallRow, PythonLine

_AT_ONCE = 5_000  # calls per batch of object names

COLUMNS = (
    *("id", "capture", "function", "boundary", "thread", "tid", "start", "duration", "error", "error_name", "parent"),
    *("stack", "line_function", "line_path", "line", "line_url", "line_link", "arguments", "objects"),
)
"""`start` is in ns since the capture began; `duration` is in ns, None if the call had not returned.

`line_...` is the Python line that led to the call. `line_link` says how that line was found if it is not on the call's
own stack.
"""


def records(content: Content) -> Iterator[dict[str, Any]]:
    """Yield the calls that pass the filter, by capture and start; `arguments` and `objects` as JSON."""
    calls = content.index.calls
    found = content.calls.each()
    while some := list(islice(found, _AT_ONCE)):
        lines = calls.python_lines(some)
        for call, objects in zip(some, calls.object_names(some), strict=True):
            yield _record(call, objects, lines.get(call.id))


def _record(call: CallRow, objects: ObjectNames, line: PythonLine | None) -> dict[str, Any]:
    values = (
        *(call.id, call.capture, call.function, call.boundary, call.thread, call.tid, call.start),
        *(
            call.duration if call.duration >= 0 else None,
            call.error,
            error_name(call.error) if call.error > 0 else None,
        ),
        *(call.parent, call.stack, *_line(line), json.dumps(call.arguments), json.dumps(objects) if objects else "{}"),
    )
    return dict(zip(COLUMNS, values, strict=True))


def _line(line: PythonLine | None) -> tuple[str | int | None, ...]:
    if line is None:
        return None, None, None, None, None
    place = line.location
    return line.function, place.path, place.line, place.url, None if line.link is None else line.link.value
