"""How fast the function symbols of a large binary are read, against `nm` in the same run.

    python benchmarks/symbols.py [BINARY] [--rounds N] [--xz LEVEL]

BINARY defaults to jaxlib's libjax_common.so. Its symbols are also moved into `.gnu_debugdata` in a copy, which takes as
much room as BINARY in the temporary folder; `xz` alone, decompressing them, is the peer of that. Rounds are
interleaved, so that a busy machine slows all alike. Medians of processor time, that of children included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from jaxlib_library import jaxlib_library
from rich.console import Console
from rich.table import Table

from framedex.binaries.elf import Elf
from framedex.binaries.symbols import read_symbols


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("binary", type=Path, nargs="?", default=None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--xz", type=int, default=6, help="how hard xz tries to make the moved symbols small")
    arguments = parser.parse_args()
    path = arguments.binary or jaxlib_library()
    with tempfile.TemporaryDirectory() as folder:
        moved, section = _moved(path, Path(folder), arguments.xz)
        readers: dict[str, Callable[[], object]] = {
            "nm": lambda: subprocess.run(["nm", path], stdout=subprocess.DEVNULL, check=True),
            "framedex": lambda: read_symbols(Elf.open(path)),
            "xz, decompressing": lambda: subprocess.run(["xz", "-dc", section], stdout=subprocess.DEVNULL, check=True),
            "framedex, .gnu_debugdata": lambda: read_symbols(Elf.open(moved)),
        }
        seconds = _measure(readers, arguments.rounds)
        size = section.stat().st_size
    functions = len(read_symbols(Elf.open(path)))
    title = f"{path.name}: {functions:,} functions, {size / 1e6:.1f} MB of .gnu_debugdata (xz -{arguments.xz})"
    table = Table("reader", "median s", "min s", "ratio to nm", title=title)
    for name, taken in seconds.items():
        median = statistics.median(taken)
        ratio = median / statistics.median(seconds["nm"])
        table.add_row(name, f"{median:.3f}", f"{min(taken):.3f}", f"{ratio:.2f}")
    Console().print(table)


def _moved(binary: Path, folder: Path, level: int) -> tuple[Path, Path]:
    """A copy of a binary with its symbols in `.gnu_debugdata`, and the compressed content of that section."""
    symbols, moved = folder / "symbols", folder / binary.name
    subprocess.run(["objcopy", "--only-keep-debug", binary, symbols], check=True)
    subprocess.run(["xz", f"-{level}", "-T1", symbols], check=True)
    section = symbols.with_suffix(".xz")
    subprocess.run(["objcopy", "--strip-all", f"--add-section=.gnu_debugdata={section}", binary, moved], check=True)
    return moved, section


def _measure(readers: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(rounds):
        for name, read in readers.items():
            began = _processor_seconds()
            read()
            seconds[name].append(_processor_seconds() - began)
    return seconds


def _processor_seconds() -> float:
    return sum(os.times()[:4])


if __name__ == "__main__":
    main()
