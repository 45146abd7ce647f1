"""Costs by line: queries in indexes of millions of calls, differing times, and memory compared with texts of XLA."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import click

from benchmarks.figures import Figure
from benchmarks.processes import FRAMEDEX, ROOT, print_header, print_row, run_framedex, run_measured
from framedex.base.protobuf import Message
from framedex.index import Index
from framedex.model.programs import ProgramMemory
from framedex.programs import read_program_memory
from framedex.programs.hlo import Module
from tests.run.costs.xla_dumps import read_dumps

# --- compilations -----------------------------------------------------------------------------------------------------

COMPILATIONS_PER_RUN = 100
COMPILING_PROGRAM = f"""\
import json, time
import jax, numpy as np


@jax.jit
def step(params, x):
    return jax.tree.map(lambda p: p * x.sum(), params)


params = {{str(number): np.ones(3, np.float32) for number in range(20)}}
taken = []
for size in range({COMPILATIONS_PER_RUN}):
    begin = time.process_time()
    step(params, np.ones(size + 1, np.float32))
    taken.append(time.process_time() - begin)
print(json.dumps(taken))
"""


@click.command()
@click.option("--calls", type=int, default=10_000_000, show_default=True, help="Calls to add to the index.")
@click.option("--compilations", type=int, default=100_000, show_default=True, help="Compilations to add.")
@click.option("--programs", type=int, default=1_000, show_default=True, help="Distinct programs to add.")
@click.option("--rounds", type=int, default=3, show_default=True, help="Number of rounds.")
def compiles(calls: int, compilations: int, programs: int, rounds: int) -> list[Figure]:
    """Measure `framedex compiles` in a large index, and the recording cost of a compilation.

    A program that compiles one function for many shapes runs with and without FRAMEDEX_FFI=0, in turns. Then the
    benchmark adds copies of its calls and compilations to the index (ten minutes).
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.py").write_text(COMPILING_PROGRAM)
        times: dict[str, list[float]] = {"1": [], "0": []}
        for _ in range(rounds):
            for ffi, seconds in times.items():
                output = run_framedex(folder, "run", "program.py", FRAMEDEX_FFI=ffi).output
                seconds += json.loads(output.splitlines()[0])
        noted, plain = (statistics.median(times[ffi]) * 1e3 for ffi in ("1", "0"))
        print(f"processor time of a compilation: {noted:.2f} ms noted, {plain:.2f} ms not: {noted / plain:.3f}")
        indexed = 2 * rounds * COMPILATIONS_PER_RUN
        print(f"framedex index of {indexed:,} compilations: {run_framedex(folder, 'index').processor_s:.2f} s")
        _add_compilations(folder / ".framedex" / "index.db", calls, compilations, programs)
        listed = min(run_framedex(folder, "compiles", "--capture", "all").processor_s for _ in range(5))
    title = f"framedex compiles, {compilations:,} compilations of {programs:,} programs among {calls:,} calls"
    print(f"{title}: {listed:.2f} s")
    return [
        Figure("compilation with notes of JAX and FFI", noted, "ms of a processor", "FRAMEDEX_FFI=0", noted / plain),
        Figure(title, listed, "s of a processor"),
    ]


def _add_compilations(index: Path, calls: int, compilations: int, programs: int) -> None:
    """Add calls and compilations to the latest capture of an index, as copies of existing rows."""
    with sqlite3.connect(index) as connection:
        of_last = "capture = (SELECT max(capture) FROM compilations)"
        (last, model) = connection.execute(f"SELECT max(call), min(call) FROM compilations WHERE {of_last}").fetchone()
        (known,) = connection.execute("SELECT count(*) FROM programs").fetchone()
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO programs(digest,"
            " name, function, defined, signature, size, ops, problem, run) SELECT i, name, function, defined, replace("
            " signature, 'float32[1]', 'float32[' || (i + 1000) || ']'), size, ops, problem, run FROM n, programs"
            " WHERE id = (SELECT program FROM compilations WHERE call = ?)",
            (programs - known, model),
        )
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO call_rows SELECT"
            " (SELECT max(id) FROM call_rows) + i, kind, NULL, start + i, duration, arguments FROM n, call_rows"
            " WHERE id = ?",
            (calls, model),
        )
        (first,) = connection.execute("SELECT max(id) FROM call_rows").fetchone()
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1) INSERT INTO compilations("
            " call, capture, program, executable, options, noted, problem) SELECT ? - ? + 1 + i, capture, 1 + i % ?,"
            " NULL, options, noted, '' FROM n, compilations WHERE call = ?",
            (compilations, first, compilations, programs, last),
        )
        connection.execute(
            "UPDATE captures SET last_call = ?, calls = calls + ? WHERE id = (SELECT max(id) FROM captures)",
            (first, calls),
        )


# --- memory and waits by line -----------------------------------------------------------------------------------------

PUT_PROGRAM = """
import sys
import jax, numpy as np
array = np.arange(6, dtype=np.float32).reshape(2, 3)
for _ in range(int(sys.argv[1])):
    jax.device_put(array)
"""
STEP_PROGRAM = """
import sys
import jax, jax.numpy as jnp, numpy as np
step = jax.jit(lambda state, batch: (jax.tree.map(lambda s: s + batch.sum(), state), batch * 2), donate_argnums=0)
state = [jax.device_put(np.ones((8, 8), np.float32)) for _ in range(4)]
for _ in range(int(sys.argv[1])):
    state, result = step(state, jax.device_put(np.ones((8, 8), np.float32)))
"""
WAIT_PROGRAM = """
import sys, threading
import jax, numpy as np
ran, over = threading.Semaphore(0), threading.Event()
run = jax.jit(lambda x: x + 1)
def when_both_ran(x):
    for _ in range(4):
        ran.acquire()
    return np.asarray(x)
wait = jax.jit(lambda x: jax.pure_callback(when_both_ran, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
def work():
    value = one
    while not over.is_set():
        for _ in range(2_500):
            value = run(value)
        ran.release()
one = jax.device_put(np.ones(4, np.float32))
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(int(sys.argv[1])):
    wait(one).block_until_ready()
over.set()
for thread in threads:
    thread.join()
"""


COST_PROGRAMS = {  # with the number of calls of an iteration
    "puts": (PUT_PROGRAM, 11),
    "steps": (STEP_PROGRAM, 50),
    "waiting thread": (WAIT_PROGRAM, 100_000),
}
WRITE_COSTS = """
import resource, sqlite3, sys, time
from framedex.index.write.costs.memory import write_memory
from framedex.index.write.costs.waits import write_waits
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN")
if sys.argv[2] == "buffers":
    connection.execute("UPDATE boundaries SET name = 'other ' || name WHERE boundary = 'mock_tpu'")
for write in (write_memory, write_waits):
    began = time.process_time()
    write(connection, 1)
    print(time.process_time() - began)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
connection.execute("ROLLBACK")
"""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--calls", type=int, multiple=True, default=[1_000_000, 10_000_000], help="Number of calls; repeatable.")
@click.option("--rounds", type=int, default=3, show_default=True, help="Number of rounds.")
def costs_by_line(folder: Path, calls: tuple[int, ...], rounds: int) -> list[Figure]:
    """Measure writing and querying the totals of device memory and waits by line.

    Records three programs in FOLDER, or uses the existing recordings (half an hour, once). They are a loop of
    jax.device_put, a loop of steps with donated state, and a thread that waits for two others. "Other plug-in" omits
    the mock's allocator calls. The verbs are wall-clock seconds.
    """
    print_header(
        *("program", "calls", "memory written in, s", "share of index", "waits written in, s", "share of index"),
        *("MiB", "framedex memory, s", "framedex waits, s"),
    )
    figures = []
    for count in calls:
        for name, (program, calls_per_iteration) in COST_PROGRAMS.items():
            recorded = folder.resolve() / f"{name.replace(' ', '-')}-{count}"
            _record_costs(recorded, program, count // calls_per_iteration)
            for pieces in ("allocator", "buffers") if name == "steps" else ("allocator",):
                title = f"{name}{', other plug-in' * (pieces == 'buffers')}"
                figures += _measure_costs(title, recorded, pieces, rounds)
    return figures


def _record_costs(folder: Path, program: str, count: int) -> None:
    """Record and index a program, unless that is done; save the processor seconds of the index."""
    if (folder / "seconds").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.py").write_text(program)
    run_framedex(folder, "run", "-o", "captures", "program.py", str(count))
    index = folder / "index.db"
    index.unlink(missing_ok=True)
    (folder / "seconds").write_text(str(run_framedex(folder, "--index", index, "index", "captures").processor_s))


def _measure_costs(title: str, folder: Path, pieces: str, rounds: int) -> list[Figure]:
    index = str(folder / "index.db")
    with closing(sqlite3.connect(index)) as connection:
        (calls,) = connection.execute("SELECT max(id) FROM call_rows").fetchone()
    command = [sys.executable, "-c", WRITE_COSTS, index, pieces]
    written = [map(float, run_measured(command, folder).output.split()) for _ in range(rounds)]
    memory, waits, peaks = zip(*written, strict=True)
    whole = float((folder / "seconds").read_text())
    cells, figures = [], []
    for name, seconds in (("memory", statistics.median(memory)), ("waits", statistics.median(waits))):
        cells += [f"{seconds:.2f}", f"{seconds / whole:.0%}"]
        label = f"{title}, {calls:,} calls: {name} written"
        figures.append(Figure(label, seconds, "s of a processor", "the whole index", seconds / whole))
    verbs = [_time_verb(verb, index, folder, rounds) for verb in ("memory", "waits")]
    print_row(title, f"{calls:,}", *cells, f"{max(peaks):.0f}", *(f"{seconds:.2f}" for seconds in verbs))
    return figures


def _time_verb(verb: str, index: str, folder: Path, rounds: int) -> float:
    """Wall-clock seconds of a verb with any exit status."""
    taken = []
    for _ in range(rounds):
        began = time.monotonic()
        subprocess.run([*FRAMEDEX, "--index", index, verb], cwd=folder, capture_output=True, check=False)
        taken.append(time.monotonic() - began)
    return statistics.median(taken)


# --- memory of verbs --------------------------------------------------------------------------------------------------

_VERBS = (
    *("captures", "summary", "summary --by-thread", "summary --function Buffer --slower 1us", "check", "ffi --all"),
    *("compiles", "transfers", "memory", "waits", "report -o -"),
    *("calls", "calls --all", "trace BufferFromHostBuffer", "trace <module>", "where loop.py", "where loop.py:5"),
    *("find Buffer", "callers device_put", "callees device_put", "callees '*e*'", "sources", "doctor"),
    *("calls --slower 100us --limit 0", "calls --object buffer#7 --limit 0", "calls --group --limit 0"),
    *(
        "calls --limit 0",
        "calls --all --limit 1000000",
        "calls --json --function BufferFromHost --limit 0 --stack line",
    ),
    *("calls --group --all --limit 0", "calls --all --limit 0", "calls --json --limit 0"),
)


@click.command()
@click.argument("index", type=click.Path(exists=True, path_type=Path))
@click.option("--only", multiple=True, metavar="VERB", help="Measure only this verb; repeatable.")
@click.option("--folder", type=click.Path(path_type=Path), default=Path(), help="Folder of the recorded program.")
@click.option("--limit-mib", type=int, default=1024, show_default=True, help="Exit with status 1 above this memory.")
def verb_memory(index: Path, only: tuple[str, ...], folder: Path, limit_mib: int) -> list[Figure]:
    """Measure peak memory and time of each verb in an index of millions of calls.

    INDEX is an index of a loop of jax.device_put, such as `ingest` makes. The output of a verb goes into a pipe.
    """
    with Index.open(index) as opened:
        calls = sum(capture.calls for capture in opened.captures())
    print(f"{calls:,} calls\n")
    print_header("verb", "MiB", "s", "MB written")
    figures = []
    for verb in only or _VERBS:
        words = [word.strip("'") for word in verb.split()]
        memory, seconds, written = _measure_command([*FRAMEDEX, "--index", str(index.resolve()), *words], folder)
        print_row(verb, f"{memory:,}", f"{seconds:.1f}", f"{written / 1e6:,.1f}")
        figures.append(Figure(f"peak memory of framedex {verb}, {calls:,} calls", memory, "MiB"))
    if max(figure.value for figure in figures) > limit_mib:
        sys.exit(1)
    return figures


def _measure_command(command: Sequence[str], folder: Path) -> tuple[int, float, int]:
    """Run a command and read its output from a pipe; return peak memory in MiB, seconds, and bytes of output."""
    began = time.monotonic()
    started = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert started.stdout is not None
    written = 0
    while piece := os.read(started.stdout.fileno(), 1 << 16):
        written += len(piece)
    _, status, usage = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        sys.exit(f"{' '.join(command[3:])} ended with status {started.returncode}")
    return usage.ru_maxrss // 1024, time.monotonic() - began, written


# --- differing times --------------------------------------------------------------------------------------------------

PRODUCTS_PER_STEP = 4
PRODUCT_PROGRAM = """\
import sys

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    for _ in range(int(sys.argv[1])):
        x = jnp.tanh(x @ x)
    return x


x = jnp.ones((256, 256))
for number in range(60):
    x = step(x)
    x.block_until_ready()
"""


@click.command()
@click.option("--runs", type=int, default=8, show_default=True, help="Runs of each program.")
@click.option("--more", type=float, default=2.5, show_default=True, help="Factor of work in the second program.")
def time_differences(runs: int, more: float) -> list[Figure]:
    """Count how often `framedex diff` reports different times.

    Compares runs of one program, and runs of a program with more work. Other load on the machine matters. Run the
    benchmark on an idle machine and on a busy one.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.py").write_text(PRODUCT_PROGRAM)
        for _ in range(runs):
            for products in (PRODUCTS_PER_STEP, round(PRODUCTS_PER_STEP * more)):
                run_framedex(folder, "run", "program.py", str(products))
        run_framedex(folder, "index")
        pairs = list(itertools.combinations(range(1, 2 * runs + 1), 2))
        figures = []
        for title, is_same in (("the same program", True), (f"{more} times the work", False)):
            chosen = [pair for pair in pairs if (pair[0] % 2 == pair[1] % 2) == is_same]
            count = sum(_has_different_times(folder, *pair) for pair in chosen)
            print(f"{title}: {count} of {len(chosen)} pairs have different times")
            figures.append(Figure(f"pairs of {title} with different times", count, f"of {len(chosen)}"))
    return figures


def _has_different_times(folder: Path, before: int, after: int) -> bool:
    arguments = ("diff", str(before), str(after), "--only", "times", "--format", "json")
    found = json.loads(run_framedex(folder, *arguments).output)
    return any(found[name] for name in ("functions", "lines", "loops"))


# --- memory inside programs ------------------------------------------------------------------------------------------

TEMPORARIES_PROGRAM = ROOT / "benchmarks" / "programs" / "temporaries.py"


@click.command()
def program_memory() -> list[Figure]:
    """Compare the temporaries of 30 programs with XLA's own texts: their total, their peak, and its live values.

    XLA writes the texts with `--xla_dump_to`. Equal means to the byte.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        flags = f"--xla_dump_to={folder / 'dump'}"
        ran = run_framedex(folder, "run", "--devices", "8", TEMPORARIES_PROGRAM, XLA_FLAGS=flags)
        totals: dict[str, int] = json.loads(ran.output.splitlines()[0])
        (programs,) = folder.glob(".framedex/captures/*/programs")
        found = dict(filter(None, map(_read_program_memory, programs.iterdir())))
        dumps = read_dumps(folder / "dump")
    print_header("program", "temporaries", "equal total", "peak", "equal live values at it")
    equal = 0
    for program, total in totals.items():
        memory, dump = found[f"jit_{program}"], dumps[f"jit_{program}"]
        has_equal_total, has_equal_peak = total == dump.temporaries, dump.has_equal_peak(memory)
        print_row(program, f"{total:,}", has_equal_total, f"{memory.peak:,}", has_equal_peak)
        equal += has_equal_total and has_equal_peak
    name = "programs with the total, the peak and the live values of XLA's own texts"
    return [Figure(name, equal, f"of {len(totals)}")]


def _read_program_memory(file: Path) -> tuple[str, ProgramMemory] | None:
    """Return the name of the module in a kept program and its memory; None if it has no temporaries."""
    data = file.read_bytes()
    memory = read_program_memory(data)
    return None if memory is None else (Module(Message(data).content(1)).name, memory)
