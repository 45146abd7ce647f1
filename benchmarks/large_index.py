"""Makes a large index of what many programs recorded, each of which trained for a while.

    python benchmarks/large_index.py FOLDER [--calls 10_000_000] [--stacks 100_000] [--definitions 1_000_000]
                                            [--source ~/src/xla ...]

Records a small training program again and again under other names: every copy is a program of its own
(`program_17.py`) whose stacks go through the same lines of JAX and the same C++ functions. Then `framedex index` reads
them, whose time is told. The definitions are those of the source trees, copied as trees beside them. All of it is in
FOLDER, with the programs' sources, so that the server finds what it would really read; with --keep the captures, too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from framedex.captures import CaptureStream, capture_folders, captures_below
from framedex.index import Store
from framedex.ingest import Silence, find_needed_sources, find_sources, ingest_captures
from framedex.model import ExtractedFile
from framedex.sources import extract_files, find_files

PROGRAM = """\
import sys

import jax
import jax.numpy as jnp
import numpy as np


def init(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (m, n)) * 0.1, jnp.zeros(n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def forward(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


@jax.jit
def step(params, x, y):
    grads = jax.grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)


def batches(count):
    rng = np.random.default_rng(0)
    for _ in range(count):
        x = rng.normal(size=(32, 8)).astype(np.float32)
        yield jax.device_put(x), jax.device_put(x.sum(axis=1, keepdims=True))


def main():
    params = init(jax.random.PRNGKey(0), [8, 16, 16, 1])
    for number, (x, y) in enumerate(batches(int(sys.argv[1]))):
        params = step(params, x, y)
        if number % 10 == 0:
            print(number, float(loss(params, x, y)))
    total = jax.lax.scan(lambda c, v: (c + v, c), 0.0, jnp.arange(10.0))[0]
    print(float(total), np.asarray(jax.vmap(jnp.sin)(jnp.ones((4, 4)))).sum())


main()
"""
FILES_AT_ONCE = 2000
FEW = 30  # batches: every stack of the program is there


def main() -> None:
    options = _options()
    folder: Path = options.folder.resolve()
    folder.mkdir(parents=True)
    stacks = stacks_of_one(folder)
    copies = -(-options.stacks // stacks)
    batches = batches_for(folder, options.calls // copies)
    for number in range(copies):
        program = folder / f"program_{number}.py"
        program.write_text(PROGRAM)
        record(program, batches)
    calls, stacks = counts(folder)
    with Store(folder / ".framedex" / "index.db") as store:
        began, processor = time.monotonic(), time.process_time()
        ingest_captures(store, capture_folders(captures_below(folder)), [], Silence(), find_needed_sources)
        processor = time.process_time() - processor
        print(f"{calls:,} calls, {stacks:,} stacks, {copies} captures: {_seconds(began)}, processor {processor:.1f} s")
        began = time.monotonic()
        with store.transaction():
            for source in options.source:
                store.sources.add_root(os.path.realpath(source))
        find_sources(store, Silence())
        print(f"the sources: {_seconds(began)}")
        began = time.monotonic()
        print(f"{add_definitions(store, folder, options.source, options.definitions):,} definitions: {_seconds(began)}")
    if not options.keep:
        shutil.rmtree(captures_below(folder))
    size = (folder / ".framedex" / "index.db").stat().st_size
    print(f"the index: {size / 2**30:.1f} GiB")


def record(program: Path, batches: int) -> None:
    """Record a run of the program on the mock TPU, which trains with so many batches."""
    cli = "from framedex.commands.main import cli; cli(prog_name='framedex')"
    command = [sys.executable, "-c", cli, "run", program.name, str(batches)]
    subprocess.run(command, cwd=program.parent, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def counts(folder: Path) -> tuple[int, int]:
    """The calls and stacks of the captures below a folder."""
    streams = [CaptureStream(capture) for capture in capture_folders(captures_below(folder))]
    return sum(stream.calls for stream in streams), sum(len(stream.capture.stacks) for stream in streams)


def stacks_of_one(folder: Path) -> int:
    """How many stacks a run of the program has."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    record(program, FEW)
    _, stacks = counts(folder)
    shutil.rmtree(captures_below(folder))
    return stacks


def batches_for(folder: Path, calls: int) -> int:
    """The batches with which the program makes about so many calls, by two short runs of it."""
    program = folder / "program.py"
    program.write_text(PROGRAM)
    made = []
    for batches in (FEW, 3 * FEW):
        record(program, batches)
        made.append(counts(folder)[0])
        shutil.rmtree(captures_below(folder))
    each = (made[1] - made[0]) / (2 * FEW)
    return max(FEW, round((calls - made[0]) / each))


def add_definitions(store: Store, folder: Path, sources: Sequence[Path], wanted: int) -> int:
    """Add the trees' files as other trees' until the index has about as many definitions as wanted; how many it has."""
    paths = [found.path for source in sources for found in find_files(source)]
    there = sum(len(file.definitions) for file in extract_files(paths))
    total = there
    for copy in range(-(-wanted // max(1, there)) - 1):
        root = str(folder / "trees" / str(copy))
        with store.transaction():
            store.sources.add_root(root)
            for files in batched(extract_files(paths)):
                renamed = [replace(file, path=root + file.path) for file in files]
                store.sources.replace_files(renamed, {file.path: root for file in renamed})
        total += there
    return total


def batched(files: Iterator[ExtractedFile]) -> Iterator[list[ExtractedFile]]:
    """Files in lists."""
    while batch := list(islice(files, FILES_AT_ONCE)):
        yield batch


def _seconds(began: float) -> str:
    return f"{time.monotonic() - began:.0f} s"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, default=10_000_000)
    parser.add_argument("--stacks", type=int, default=100_000)
    parser.add_argument("--definitions", type=int, default=1_000_000)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--source", type=Path, action="append", default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
