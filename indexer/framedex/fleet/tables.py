"""Files of a store's tables as they are read, and how the small ones are written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from framedex.fleet.libraries import compute, pa, parquet
from framedex.fleet.schema import CALLS

if TYPE_CHECKING:
    from framedex.fleet.place import Place

KEYS = {"stacks": "id", "frames": "description"}
"""What tells rows of these tables apart; of frames, several rows together."""


def write_rows(path: Path, schema: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Write a file of a table."""
    parquet.write_table(pa.Table.from_pylist(rows, schema), path, compression="zstd", store_schema=False)


def table_of(content: bytes, columns: Sequence[str]) -> Any:
    """Those of these columns that the content of a file has, as a table. Raises ArrowException and OSError for none.

    All is read in this thread: one of Arrow's that lets go of the bytes while Python ends would abort the process.
    """
    try:
        return parquet.ParquetFile(pa.BufferReader(content)).read(columns=list(columns), use_threads=False)
    except pa.ArrowMemoryError as error:  # an ArrowException, but nothing is wrong with the file
        raise MemoryError(str(error)) from error


def column_of(place: Place, name: str, key: str) -> list[str]:
    """A column of texts of a file; nothing where it is none of a store's: queries say so."""
    content = place.read(name)
    try:
        return [str(value) for value in table_of(content or b"", [key]).column(key).to_pylist()]
    except (pa.ArrowException, KeyError, OSError):
        return []


def rows_of(place: Place, name: str, schema: Any) -> list[dict[str, Any]]:
    """The rows of a file; nothing where it is none of a store's."""
    content = place.read(name)
    try:
        return list(table_of(content or b"", schema.names).cast(schema).to_pylist())
    except (pa.ArrowException, KeyError, ValueError, OSError):
        return []


def calls_in(file: IO[bytes], captures: Collection[str]) -> Iterator[Any]:
    """The calls of captures in an open file, as tables with the columns of a store's, a group of rows after the other.

    Raises ArrowException and OSError where it is no such file.
    """
    reader = parquet.ParquetFile(file)
    if reader.schema_arrow.names != CALLS.names:
        raise pa.ArrowInvalid("it has other columns than those of a store's calls")
    place = CALLS.names.index("capture")
    for group in range(reader.num_row_groups):
        told = reader.metadata.row_group(group).column(place).statistics
        if told is not None and told.has_min_max and not any(told.min <= each <= told.max for each in captures):
            continue
        table = reader.read_row_group(group, columns=CALLS.names, use_threads=False).cast(CALLS)
        yield table.filter(compute.is_in(table.column("capture"), pa.array(sorted(captures))))
