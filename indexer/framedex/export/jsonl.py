"""JSON lines: an object for each call, with its arguments and the names of its objects."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING

from framedex.export.records import records

if TYPE_CHECKING:
    from framedex.export.content import Content
    from framedex.export.weights import Weight


def write(content: Content, file: IO[bytes], weight: Weight) -> None:
    """Write all calls; `weight` is ignored."""
    for record in records(content):
        values = json.dumps({name: value for name, value in record.items() if name not in ("arguments", "objects")})
        # These two are JSON already.
        nested = f', "arguments": {record["arguments"]}, "objects": {record["objects"]}}}\n'
        file.write((values.removesuffix("}") + nested).encode())
