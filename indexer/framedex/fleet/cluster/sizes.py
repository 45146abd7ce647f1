"""Measure captures, and decide whether several local processes add them faster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

_MIN_PARALLEL_BYTES = 256 << 20
"""Bytes of captures that justify processes: some four million calls, which one process adds in 10 s.

Each process needs two seconds to start and to find names of its own.
"""

_BYTES_PER_PROCESS = 1 << 30
"""Bytes of memory per process."""


def measure_capture(capture: Path) -> int:
    """Return the bytes of a capture's files; 0 if they cannot be read."""
    try:
        with os.scandir(capture) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.is_file())
    except OSError:
        return 0


def count_worthwhile_processes(captures: Sequence[Path]) -> int:
    """Return the best number of worker processes; 0 if this process alone is fastest."""
    if find_spec("distributed") is None or find_spec("cryptography") is None:
        return 0
    if len(captures) < 2 or sum(map(measure_capture, captures)) < _MIN_PARALLEL_BYTES:
        return 0
    from framedex.fleet.cluster.libraries import dask, distributed

    # Both respect the limits of a container.
    processes = min(len(captures), dask.system.CPU_COUNT, distributed.system.MEMORY_LIMIT // _BYTES_PER_PROCESS)
    return processes if processes > 1 else 0
