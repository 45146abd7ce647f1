"""CSV: a header and a row per call, with unknown values empty; arguments and objects are JSON.

Names are on one line with visible control characters, because a terminal would execute escape sequences in them. A text
that a spreadsheet would read as a formula gets a leading apostrophe.
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
_JSON = frozenset({"arguments", "objects"})  # ASCII, and never a formula because it begins with a brace


def write(content: Content, file: IO[bytes], weight: Weight) -> None:
    """Write all calls; `weight` is ignored."""
    rows = csv.writer(_Encoded(file), lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows([_cell(name, value) for name, value in record.items()] for record in records(content))


def _cell(column: str, value: Any) -> Any:
    if not isinstance(value, str) or column in _JSON:
        return value
    return f"'{printable(value)}" if value.startswith(_FORMULA) else printable(value)


class _Encoded:
    """Encodes the text of rows for a binary file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write a row."""
        return self._file.write(text.encode())
