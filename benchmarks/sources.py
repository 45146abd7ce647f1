"""How fast source trees are read, against universal-ctags in the same run.

    python benchmarks/sources.py TREE... [--rounds N] [--capture FOLDER]

TREE is for example a checkout of XLA and one of jax. Both tools read all C, C++ and Python files on two processors;
rounds are interleaved. Beside the wall clock stands the processor time, which a busy machine changes less. With
--capture, also how long it takes from a recorded capture and nothing indexed to the first trace with lines: where the
line tables of its binaries were never made, and where they are kept. ctags comes from
`apt-get install universal-ctags`.
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
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from framedex.index import Index, Store
from framedex.ingest import Silence, refresh_files
from framedex.model import SourceHealth
from framedex.sources import find_files

_LINES = 2000  # of the file that is changed
_PARTS = ("get", "buffer", "BufferFromHost", "computation", "x", "Client::Buffer", "zzz::Create", "xyzzy", "the", "ion")


class Seconds(NamedTuple):
    """What a command took: by the clock, and of processors."""

    wall: float
    processor: float


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
    seconds: dict[str, list[Seconds]] = {"universal-ctags +neS": [], "framedex": []}
    memory = 0
    for _ in range(rounds):
        _remove_index(index)
        for command, taken in zip((ctags, framedex), seconds.values(), strict=True):
            taken.append(_timed(command))
        memory = max(memory, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)
    table = Table("reader", "median s", "ratio to ctags", "of a processor", "ratio", title=f"{len(files):,} files")
    peer = _median(seconds["universal-ctags +neS"])
    for name, taken in seconds.items():
        own = _median(taken)
        ratios = [f"{mine / its:.2f}" for mine, its in zip(own, peer, strict=True)]
        table.add_row(name, f"{own.wall:.2f}", ratios[0], f"{own.processor:.2f}", ratios[1])
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
    index, cache = folder / "lazy.db", folder / "cache"
    framedex = [sys.executable, "-c", "from framedex.commands.main import cli; cli()", "--index", str(index)]
    lazily = [*framedex, "index", "--lazy", str(capture), *(word for tree in trees for word in ("--source", tree))]
    taken: dict[str, list[tuple[Seconds, Seconds]]] = {"never made": [], "kept": []}
    for _ in range(rounds):
        shutil.rmtree(cache, ignore_errors=True)
        for steps in taken.values():
            _remove_index(index)
            indexed = _timed(lazily, cache)
            steps.append((indexed, _timed([*framedex, "trace", "1"], cache)))
    with Store(index) as store:
        parsed = len(store.sources.known_files())
    print(f"nothing indexed, {parsed} files parsed; s, in brackets of a processor")
    for tables, steps in taken.items():
        indexed, traced = (_median(step) for step in zip(*steps, strict=True))
        print(
            f"line tables {tables}: index --lazy {indexed.wall:.2f} ({indexed.processor:.2f}), then trace"
            f" {traced.wall:.2f} ({traced.processor:.2f})"
        )


def _remove_index(index: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        index.with_name(index.name + ending).unlink(missing_ok=True)


def _timed(command: Sequence[str], cache: Path | None = None) -> Seconds:
    """What a command takes, with all its threads; `cache` is the user's cache folder for it."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)} if cache else None
    before, began = os.times(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    wall, after = time.perf_counter() - began, os.times()
    user, system = after.children_user - before.children_user, after.children_system - before.children_system
    return Seconds(wall, user + system)


def _median(taken: Sequence[Seconds]) -> Seconds:
    return Seconds(statistics.median(one.wall for one in taken), statistics.median(one.processor for one in taken))


if __name__ == "__main__":
    if shutil.which("ctags") is None:
        raise SystemExit("ctags is missing: apt-get install universal-ctags")
    main()
