"""What telling the memory of devices and waits by line takes: when a capture is indexed, and when it is asked for.

    python benchmarks/costs_by_line.py FOLDER [--calls 1_000_000 10_000_000] [--rounds 3]

Records in FOLDER, for each number of calls, a loop of `jax.device_put`, a loop of steps that are given their state for
good, and a thread that waits while two others run programs; what is there already is used again. For each it tells the
processor time of writing what was alive and who waited, as the medians of the rounds, their shares of the whole
`framedex index`, the most memory that they take, and the seconds of `framedex memory` and `framedex waits` by the
clock. Of the steps also as for another plug-in, without what the mock TPU's allocator says.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]
PUTS = """
import sys
import jax, numpy as np
array = np.arange(6, dtype=np.float32).reshape(2, 3)
for _ in range(int(sys.argv[1])):
    jax.device_put(array)
"""
STEPS = """
import sys
import jax, jax.numpy as jnp, numpy as np
step = jax.jit(lambda state, batch: (jax.tree.map(lambda s: s + batch.sum(), state), batch * 2), donate_argnums=0)
state = [jax.device_put(np.ones((8, 8), np.float32)) for _ in range(4)]
for _ in range(int(sys.argv[1])):
    state, result = step(state, jax.device_put(np.ones((8, 8), np.float32)))
"""
BESIDE = """
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
PROGRAMS = {"puts": (PUTS, 11), "steps": (STEPS, 50), "beside": (BESIDE, 100_000)}  # with the calls of a round
WRITE = """
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


def main() -> None:
    """Measure each capture, and print a table for RESULTS.md."""
    options = _options()
    written = ("memory written in, s", "share of index", "waits written in, s", "share of index", "MiB")
    columns = ("program", "calls", *written, "`framedex memory`, s", "`framedex waits`, s")
    print(f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", sep="\n")
    for calls in options.calls:
        for name, (program, calls_of_a_round) in PROGRAMS.items():
            folder = options.folder.resolve() / f"{name}-{calls}"
            _record(folder, program, calls // calls_of_a_round)
            for pieces in ("allocator", "buffers") if name == "steps" else ("allocator",):
                cells = _measured(folder, pieces, options.rounds)
                print(f"| {name}{', other plug-in' * (pieces == 'buffers')} | {cells} |", flush=True)


def _record(folder: Path, program: str, count: int) -> None:
    if (folder / "seconds").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.py").write_text(program)
    _run([*FRAMEDEX, "run", "-o", "captures", "program.py", str(count)], folder)
    index = folder / "index.db"
    index.unlink(missing_ok=True)
    before = sum(os.times()[2:4])
    _run([*FRAMEDEX, "--index", str(index), "index", "captures"], folder)
    (folder / "seconds").write_text(str(sum(os.times()[2:4]) - before))


def _measured(folder: Path, pieces: str, rounds: int) -> str:
    index = str(folder / "index.db")
    with closing(sqlite3.connect(index)) as connection:
        (calls,) = connection.execute("SELECT max(id) FROM call_rows").fetchone()
    written = [map(float, _run([sys.executable, "-c", WRITE, index, pieces], folder).split()) for _ in range(rounds)]
    of_memory, of_waits, most = zip(*written, strict=True)
    whole = float((folder / "seconds").read_text())
    cells = [f"{calls:,}"]
    for seconds in map(statistics.median, (of_memory, of_waits)):
        cells += (f"{seconds:.2f}", f"{seconds / whole:.0%}")
    asked = (f"{_asked(verb, index, folder, rounds):.2f}" for verb in ("memory", "waits"))
    return " | ".join((*cells, f"{max(most):.0f}", *asked))


def _asked(verb: str, index: str, folder: Path, rounds: int) -> float:
    """The seconds of a verb by the clock, whether or not there is something to tell."""
    took = []
    for _ in range(rounds):
        began = time.monotonic()
        subprocess.run([*FRAMEDEX, "--index", index, verb], cwd=folder, capture_output=True, check=False)
        took.append(time.monotonic() - began)
    return statistics.median(took)


def _run(command: Sequence[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
