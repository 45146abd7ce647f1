"""Import the libraries of the extra `fleet`. If one is missing, the error says what to install."""

from __future__ import annotations

from framedex.base.errors import FramedexError

INSTALL = "Install it: `pip install 'framedex[fleet]'`"

try:
    import duckdb as duckdb
    import fsspec as fsspec
    import pyarrow as pa
    from pyarrow import compute as compute
    from pyarrow import parquet as parquet
except ImportError as error:
    raise FramedexError(f"Fleet stores need {error.name}, which is not installed.", INSTALL) from error

__all__ = ["compute", "duckdb", "fsspec", "pa", "parquet"]
