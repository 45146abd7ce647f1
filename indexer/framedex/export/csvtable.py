"""CSV: a row for each call below a header, with what is not known left empty; arguments and objects are JSON.

Names are on one visible line, as in other output: a terminal would obey escape sequences in them. A text that a
spreadsheet would read as a formula begins with an apostrophe.
"""

from __future__ import annotations

import csv
from typing import IO, TYPE_CHECKING, Any

from framedex.export.records import COLUMNS, records
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.export.content import Content
    from framedex.export.weights import Weight

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # the last four are full-width
_JSON = frozenset({"arguments", "objects"})  # ASCII that begins with a brace


def write(content: Content, file: IO[bytes], weight: Weight) -> None:
    """Write all calls; nothing of them is weighed."""
    rows = csv.writer(_Encoded(file), lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows([_cell(name, value) for name, value in record.items()] for record in records(content))


def _cell(column: str, value: Any) -> Any:
    if not isinstance(value, str) or column in _JSON:
        return value
    return f"'{printable(value)}" if value.startswith(_FORMULA) else printable(value)


class _Encoded:
    """Takes the text of rows for a file of bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write a row."""
        return self._file.write(text.encode())
