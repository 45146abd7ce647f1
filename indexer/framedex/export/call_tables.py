"""Calls as flat records: CSV, JSON lines, and the rows of Parquet tables.

CSV has a header and a row per call. Unknown values are empty, arguments and objects are JSON. Names are on one line
with visible control characters, because a terminal would execute escape sequences in them. A text that a spreadsheet
would read as a formula gets a leading apostrophe.

JSON lines have an object for each call.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from framedex.base.plaintext import make_printable
from framedex.texts.errors import name_error

if TYPE_CHECKING:
    from framedex.export.content import ExportContent
    from framedex.export.formats import Weight
    from framedex.index.ask.call.objects import ObjectNames
    from framedex.model import CallRow, PythonLine


_BATCH_CALLS = 5_000  # calls per batch of object names

COLUMNS = (
    *("id", "capture", "function", "boundary", "thread", "tid", "start", "duration", "error", "error_name", "parent"),
    *("stack", "line_function", "line_path", "line", "line_url", "line_link", "arguments", "objects"),
)
"""`start` is in ns since the capture began; `duration` is in ns, None if the call had not returned.

`line_...` is the Python line that led to the call. `line_link` says how that line was found if it is not on the call's
own stack.
"""


def read_records(content: ExportContent) -> Iterator[dict[str, Any]]:
    """Yield the calls that pass the filter, by capture and start; `arguments` and `objects` as JSON."""
    calls = content.index.calls
    found = content.calls.iter_calls()
    while batch := list(islice(found, _BATCH_CALLS)):
        lines = calls.python_lines(batch)
        for call, objects in zip(batch, calls.object_names(batch), strict=True):
            yield _build_record(call, objects, lines.get(call.id))


def _build_record(call: CallRow, objects: ObjectNames, line: PythonLine | None) -> dict[str, Any]:
    values = (
        *(call.id, call.capture, call.function, call.boundary, call.thread, call.tid, call.start),
        *(
            call.duration if call.duration >= 0 else None,
            call.error,
            name_error(call.error) if call.error > 0 else None,
        ),
        *(
            call.parent,
            call.stack,
            *_line_values(line),
            json.dumps(call.arguments),
            json.dumps(objects) if objects else "{}",
        ),
    )
    return dict(zip(COLUMNS, values, strict=True))


def _line_values(line: PythonLine | None) -> tuple[str | int | None, ...]:
    if line is None:
        return None, None, None, None, None
    location = line.location
    return line.function, location.path, location.line, location.url, None if line.link is None else line.link.value


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four are full-width
_JSON = frozenset({"arguments", "objects"})  # ASCII, and never a formula because it begins with a brace


def write_csv(content: ExportContent, file: IO[bytes], weight: Weight) -> None:
    """Write all calls; `weight` is ignored."""
    rows = csv.writer(_TextEncoder(file), lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows([_format_cell(name, value) for name, value in record.items()] for record in read_records(content))


def _format_cell(column: str, value: Any) -> Any:
    if not isinstance(value, str) or column in _JSON:
        return value
    return f"'{make_printable(value)}" if value.startswith(_FORMULA) else make_printable(value)


class _TextEncoder:
    """Encodes the text of rows for a binary file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write a row."""
        return self._file.write(text.encode())


def write_json_lines(content: ExportContent, file: IO[bytes], weight: Weight) -> None:
    """Write all calls; `weight` is ignored."""
    for record in read_records(content):
        values = json.dumps({name: value for name, value in record.items() if name not in ("arguments", "objects")})
        # These two are JSON already.
        nested = f', "arguments": {record["arguments"]}, "objects": {record["objects"]}}}\n'
        file.write((values.removesuffix("}") + nested).encode())
