"""How fast the function symbols of a large binary are read, against `nm` in the same run.

    python benchmarks/symbols.py [BINARY] [--rounds N]

BINARY defaults to jaxlib's libjax_common.so. Rounds are interleaved, so that a busy machine slows all alike; medians.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from jaxlib_library import jaxlib_library
from rich.console import Console
from rich.table import Table

from framedex.binaries import Binary
from framedex.binaries.elf import Elf
from framedex.binaries.symbols import read_symbols


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("binary", type=Path, nargs="?", default=None)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    path = arguments.binary or jaxlib_library()
    readers: dict[str, Callable[[], object]] = {
        "nm": lambda: subprocess.run(["nm", path], stdout=subprocess.DEVNULL, check=True),
        "framedex": lambda: Binary.open(path),
    }
    seconds = _measure(readers, arguments.rounds)
    functions = len(read_symbols(Elf.open(path)))
    table = Table("reader", "median s", "min s", "ratio to nm", title=f"{path.name}: {functions:,}")
    for name, taken in seconds.items():
        median = statistics.median(taken)
        ratio = median / statistics.median(seconds["nm"])
        table.add_row(name, f"{median:.3f}", f"{min(taken):.3f}", f"{ratio:.2f}")
    Console().print(table)


def _measure(readers: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(rounds):
        for name, read in readers.items():
            began = time.perf_counter()
            read()
            seconds[name].append(time.perf_counter() - began)
    return seconds


if __name__ == "__main__":
    main()
