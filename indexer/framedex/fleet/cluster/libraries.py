"""Import the libraries of the extra `fleet-dask`. Without them, only one process can add captures."""

from __future__ import annotations

import logging

from framedex.base.errors import FramedexError

try:
    import cryptography as cryptography
    import dask as dask
    import distributed as distributed
except ImportError as error:
    raise FramedexError(
        f"A cluster needs {error.name}, which is not installed.",
        "Install it: `pip install 'framedex[fleet-dask]'`",
    ) from error

__all__ = ["dask", "distributed"]


def silence_dask_logs() -> None:
    """Turn off Dask's log messages on stderr. framedex reports problems itself, once."""
    for name in (*logging.root.manager.loggerDict, "asyncio"):
        if name.partition(".")[0] in ("asyncio", "bokeh", "distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
