"""How fast source trees are read, against universal-ctags in the same run.

    python benchmarks/sources.py TREE... [--rounds N] [--capture FOLDER]

TREE is for example a checkout of XLA and one of jax. Both tools read all C, C++ and Python files on two processors;
rounds are interleaved. With --capture, also how long it takes from a recorded capture and nothing indexed to the first
trace with lines. ctags comes from `apt-get install universal-ctags`.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from framedex.index import Index, Store
from framedex.ingest import Silence, refresh_files
from framedex.model import SourceHealth
from framedex.sources import find_files

_LINES = 2000  # of the file that is changed
_PARTS = ("get", "buffer", "BufferFromHost", "computation", "x", "Client::Buffer", "zzz::Create", "xyzzy", "the", "ion")

_INDEX = """
import sys
from pathlib import Path
from framedex.index import Store
from framedex.ingest import Silence, find_sources
with Store(Path(sys.argv[1])) as store:
    with store.transaction():
        for root in sys.argv[2:]:
            store.sources.add_root(root)
    find_sources(store, Silence())
"""


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("trees", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--capture", type=Path)
    arguments = parser.parse_args()
    trees = [os.path.realpath(tree) for tree in arguments.trees]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    with tempfile.TemporaryDirectory() as folder:
        _measure_full_index(Path(folder), trees, arguments.rounds)
        _measure_one_file(Path(folder) / "index.db", arguments.rounds)
        _measure_look_ups(Path(folder) / "index.db")
        if arguments.capture:
            _measure_first_trace(Path(folder), trees, arguments.capture, arguments.rounds)


def _measure_full_index(folder: Path, trees: Sequence[str], rounds: int) -> None:
    files = [
        file.path for tree in trees for file in find_files(Path(tree)) if not file.path.endswith((".proto", ".td"))
    ]
    names = folder / "files"
    names.write_text("\n".join(files))
    index = folder / "index.db"
    ctags = ["ctags", "-f", str(folder / "tags"), "--fields=+neS", "-L", str(names)]
    framedex = [sys.executable, "-c", _INDEX, str(index), *trees]
    seconds: dict[str, list[float]] = {"universal-ctags +neS": [], "framedex": []}
    memory = 0
    for _ in range(rounds):
        _remove_index(index)
        for command, taken in zip((ctags, framedex), seconds.values(), strict=True):
            taken.append(_timed(command))
        memory = max(memory, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
    table = Table("reader", "median s", "min s", "ratio to ctags", title=f"{len(files):,} files, two processors")
    for name, taken in seconds.items():
        ratio = statistics.median(taken) / statistics.median(seconds["universal-ctags +neS"])
        table.add_row(name, f"{statistics.median(taken):.2f}", f"{min(taken):.2f}", f"{ratio:.2f}")
    Console().print(table)
    with Index.open(index) as reader:
        _print_health(reader.sources.health(), memory)


def _print_health(health: SourceHealth, memory: int) -> None:
    table = Table("language", "files", "with errors", "definitions", "touched by an error", title="what was read")
    for totals in health.totals:
        table.add_row(
            totals.language,
            f"{totals.files:,}",
            f"{100 * totals.with_errors / max(totals.files, 1):.2f} %",
            f"{totals.definitions:,}",
            f"{100 * totals.broken / max(totals.definitions, 1):.3f} %",
        )
    Console().print(table)
    print(f"largest process of all: {memory} MB")


def _measure_one_file(index: Path, rounds: int) -> None:
    with Store(index) as store:
        known = (path for path in store.sources.known_files() if path.endswith(".cc"))
        path = min(known, key=lambda path: abs(Path(path).read_bytes().count(b"\n") - _LINES))
        taken = []
        for _ in range(rounds):
            with store.transaction():  # as if it had been another file
                store.sources.remove_files([path])
            began = time.perf_counter()
            refresh_files(store, [Path(path)], Silence())
            taken.append(time.perf_counter() - began)
    print(f"one changed file ({path.rpartition('/')[2]}): median {1e3 * statistics.median(taken):.0f} ms")


def _measure_look_ups(index: Path) -> None:
    """A part of a name against SQLite's own search for one, and a name to its definitions; warm."""
    with Index.open(index) as reader, Store(index) as store:
        searches = [(_typical(partial(reader.names.symbols, part)), part) for part in _PARTS]
        like = "SELECT * FROM definitions WHERE short_name LIKE ? LIMIT 100"
        connection = store.sources.connection

        def scan(part: str) -> None:
            connection.execute(like, (f"%{part}%",)).fetchall()

        scans = [_typical(partial(scan, part)) for part in _PARTS]
        names = connection.execute("SELECT short_name FROM definitions GROUP BY 1 HAVING count(*) < 4 LIMIT 1000")
        found = [_typical(partial(store.sources.definitions, name, "cpp")) for (name,) in names]
    worst, part = max(searches)
    print(
        f"a part of a name: median {1e3 * statistics.median(taken for taken, _ in searches):.2f} ms, worst"
        f" {1e3 * worst:.2f} ms ({part}); LIKE: median {1e3 * statistics.median(scans):.2f} ms, worst"
        f" {1e3 * max(scans):.1f} ms; a name to its definitions: median {1e6 * statistics.median(found):.0f} us"
    )


def _typical(ask: Callable[[], object]) -> float:
    taken = []
    for _ in range(9):
        began = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def _measure_first_trace(folder: Path, trees: Sequence[str], capture: Path, rounds: int) -> None:
    index = folder / "lazy.db"
    framedex = [sys.executable, "-c", "from framedex.commands.main import cli; cli()", "--index", str(index)]
    lazily = [*framedex, "index", "--lazy", str(capture), *(word for tree in trees for word in ("--source", tree))]
    taken = []
    for _ in range(rounds):
        _remove_index(index)
        taken.append([_timed(step) for step in (lazily, [*framedex, "trace", "1"])])
    with Store(index) as store:
        parsed = len(store.sources.known_files())
    indexed, traced = (statistics.median(step) for step in zip(*taken, strict=True))
    print(f"nothing indexed: index --lazy {indexed:.2f} s, {parsed} files parsed; then trace {traced:.2f} s")


def _remove_index(index: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        index.with_name(index.name + ending).unlink(missing_ok=True)


def _timed(command: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    if shutil.which("ctags") is None:
        raise SystemExit("ctags is missing: apt-get install universal-ctags")
    main()
