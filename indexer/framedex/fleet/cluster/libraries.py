"""The libraries of the extra `fleet-dask`: without them one process adds captures, and who asks for more is told."""

from __future__ import annotations

import logging

from framedex.errors import FramedexError

try:
    import cryptography as cryptography
    import dask as dask
    import distributed as distributed
except ImportError as error:
    raise FramedexError(
        f"A cluster needs {error.name}, which is not installed here.",
        "Install it: `pip install 'framedex[fleet-dask]'`",
    ) from error

__all__ = ["dask", "distributed"]


def silence() -> None:
    """Have Dask write nothing to stderr: what the user is to know is said by framedex, once."""
    for name in (*logging.root.manager.loggerDict, "asyncio"):
        if name.partition(".")[0] in ("asyncio", "bokeh", "distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
