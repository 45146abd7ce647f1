"""How large captures are, and whether it pays to have several processes of this machine add them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

_WORTH = 256 << 20
"""Bytes of captures from which on processes are started: some four million calls, which one process adds in 10 s. Each
costs two seconds of start and of names that it finds for itself."""

_MEMORY = 1 << 30
"""Bytes that a process is to have."""


def capture_size(capture: Path) -> int:
    """Bytes of the files of a capture, 0 where they cannot be seen."""
    try:
        with os.scandir(capture) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.is_file())
    except OSError:
        return 0


def processes_that_pay(captures: Sequence[Path]) -> int:
    """How many processes beside this one add captures soonest: 0 where that is this one alone."""
    if find_spec("distributed") is None or find_spec("cryptography") is None:
        return 0
    if len(captures) < 2 or sum(map(capture_size, captures)) < _WORTH:
        return 0
    from framedex.fleet.cluster.libraries import dask, distributed

    # As far as a container lets this process have them.
    processes = min(len(captures), dask.system.CPU_COUNT, distributed.system.MEMORY_LIMIT // _MEMORY)
    return processes if processes > 1 else 0
