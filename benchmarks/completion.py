"""What a TAB takes, beyond the start of Python, where an index has many functions.

    python benchmarks/completion.py --index INDEX [--functions 1000000] [--rounds 9]

INDEX has recorded calls, such as framedex-demo/.framedex/index.db after `make demo`; a copy of it gets so many
functions more. Each round asks in turns what zsh asks at a TAB, and runs `python -c pass`. Milliseconds of processor
time above the latter, medians; and what passes on the clock.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

_FRAMEDEX = Path(sys.executable).with_name("framedex")
_ASKED = (["ca"], ["calls", "--"], ["calls", "--capture", ""], ["callees", ""], ["callees", "f12"], ["trace", "PJRT_"])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--functions", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / ".framedex" / "index.db"
        index.parent.mkdir()
        shutil.copyfile(options.index, index)
        _grow(index, options.functions)
        commands = [[sys.executable, "-c", "pass"], *([str(_FRAMEDEX), *words] for words in _ASKED)]
        taken: list[list[tuple[float, float]]] = [[] for _ in commands]
        for _ in range(options.rounds + 1):
            for times, command in zip(taken, commands, strict=True):
                times.append(_cost(command, folder))
    (bare, _), *rest = [tuple(map(statistics.median, zip(*times[1:], strict=True))) for times in taken]
    print(f"python -c pass: {bare:.0f} ms; {options.functions:,} functions")
    for words, (processor, clock) in zip(_ASKED, rest, strict=True):
        print(f"{' '.join(words) + '<TAB>':24} {processor - bare:6.0f} ms above it, {clock:6.0f} ms on the clock")


def _grow(index: Path, functions: int) -> None:
    """Add functions like one that is there, of names of their own."""
    with closing(sqlite3.connect(index)) as connection, connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(functions)")]
        others = [each for each in columns if each not in ("id", "name", "short_name")]
        connection.execute(
            f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {functions})"
            f" INSERT INTO functions (id, name, short_name, {', '.join(others)})"
            f" SELECT (SELECT max(id) FROM functions) + i, 'scope.f' || i, 'f' || i, {', '.join(others)}"
            " FROM n, (SELECT * FROM functions LIMIT 1)"
        )


def _cost(command: list[str], folder: str) -> tuple[float, float]:
    """Processor time and time of a command, in milliseconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = os.environ | {"_FRAMEDEX_COMPLETE": "zsh_complete"}
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    clock, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), 1e3 * clock


if __name__ == "__main__":
    main()
