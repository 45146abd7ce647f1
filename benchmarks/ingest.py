"""How fast captures come into an index, beside a bare insert of the same rows in C, in the same run.

    python benchmarks/ingest.py FOLDER [--calls 1_000_000 10_000_000] [--programs 100] [--rounds 3]

Records in FOLDER a loop of `jax.device_put` for each number of calls, a training loop with jit, and many short programs
with as many calls in all as the largest loop; what is there already is used again. For each it tells, as medians of the
rounds: calls a second of processor time of `framedex index`, beyond what an index of one run of the same program with a
single round takes; its ratio to inserting as many rows (calls, objects with their index) with prepared statements in C;
its whole processor time and its highest memory; bytes a call of the index and of the captures; and the processor time
of verbs above `python -c pass`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from framedex.captures import CaptureStream, capture_folders, captures_below

FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]
LOOP = """
import sys
import jax, numpy as np
array = np.arange(6, dtype=np.float32).reshape(2, 3)
for _ in range(int(sys.argv[1])):
    jax.device_put(array)
"""
TRAINING = """
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
CALLS_OF_A_PUT, CALLS_OF_A_STEP = 9, 70
VERBS = ("summary", "check", "calls")
BARE_INSERT = Path(__file__).with_name("native") / "bare_insert.c"


COLUMNS = ("captures", "calls", "calls/s", "of bare C", "s in all", "memory", "index B", "capture B", *VERBS)


def main() -> None:
    """Measure each set of captures, and print a table for RESULTS.md."""
    options = _options()
    options.folder.mkdir(parents=True, exist_ok=True)
    bare = _bare_insert(options.folder)
    each = max(options.calls) // options.programs // CALLS_OF_A_STEP
    sets = [(f"loop, {calls:,} calls", LOOP, calls // CALLS_OF_A_PUT, 1) for calls in options.calls]
    sets.append(("training loop", TRAINING, 1_000_000 // CALLS_OF_A_STEP, 1))
    sets.append((f"{options.programs} programs", TRAINING, each, options.programs))
    print(f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}", sep="\n")
    for name, program, count, programs in sets:
        folder = options.folder / name.replace(",", "").replace(" ", "-")
        few = folder.with_name(f"{folder.name}-few")
        _record(few, program, 1, 1)
        _record(folder, program, count, programs)
        print(f"| {name} | {_measured(folder, few, bare, options.rounds)} |", flush=True)


def _measured(folder: Path, few: Path, bare: Path, rounds: int) -> str:
    captures = capture_folders(captures_below(folder))
    calls = sum(CaptureStream(capture).calls for capture in captures)
    seconds, whole, ratios, memory = [], [], [], 0
    for _ in range(rounds):
        start, _ = _indexed(few)
        took, memory = _indexed(folder)
        inserted, _ = _processor([str(bare), str(folder / "bare.db"), *map(str, _rows(folder / "index.db"))])
        whole.append(took)
        seconds.append(took - start)
        ratios.append(seconds[-1] / inserted)
    index = ["--index", str(folder / "index.db")]
    cells = [
        f"{calls:,}",
        f"{calls / statistics.median(seconds):,.0f}",
        f"{statistics.median(ratios):.2f}",
        f"{statistics.median(whole):.1f}",
        f"{memory / 1024:.0f} MiB",
        f"{(folder / 'index.db').stat().st_size / calls:.1f}",
        f"{sum(file.stat().st_size for capture in captures for file in capture.iterdir()) / calls:.1f}",
        *(f"{_above_pass([*FRAMEDEX, *index, verb], rounds):.2f} s" for verb in VERBS),
    ]
    return " | ".join(cells)


def _indexed(folder: Path) -> tuple[float, int]:
    """What `framedex index` of all captures below a folder takes: seconds of processor time, and memory in KiB."""
    index = folder / "index.db"
    index.unlink(missing_ok=True)
    return _processor([*FRAMEDEX, "--index", str(index), "index", str(captures_below(folder))])


def _rows(index: Path) -> list[int]:
    with sqlite3.connect(index) as connection:
        queries = [f"SELECT count(*) FROM {table}" for table in ("call_rows", "object_rows")]
        return [connection.execute(query).fetchone()[0] for query in queries]


def _record(folder: Path, program: str, count: int, programs: int) -> None:
    if folder.exists():
        return
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    for number in range(programs):
        script = unfinished / f"program_{number}.py"
        script.write_text(program)
        subprocess.run([*FRAMEDEX, "run", script.name, str(count)], cwd=unfinished, check=True, capture_output=True)
    unfinished.rename(folder)


def _bare_insert(folder: Path) -> Path:
    """The program that inserts as many rows of calls and objects, built into a folder."""
    target = folder / "bare_insert"
    subprocess.run(["gcc", "-O2", str(BARE_INSERT), "-o", str(target), "-lsqlite3"], check=True)
    return target


def _processor(command: Sequence[str]) -> tuple[float, int]:
    """Seconds of processor time of a command, and the most memory that it had, in KiB."""
    with tempfile.TemporaryFile() as output:
        started = subprocess.Popen(command, stdout=output, stderr=output)
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = status
    if status:
        sys.exit(f"{' '.join(command[-4:])} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def _above_pass(command: Sequence[str], rounds: int) -> float:
    bare = statistics.median(_processor([sys.executable, "-c", "pass"])[0] for _ in range(rounds))
    return statistics.median(_processor(command)[0] for _ in range(rounds)) - bare


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
