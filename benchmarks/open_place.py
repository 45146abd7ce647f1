"""How long `framedex open` takes from its start to the end of an editor that ends at once.

    python benchmarks/open_place.py --index INDEX [--rounds 9]

INDEX has recorded calls and their sources, such as framedex-demo/.framedex/index.db after `make demo`. The places
are taken from it: a file, a path as a build has it, and the symbol of a recorded frame. The interpreter alone, and with
click, take their turns in the same rounds: what any command line in Python costs. Milliseconds of wall time.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from framedex.index import Index
from framedex.model import CallFilter, FrameRow, Language

_FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli()"]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    index = options.index.resolve()
    file, path, symbol = _places(index)
    opens = [*_FRAMEDEX, "--index", str(index), "open"]
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import click'": [sys.executable, "-c", "import click"],
        f"open {file}:1": [*opens, f"{file}:1"],
        f"open {path}:1": [*opens, f"{path}:1"],
        f"open {symbol}": [*opens, symbol],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    environment = os.environ | {"FRAMEDEX_EDITOR": "true {file}:{line}"}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds + 1):
            for name, command in commands.items():
                start = time.perf_counter()
                subprocess.run(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL, check=True)
                taken[name].append((time.perf_counter() - start) * 1e3)
    table = Table("", "median ms", "min ms")
    for name, (_, *times) in taken.items():  # the first fills the file cache
        table.add_row(name, f"{statistics.median(times):.0f}", f"{min(times):.0f}")
    Console().print(table)


def _places(path: Path) -> tuple[str, str, str]:
    """A source file, the end of its path as a build has it, and a recorded symbol that stands for one place."""
    with Index.open(path) as index:
        for root in index.sources.roots():
            inside = (file for file in sorted(index.sources.files()) if file.startswith(f"{root.path}/"))
            file = next((file for file in inside if file[len(root.path) :].count("/") > 1), None)
            if file is not None:
                break
        else:
            sys.exit("The index has no source tree: `framedex index --source FOLDER` adds one.")
        for call in index.calls.find(CallFilter(), limit=100):
            trace = index.calls.trace(call.id)
            for frame in reversed(trace.frames if trace else ()):
                if _is_clear(index, frame):
                    return file, f"external/{file[len(root.path) + 1 :]}", frame.function.name
    sys.exit("The index has no recorded frame with a source that is here: `framedex run`, then `framedex index`.")


def _is_clear(index: Index, frame: FrameRow) -> bool:
    """Whether a frame is of a C++ function that stands for one place, which is here."""
    name = frame.function.name
    if frame.function.language is not Language.NATIVE or "::" not in name or frame.location is None:
        return False
    return len(index.names.places_named(name)) == 1 and Path(frame.location.path).is_file()


if __name__ == "__main__":
    main()
