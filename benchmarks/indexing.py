"""Cost of indexing captures: speed against a bare insert, followed objects, large indexes and seals."""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import click
import numpy as np

from benchmarks.figures import Figure
from benchmarks.processes import (
    EMPTY_PYTHON,
    FRAMEDEX,
    Command,
    Cost,
    print_header,
    print_row,
    run_framedex,
    run_measured,
)
from framedex.captures import CaptureStream, capture_folders, project_captures_folder, read_capture
from framedex.captures.reader import object_table
from framedex.index import Store
from framedex.index.file.seal import checksum, seal_path, was_changed
from framedex.ingest import SilentProgress, find_needed_sources, find_sources, ingest_captures
from framedex.model import ExtractedFile
from framedex.sources import extract_files, find_files
from framedex_native import _call_stream

# --- captures into an index -------------------------------------------------------------------------------------------

DEVICE_PUT_LOOP = """
import sys
import jax, numpy as np
array = np.arange(6, dtype=np.float32).reshape(2, 3)
for _ in range(int(sys.argv[1])):
    jax.device_put(array)
"""
TRAINING_LOOP = """
import sys
import jax, jax.numpy as jnp, numpy as np

def loss(params, x, y):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return jnp.mean((x @ w + b - y) ** 2)

@jax.jit
def step(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), value

sizes = [8, 16, 16, 1]
keys = jax.random.split(jax.random.PRNGKey(0), 3)
params = [(jax.random.normal(k, (m, n)) * 0.1, jnp.zeros(n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])]
random = np.random.default_rng(0)
for number in range(int(sys.argv[1])):
    x = random.normal(size=(32, 8)).astype(np.float32)
    params, value = step(params, jax.device_put(x), jax.device_put(x.sum(axis=1, keepdims=True)))
    if number % 10 == 0:
        float(value)
"""


CALLS_PER_PUT, CALLS_PER_STEP = 9, 70
INGEST_VERBS = ("summary", "check", "calls")
_INGEST_COLUMNS = ("captures", "calls", "calls/s", "to bare C", "s in all", "MiB", "index B", "capture B")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--calls", type=int, multiple=True, default=[1_000_000, 10_000_000], help="Calls of a loop; repeatable.")
@click.option("--programs", type=int, default=100, show_default=True, help="Number of short programs.")
@click.option("--rounds", type=int, default=3, show_default=True, help="Number of rounds.")
def ingest(folder: Path, calls: tuple[int, ...], programs: int, rounds: int) -> list[Figure]:
    """Measure `framedex index` of large captures, against a bare insert of the same rows in C.

    Records loops of jax.device_put, a training loop and many short programs in FOLDER, or uses those already there
    (half an hour, once). Calls a second leave out the cost of an index of one short run. "index B" and "capture B" are
    bytes per call. The verbs are processor time above `python -c pass`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    bare = _build_bare_insert(folder)
    each = max(calls) // programs // CALLS_PER_STEP
    sets = [(f"loop, {count:,} calls", DEVICE_PUT_LOOP, count // CALLS_PER_PUT, 1) for count in calls]
    sets.append(("training loop", TRAINING_LOOP, 1_000_000 // CALLS_PER_STEP, 1))
    sets.append((f"{programs} programs", TRAINING_LOOP, each, programs))
    print_header(*_INGEST_COLUMNS, *INGEST_VERBS)
    figures = []
    for name, program, count, copies in sets:
        captures = folder / name.replace(",", "").replace(" ", "-")
        small_folder = captures.with_name(f"{captures.name}-few")
        _record_programs(small_folder, program, 1, 1)
        _record_programs(captures, program, count, copies)
        cells, measured = _measure_ingest(name, captures, small_folder, bare, rounds)
        print_row(name, *cells)
        figures += measured
    return figures


def _measure_ingest(
    name: str, folder: Path, small_folder: Path, bare: Path, rounds: int
) -> tuple[list[str], list[Figure]]:
    captures = capture_folders(project_captures_folder(folder))
    calls = sum(CaptureStream(capture).calls for capture in captures)
    seconds, whole, ratios, memory = [], [], [], 0.0
    for _ in range(rounds):
        start = _index_captures(small_folder).processor_s
        cost = _index_captures(folder)
        inserted = run_measured([bare, folder / "bare.db", *map(str, _count_rows(folder / "index.db"))]).processor_s
        memory = max(memory, cost.memory_mib)
        whole.append(cost.processor_s)
        seconds.append(cost.processor_s - start)
        ratios.append(seconds[-1] / inserted)
    index_bytes = (folder / "index.db").stat().st_size / calls
    capture_bytes = sum(file.stat().st_size for capture in captures for file in capture.iterdir()) / calls
    speed, ratio = calls / statistics.median(seconds), statistics.median(ratios)
    verbs = [_above_empty([*FRAMEDEX, "--index", folder / "index.db", verb], rounds) for verb in INGEST_VERBS]
    cells = [f"{calls:,}", f"{speed:,.0f}", f"{ratio:.2f}", f"{statistics.median(whole):.1f}", f"{memory:.0f}"]
    cells += [f"{index_bytes:.1f}", f"{capture_bytes:.1f}", *(f"{seconds:.2f} s" for seconds in verbs)]
    return cells, [
        Figure(f"{name}: time to index", statistics.median(seconds), "s of a processor", "a bare insert in C", ratio),
        Figure(f"{name}: speed", speed, "calls a second of a processor"),
        Figure(f"{name}: peak memory", memory, "MiB"),
        Figure(f"{name}: index size", index_bytes, "bytes a call"),
        Figure(f"{name}: capture size", capture_bytes, "bytes a call"),
    ]


def _index_captures(folder: Path) -> Cost:
    """Index all captures below a folder in a new index."""
    index = folder / "index.db"
    index.unlink(missing_ok=True)
    return run_measured([*FRAMEDEX, "--index", index, "index", project_captures_folder(folder)])


def _count_rows(index: Path) -> list[int]:
    with sqlite3.connect(index) as connection:
        queries = [f"SELECT count(*) FROM {table}" for table in ("call_rows", "object_rows")]
        return [connection.execute(query).fetchone()[0] for query in queries]


def _record_programs(folder: Path, program: str, count: int, copies: int) -> None:
    """Record copies of a program in a folder, unless they are there."""
    if folder.exists():
        return
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    for number in range(copies):
        script = unfinished / f"program_{number}.py"
        script.write_text(program)
        run_framedex(unfinished, "run", script.name, str(count))
    unfinished.rename(folder)


def _build_bare_insert(folder: Path) -> Path:
    """Build the program that inserts as many rows of calls and objects."""
    target = folder / "bare_insert"
    source = Path(__file__).with_name("native") / "bare_insert.c"
    subprocess.run(["gcc", "-O2", source, "-o", target, "-lsqlite3"], check=True)
    return target


def _above_empty(command: Command, rounds: int) -> float:
    empty = statistics.median(run_measured(EMPTY_PYTHON).processor_s for _ in range(rounds))
    return statistics.median(run_measured(command).processor_s for _ in range(rounds)) - empty


# --- many stacks ------------------------------------------------------------------------------------------------------

DEEP_WALKS = Path(__file__).with_name("programs") / "deep_walks.py"
WALK_DEPTH = 30


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--walks", type=int, default=32_000, show_default=True, help="Number of walks; a walk has 12 stacks.")
@click.option("--rounds", type=int, default=1, show_default=True, help="Number of rounds.")
def many_stacks(folder: Path, walks: int, rounds: int) -> list[Figure]:
    """Measure `framedex index` of a capture with many distinct stacks: random walks that end in operations of JAX.

    Records the program in FOLDER, or uses the captures that are already there. Figures per stack leave out the costs of
    an index of one walk. The default has 400,000 stacks and takes two minutes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folders = [folder / f"walks-{count}" for count in (1, walks)]
    for each, count in zip(folders, (1, walks), strict=True):
        if not each.exists():
            each.mkdir()
            run_framedex(each, "run", DEEP_WALKS, str(count), str(WALK_DEPTH))
    measured = [_measure_stacks(each, rounds) for each in folders]
    small, large = (np.array(each) for each in measured)
    stacks = large[0] - small[0]
    processor, memory, index, capture = (large[1:] - small[1:]) / stacks
    compiles = _above_empty([*FRAMEDEX, "--index", folders[1] / "index.db", "compiles"], rounds)
    print_header("stacks", "us a stack", "memory B", "index B", "capture B", "compiles")
    cells = [f"{processor * 1e6:.0f}", f"{memory:.0f}", f"{index:.0f}", f"{capture:.0f}", f"{compiles:.2f} s"]
    print_row(f"{stacks:,.0f}", *cells)
    return [
        Figure("time to index", processor * 1e6, "us of a processor a stack"),
        Figure("peak memory", memory, "bytes a stack"),
        Figure("index size", index, "bytes a stack"),
        Figure("capture size", capture, "bytes a stack"),
        Figure("`compiles`", compiles, "s of a processor"),
    ]


def _measure_stacks(folder: Path, rounds: int) -> tuple[float, ...]:
    """Return the number of stacks, then processor time (s), peak memory, index and capture size of indexing (bytes)."""
    costs = [_index_captures(folder) for _ in range(rounds)]
    captures = capture_folders(project_captures_folder(folder))
    return (
        sum(len(CaptureStream(capture).capture.stacks) for capture in captures),
        statistics.median(cost.processor_s for cost in costs),
        statistics.median(cost.memory_mib for cost in costs) * (1 << 20),
        (folder / "index.db").stat().st_size,
        sum(file.stat().st_size for capture in captures for file in capture.iterdir()),
    )


# --- a large index ----------------------------------------------------------------------------------------------------

TRAINING_PROGRAM = """\
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


FILES_PER_BATCH = 2000
FEW_BATCHES = 30  # enough for every stack of the program


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--calls", type=int, default=10_000_000, show_default=True, help="Number of calls.")
@click.option("--stacks", type=int, default=100_000, show_default=True, help="Number of stacks.")
@click.option("--definitions", type=int, default=1_000_000, show_default=True, help="Number of definitions.")
@click.option("--keep", is_flag=True, help="Keep the captures.")
@click.option("--source", "sources", type=click.Path(path_type=Path), multiple=True, help="Source tree; repeatable.")
def large_index(
    folder: Path, calls: int, stacks: int, definitions: int, keep: bool, sources: tuple[Path, ...]
) -> list[Figure]:
    """Make a large index from many recorded programs, for the benchmarks of the server.

    Records a small training program again and again under other names (ten minutes). The definitions are those of the
    source trees and of copies of them.
    """
    folder = folder.resolve()
    folder.mkdir(parents=True)
    copies = -(-stacks // _stacks_per_run(folder))
    batches = _batches_for(folder, calls // copies)
    for number in range(copies):
        program = folder / f"program_{number}.py"
        program.write_text(TRAINING_PROGRAM)
        record_training(program, batches)
    calls, stacks = _count_calls(folder)
    with Store(folder / ".framedex" / "index.db") as store:
        began, processor = time.monotonic(), time.process_time()
        ingest_captures(
            store, capture_folders(project_captures_folder(folder)), [], SilentProgress(), find_needed_sources
        )
        processor, wall = time.process_time() - processor, time.monotonic() - began
        print(f"{calls:,} calls, {stacks:,} stacks, {copies} captures: {wall:.0f} s, processor {processor:.1f} s")
        began = time.monotonic()
        with store.transaction():
            for source in sources:
                store.sources.add_root(os.path.realpath(source))
        find_sources(store, SilentProgress())
        print(f"the sources: {time.monotonic() - began:.0f} s")
        began = time.monotonic()
        added = _add_definitions(store, folder, sources, definitions)
        print(f"{added:,} definitions: {time.monotonic() - began:.0f} s")
    if not keep:
        shutil.rmtree(project_captures_folder(folder))
    size = (folder / ".framedex" / "index.db").stat().st_size
    print(f"the index: {size / 2**30:.1f} GiB")
    return [
        Figure(f"time to index {calls:,} calls with {stacks:,} stacks", processor, "s of a processor"),
        Figure(f"index size, {added:,} definitions included", size / 2**30, "GiB"),
    ]


def record_training(program: Path, batches: int) -> None:
    """Record a run of the training program with this number of batches on the mock TPU."""
    run_framedex(program.parent, "run", program.name, str(batches))


def _count_calls(folder: Path) -> tuple[int, int]:
    """Count the calls and stacks of the captures below a folder."""
    streams = [CaptureStream(capture) for capture in capture_folders(project_captures_folder(folder))]
    return sum(stream.calls for stream in streams), sum(len(stream.capture.stacks) for stream in streams)


def _stacks_per_run(folder: Path) -> int:
    """The number of stacks of a program run."""
    program = folder / "program.py"
    program.write_text(TRAINING_PROGRAM)
    record_training(program, FEW_BATCHES)
    _, stacks = _count_calls(folder)
    shutil.rmtree(project_captures_folder(folder))
    return stacks


def _batches_for(folder: Path, calls: int) -> int:
    """The number of batches for about this number of calls, from two short runs."""
    program = folder / "program.py"
    program.write_text(TRAINING_PROGRAM)
    made = []
    for batches in (FEW_BATCHES, 3 * FEW_BATCHES):
        record_training(program, batches)
        made.append(_count_calls(folder)[0])
        shutil.rmtree(project_captures_folder(folder))
    each = (made[1] - made[0]) / (2 * FEW_BATCHES)
    return max(FEW_BATCHES, round((calls - made[0]) / each))


def _add_definitions(store: Store, folder: Path, sources: Sequence[Path], wanted: int) -> int:
    """Add copies of the trees until the index has this many definitions; return their number."""
    paths = [found.path for source in sources for found in find_files(source)]
    there = sum(len(file.definitions) for file in extract_files(paths))
    total = there
    for copy in range(-(-wanted // max(1, there)) - 1):
        root = str(folder / "trees" / str(copy))
        with store.transaction():
            store.sources.add_root(root)
            for files in _batches(extract_files(paths)):
                renamed = [replace(file, path=root + file.path) for file in files]
                store.sources.replace_files(renamed, {file.path: root for file in renamed})
        total += there
    return total


def _batches(files: Iterator[ExtractedFile]) -> Iterator[list[ExtractedFile]]:
    """Split files into lists."""
    while batch := list(islice(files, FILES_PER_BATCH)):
        yield batch


# --- objects and causal links -----------------------------------------------------------------------------------------

BATCH = 100_000


@click.command()
@click.argument("captures", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--rounds", type=int, default=5, show_default=True, help="Number of rounds.")
@click.option("--times", type=int, default=1, help="Follow the calls this often in C++ and measure memory growth.")
def followed_calls(captures: tuple[Path, ...], rounds: int, times: int) -> list[Figure]:
    """Measure following objects and finding causal links, against the oracle of the tests.

    Both read decoded values. Microseconds of processor time per call.
    """
    figures = []
    for path in captures:
        if rounds:
            figures += _measure_following(path, rounds)
        if times > 1:
            figures.append(_measure_following_memory(path, times))
    return figures


def _measure_following(path: Path, rounds: int) -> list[Figure]:
    from tests.native.call_stream.encoded import encoded
    from tests.native.call_stream.linked import stack_tables, threads_with_python
    from tests.oracle.causal_links import find_causal_links
    from tests.oracle.lifetimes import follow_objects

    capture = read_capture(path)
    whole = encoded(capture)
    functions, calls = whole.functions, whole.calls
    tables, with_python = stack_tables(capture), threads_with_python(capture)

    def links() -> None:
        found = _call_stream.CausalLinks(object_table(), tables, bool(capture.metadata.selected_by))
        for function in functions:
            found.add_function(*function)
        for thread in with_python:
            found.add_python_thread(thread)
        found.add(calls, 0, len(calls))
        found.finish()
        found.take_links()

    print(f"{path}: {len(calls):,} calls")
    figures = []
    for name, python, native in (
        ("objects", lambda: follow_objects(capture), lambda: _follow(functions, calls, 1, lambda: None)),
        ("causal links", lambda: find_causal_links(capture), links),
    ):
        seconds: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for side, work in zip(seconds, (python, native), strict=True):
                side.append(_processor_seconds(work))
        before, after = (statistics.median(side) / max(len(calls), 1) * 1e6 for side in seconds)
        print(f"  {name}: Python {before:.3f}, C++ {after:.3f} microseconds a call, ratio {before / after:.0f}")
        figures.append(Figure(f"{name} of {path.name}", after, "us a call", "the Python oracle", after / before))
    return figures


def _measure_following_memory(path: Path, times: int) -> Figure:
    from tests.native.call_stream.encoded import encoded

    whole = encoded(read_capture(path))
    functions, calls = whole.functions, whole.calls
    before = peak = _resident_bytes()
    began = time.process_time()

    def update_peak() -> None:
        nonlocal peak
        peak = max(peak, _resident_bytes())

    rows = _follow(functions, calls, times, update_peak)
    seconds = time.process_time() - began
    total, growth = times * len(calls), (peak - before) / (1 << 20)
    print(f"  {times} times: {total:,} calls, {rows:,} rows of objects")
    print(f"    {seconds / total * 1e6:.3f} microseconds a call, memory grew by {growth:.1f} MiB")
    return Figure(f"memory growth over {total:,} calls", growth, "MiB")


def _follow(
    functions: list[tuple[str, list[str]]], calls: _call_stream.CallColumns, times: int, after_batch: Callable[[], None]
) -> int:
    """Follow the objects of the calls and return the number of their rows."""
    lifetimes = _call_stream.Lifetimes(object_table())
    for function in functions:
        lifetimes.add_function(*function)
    rows = 0
    for _ in range(times):
        for begin in range(0, len(calls), BATCH):
            lifetimes.add(calls, begin, begin + BATCH)
            rows += len(lifetimes.take_objects()["object"])
            lifetimes.take_violations()
            after_batch()
        lifetimes.finish()
    return rows + len(lifetimes.take_objects()["object"])


def _resident_bytes() -> int:
    """Resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _processor_seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


# --- seals ------------------------------------------------------------------------------------------------------------

_SEAL_REPEATS = 2000


@click.command()
@click.argument("megabytes", nargs=-1, type=int)
def seal(megabytes: tuple[int, ...]) -> list[Figure]:
    """Measure checking the seal of an index, and its checksum against other hashes.

    MEGABYTES are sizes of files to sum, 8, 64 and 512 by default.
    """
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        Store(path).close()
        assert seal_path(path).read_text()
        check = _best_seconds(lambda: [was_changed(path) for _ in range(_SEAL_REPEATS)]) / _SEAL_REPEATS
        stat = _best_seconds(lambda: [path.stat() for _ in range(_SEAL_REPEATS)]) / _SEAL_REPEATS
        print(f"a sealed index: {check * 1e6:.0f} us (a stat: {stat * 1e6:.1f} us)")
        figures.append(Figure("check of a valid seal", check * 1e6, "us", "a stat of the file", check / stat))
        for size in megabytes or (8, 64, 512):
            path.write_bytes(os.urandom(1 << 20) * size)
            content = path.read_bytes()
            hashes: dict[str, Callable[[bytes], object]] = {
                "crc32": zlib.crc32,
                "sha256": hashlib.sha256,
                "blake2b": hashlib.blake2b,
            }
            seconds = {name: _best_seconds(partial(each, content)) for name, each in hashes.items()}
            own = _best_seconds(lambda: checksum(path))
            listed = ", ".join(f"{name} {each * 1e3:.0f} ms" for name, each in seconds.items())
            print(f"{size:,} MB: checksum of the file {own * 1e3:.0f} ms; of the bytes: {listed}")
            figures.append(Figure(f"checksum of {size} MB", own * 1e3, "ms", "SHA-256", own / seconds["sha256"]))
    return figures


def _best_seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(3):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best
