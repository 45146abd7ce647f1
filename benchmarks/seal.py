"""What the seal of an index costs: a look at one that fits, and the sum of one that does not.

python benchmarks/seal.py [MEGABYTES...]
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from framedex.index import Store
from framedex.index.file.seal import checksum, seal_path, was_changed

_REPEATED = 2000


def main(sizes: list[int]) -> None:
    """Print the times for indexes of these sizes in megabytes, beside those of the hashes that were not chosen."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        Store(path).close()
        assert seal_path(path).read_text()
        look = _seconds(lambda: [was_changed(path) for _ in range(_REPEATED)]) / _REPEATED
        stat = _seconds(lambda: [os.stat(path) for _ in range(_REPEATED)]) / _REPEATED  # noqa: PTH116
        print(f"a sealed index: {look * 1e6:.0f} us (a stat: {stat * 1e6:.1f} us)")
        for size in sizes:
            path.write_bytes(os.urandom(1 << 20) * size)
            content = path.read_bytes()
            print(
                f"{size:,} MB: sum of the file {_seconds(lambda: checksum(path)) * 1e3:.0f} ms; of the bytes:"
                f" crc32 {_seconds(partial(zlib.crc32, content)) * 1e3:.0f} ms,"
                f" sha256 {_seconds(partial(hashlib.sha256, content)) * 1e3:.0f} ms,"
                f" blake2b {_seconds(partial(hashlib.blake2b, content)) * 1e3:.0f} ms"
            )


def _seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return best


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [8, 64, 512])
