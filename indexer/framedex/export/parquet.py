"""Parquet: `calls.parquet`, `stacks.parquet` and `frames.parquet` in a folder, as tables that can be joined.

A call has the number of its stack. A stack has the numbers of its frames, outermost first. A frame has its function,
location and binary. Requires pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from framedex.base.errors import FramedexError
from framedex.export.call_tables import read_records

try:
    import pyarrow as pa
    from pyarrow import parquet
except ImportError as error:
    raise FramedexError(
        "Parquet needs pyarrow, which is not installed.", "Install it: `pip install 'framedex[export]'`"
    ) from error

if TYPE_CHECKING:
    from framedex.export.content import ExportContent

_GROUP_ROWS = 20_000  # rows per row group
_INTEGER_COLUMNS = {
    "id",
    "capture",
    "tid",
    "start",
    "duration",
    "error",
    "parent",
    "stack",
    "line",
    "offset",
    "first_line",
}


def write(content: ExportContent, files: dict[str, IO[bytes]]) -> None:
    """Write each table to its file."""
    kinds = content.calls.kinds.values()
    stacks: dict[tuple[int, ...], int] = {}
    by_recorded = {
        (kind.stack, kind.function): stacks.setdefault(content.steps(kind), len(stacks) + 1) for kind in kinds
    }
    _write_table(
        files["calls"], ({**row, "stack": by_recorded[row["stack"], row["function"]]} for row in read_records(content))
    )
    _write_table(files["stacks"], ({"id": number, "frames": list(steps)} for steps, number in stacks.items()))
    frames = dict.fromkeys(number for steps in stacks for number in steps)
    _write_table(files["frames"], ({"id": number, **asdict(content.step(number))} for number in frames))


def _write_table(file: IO[bytes], rows: Iterator[dict[str, Any]]) -> None:
    batch = list(islice(rows, _GROUP_ROWS))
    schema = pa.schema([(name, _column_type(name, value)) for name, value in batch[0].items()])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while batch:
            writer.write_table(pa.Table.from_pylist(batch, schema))
            batch = list(islice(rows, _GROUP_ROWS))


def _column_type(name: str, value: Any) -> Any:
    """Return the type of a column, by name if its values may be missing."""
    if isinstance(value, bool):
        return pa.bool_()
    if name == "frames":
        return pa.list_(pa.int64())
    return pa.int64() if name in _INTEGER_COLUMNS else pa.string()
