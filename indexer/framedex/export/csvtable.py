"""CSV: a row for each call below a header, with what is not known left empty; arguments and objects are JSON."""

from __future__ import annotations

import csv
from typing import IO, TYPE_CHECKING

from framedex.export.records import COLUMNS, records

if TYPE_CHECKING:
    from framedex.export.content import Content
    from framedex.export.weights import Weight


def write(content: Content, file: IO[bytes], weight: Weight) -> None:
    """Write all calls; nothing of them is weighed."""
    rows = csv.writer(_Encoded(file), lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows(record.values() for record in records(content))


class _Encoded:
    """Takes the text of rows for a file of bytes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write a row."""
        return self._file.write(text.encode())
