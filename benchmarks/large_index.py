"""Makes a large index of real rows: what one program recorded, as if many programs had been recorded for long.

    python benchmarks/large_index.py FOLDER [--calls 10_000_000] [--stacks 100_000] [--definitions 1_000_000]
                                            [--source ~/src/xla ...]

Records a small training program, then adds its capture again and again under other names, through the index's own
writer: every copy is a program of its own (`program_17.py`) whose stacks go through the same lines of JAX and the same
C++ functions, and its calls are made many times over. The definitions are those of the source trees, copied as trees
beside them. All of it is in FOLDER, with the programs' sources, so that the server finds what it would really read.
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

import numpy as np

from framedex.captures import capture_folders, captures_below, read_capture
from framedex.index import Store
from framedex.index.write.records import CaptureRecord, FrameRecord
from framedex.ingest import Namer, Silence, find_sources
from framedex.model import Calls, Capture, ExtractedFile
from framedex.sources import extract_files, find_files
from tests.whole_captures import add_whole

PROGRAM = """\
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
    for number, (x, y) in enumerate(batches(30)):
        params = step(params, x, y)
        if number % 10 == 0:
            print(number, float(loss(params, x, y)))
    total = jax.lax.scan(lambda c, v: (c + v, c), 0.0, jnp.arange(10.0))[0]
    print(float(total), np.asarray(jax.vmap(jnp.sin)(jnp.ones((4, 4)))).sum())


main()
"""
FILES_AT_ONCE = 2000


def main() -> None:
    options = _options()
    folder: Path = options.folder.resolve()
    folder.mkdir(parents=True)
    program = folder / "program.py"
    program.write_text(PROGRAM)
    recorded = record(program)
    frames, _ = Namer().name_frames(recorded)
    # Those outside main() end in other numbers of calls each time; what counts is that they are real.
    copies = -(-options.stacks // len(recorded.stacks))
    times = max(1, options.calls // (copies * len(recorded.calls)))
    calls = repeated(recorded.calls, times)
    began = time.monotonic()
    with Store(folder / ".framedex" / "index.db") as store:
        for number in range(copies):
            add_copy(store, replace(recorded, calls=calls), frames, program, number)
        print(f"{copies * len(calls):,} calls, {copies * len(recorded.stacks):,} stacks: {_seconds(began)}")
        began = time.monotonic()
        with store.transaction():
            for source in options.source:
                store.sources.add_root(os.path.realpath(source))
        find_sources(store, Silence())
        print(f"the sources: {_seconds(began)}")
        began = time.monotonic()
        print(f"{add_definitions(store, folder, options.source, options.definitions):,} definitions: {_seconds(began)}")
    # Else a server in this folder would index the recording that the copies were made of, while it is measured.
    shutil.rmtree(folder / ".framedex" / "captures")
    size = (folder / ".framedex" / "index.db").stat().st_size
    print(f"the index: {size / 2**30:.1f} GiB")


def add_copy(
    store: Store, recorded: Capture, frames: Sequence[Sequence[FrameRecord]], program: Path, number: int
) -> None:
    """Add what a program recorded as another program, which is written beside it; `frames` are its named frames."""
    name = program.with_name(f"program_{number}.py")
    name.write_text(PROGRAM)
    capture = replace(recorded, path=program.parent / ".framedex" / "captures" / str(number))
    renamed = [tuple(as_program(record, str(program), str(name)) for record in group) for group in frames]
    add_whole(store, CaptureRecord(capture, 1.7e9 + number, f"python {name.name}", renamed))


def record(program: Path) -> Capture:
    """What a run of the program records on the mock TPU."""
    cli = "from framedex.commands.main import cli; cli(prog_name='framedex')"
    subprocess.run([sys.executable, "-c", cli, "run", program.name], cwd=program.parent, check=True)
    (capture,) = capture_folders(captures_below(program.parent))
    return read_capture(capture)


def repeated(calls: Calls, times: int) -> Calls:
    """The calls `times` over, one run of them after the other."""
    span = int((calls.start + np.maximum(calls.duration, 0)).max()) + 1
    return Calls(
        thread=np.tile(calls.thread, times),
        function=np.tile(calls.function, times),
        stack=np.tile(calls.stack, times),
        start=(calls.start[None, :] + span * np.arange(times)[:, None]).ravel(),
        duration=np.tile(calls.duration, times),
        error=np.tile(calls.error, times),
        arguments=calls.arguments * times,
    )


def as_program(record: FrameRecord, program: str, name: str) -> FrameRecord:
    """A frame of the program as a frame of the program's copy; other frames as they are."""
    function = record.function
    if function.module != program or record.location is None:
        return record
    begin = function.location and replace(function.location, path=name)
    return replace(
        record,
        function=replace(function, module=name, location=begin),
        location=replace(record.location, path=name),
    )


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
    parser.add_argument("--source", type=Path, action="append", default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
