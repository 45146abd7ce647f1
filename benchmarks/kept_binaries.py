"""What keeping a recorded binary takes: once for each content, and whenever it is there already.

    python benchmarks/kept_binaries.py [RUNS]

The binary is jaxlib's library; its digest, which `framedex run` takes anyway, is the peer that the copy is compared to.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from jaxlib_library import jaxlib_library

from framedex.binaries import Contents, KeptBinaries


def main() -> None:
    """Print medians over fresh caches, each in a folder beside the user's own cache."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    path = jaxlib_library()
    taken: dict[str, list[float]] = {"digest": [], "first": [], "again": []}
    for _ in range(runs):
        with tempfile.TemporaryDirectory(dir=Path.home()) as folder:
            contents, kept = Contents(Path(folder, "contents.json")), KeptBinaries(Path(folder, "binaries"))
            taken["digest"].append(_seconds(lambda: contents.of(path)))  # noqa: B023 - called at once
            digest = contents.of(path)
            taken["first"].append(_seconds(lambda: kept.keep(path, digest)))  # noqa: B023
            taken["again"].append(_seconds(lambda: kept.keep(path, digest)))  # noqa: B023
            size = kept.size()
    digest_s, first_s, again_s = (statistics.median(times) for times in taken.values())
    print(f"{path.name}: {size / 1e6:.0f} MB kept")
    print(f"digest {digest_s * 1e3:.0f} ms; copy {first_s * 1e3:.0f} ms, {first_s / digest_s:.2f} times that")
    print(f"kept already {again_s * 1e3:.2f} ms")


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
