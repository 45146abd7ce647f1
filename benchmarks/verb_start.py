"""What a verb costs from its start to its answer on a small index: CPU time, and the modules that it imports.

    python benchmarks/verb_start.py --index INDEX --place FILE:LINE [--other CHECKOUT] [--rounds 9]

With --other, the Python code of another checkout answers in turn with this one, from an index that both can read.
Milliseconds of CPU time, user and system, and modules of framedex. `open` asks no index for a path that is here.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

_HERE = Path(__file__).resolve().parents[1]
_VERBS = ("trace 1", "captures", "find put", "callers put", "summary")
_START = """
import os, sys
from importlib.machinery import PathFinder

class Checkout:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "framedex":
            return PathFinder.find_spec(name, [sys.argv[1]])
        return PathFinder.find_spec(name, path) if name.startswith("framedex.") else None

sys.meta_path.insert(0, Checkout)
from framedex.commands.main import cli
try:
    cli(sys.argv[2:])
finally:
    count = sum(name.partition(".")[0] == "framedex" for name in sys.modules)
    os.write(2, f"modules {count}".encode())
"""


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--place", required=True)
    parser.add_argument("--other", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    checkouts = [("this", _HERE), *([("other", options.other.resolve())] if options.other else [])]
    commands = (f"where {options.place}", f"open {options.place}", *_VERBS)
    verbs = {command.partition(" ")[0]: command.split() for command in commands}
    table = Table("verb", *(f"{name}: {what}" for name, _ in checkouts for what in ("median ms", "min ms", "modules")))
    with tempfile.TemporaryDirectory() as folder:
        taken: dict[tuple[str, str], list[tuple[float, int]]] = {}
        for _ in range(options.rounds + 1):
            for verb, command in verbs.items():
                for name, checkout in checkouts:
                    given = [str(checkout / "indexer"), "--index", str(options.index.resolve()), *command]
                    taken.setdefault((verb, name), []).append(_cost(given, folder))
    for verb in verbs:
        cells = []
        for name, _ in checkouts:
            _, *measured = taken[verb, name]  # the first writes what Python compiles
            times = [time for time, _ in measured]
            cells += [f"{statistics.median(times):.0f}", f"{min(times):.0f}", str(measured[0][1])]
        table.add_row(verb, *cells)
    Console().print(table)


def _cost(arguments: list[str], folder: str) -> tuple[float, int]:
    """The milliseconds of CPU time that a verb takes, and the modules of framedex that it has imported at its end."""
    environment = os.environ | {"FRAMEDEX_EDITOR": "true {file}:{line}"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", _START, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent * 1e3, int(done.stderr.rpartition(" ")[2])


if __name__ == "__main__":
    main()
