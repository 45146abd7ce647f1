"""Read the files of a store's tables, and write the small ones."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from framedex.fleet.libraries import compute, pa, parquet
from framedex.fleet.schema import CALLS, SEGMENTS

if TYPE_CHECKING:
    from framedex.fleet.store_root import StoreRoot

KEY_COLUMNS = {"stacks": "id", "frames": "description"}
"""The key column of these tables. Several rows of `frames` share a key."""


def write_rows(path: Path, schema: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Write a file of a table."""
    parquet.write_table(pa.Table.from_pylist(rows, schema), path, compression="zstd", store_schema=False)


def read_table(content: bytes, columns: Sequence[str]) -> Any:
    """Read these columns from the content of a file. Raises ArrowException or OSError if it is not Parquet.

    The table is read in this thread: an Arrow thread that frees the bytes while Python exits would abort the process.
    """
    try:
        return parquet.ParquetFile(pa.BufferReader(content)).read(columns=list(columns), use_threads=False)
    except pa.ArrowMemoryError as error:  # an ArrowException, but nothing is wrong with the file
        raise MemoryError(str(error)) from error


def read_column(store: StoreRoot, name: str, key: str) -> list[str]:
    """Return a text column of a file; empty if it is not a store file. Queries report such files."""
    content = store.read(name)
    try:
        return [str(value) for value in read_table(content or b"", [key]).column(key).to_pylist()]
    except (pa.ArrowException, KeyError, OSError):
        return []


def read_rows(store: StoreRoot, name: str, schema: Any) -> list[dict[str, Any]]:
    """Return the rows of a file; empty if it is not a store file."""
    content = store.read(name)
    try:
        return list(read_table(content or b"", schema.names).cast(schema).to_pylist())
    except (pa.ArrowException, KeyError, ValueError, OSError):
        return []


def read_calls(file: IO[bytes], captures: Collection[str]) -> Iterator[Any]:
    """Yield the calls of captures in an open file, one Arrow table per row group.

    Raises ArrowException or OSError if it is not a file of calls.
    """
    return _read_rows_of_captures(file, captures, CALLS)


def read_segments(file: IO[bytes], captures: Collection[str]) -> Iterator[Any]:
    """Yield the segments of captures in an open file, one Arrow table per part of a shared file.

    Raises ArrowException or OSError if it is not a file of segments.
    """
    return _read_rows_of_captures(file, captures, SEGMENTS)


def _read_rows_of_captures(file: IO[bytes], captures: Collection[str], schema: Any) -> Iterator[Any]:
    reader = parquet.ParquetFile(file)
    if reader.schema_arrow.names != schema.names:
        raise pa.ArrowInvalid("its columns are not those of this table")
    place = schema.names.index("capture")
    for group in range(reader.num_row_groups):
        statistics = reader.metadata.row_group(group).column(place).statistics
        if (
            statistics is not None
            and statistics.has_min_max
            and not any(statistics.min <= each <= statistics.max for each in captures)
        ):
            continue
        table = reader.read_row_group(group, columns=schema.names, use_threads=False).cast(schema)
        yield table.filter(compute.is_in(table.column("capture"), pa.array(sorted(captures))))
