"""What telling the memory of devices by line takes: when a capture is indexed, and when it is asked for.

    python benchmarks/memory_by_line.py FOLDER [--calls 1_000_000 10_000_000] [--rounds 3]

Records in FOLDER, for each number of calls, a loop of `jax.device_put` and a loop of steps that are given their state
for good; what is there already is used again. For each it tells the processor time of writing what was alive, as the
median of the rounds, its share of the whole `framedex index`, the most memory that it takes, and the seconds of
`framedex memory` by the clock. Of the steps also as for another plug-in, without what the mock TPU's allocator says.
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
PROGRAMS = {"puts": (PUTS, 11), "steps": (STEPS, 50)}  # with the calls of a round
WRITE = """
import resource, sqlite3, sys, time
from framedex.index.write.costs.memory import write_memory
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN")
if sys.argv[2] == "buffers":
    connection.execute("UPDATE boundaries SET name = 'other ' || name WHERE boundary = 'mock_tpu'")
began = time.process_time()
write_memory(connection, 1)
print(time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
connection.execute("ROLLBACK")
"""


def main() -> None:
    """Measure each capture, and print a table for RESULTS.md."""
    options = _options()
    columns = ("program", "calls", "buffers", "written in, s", "share of index", "MiB", "`framedex memory`, s")
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
        (buffers,) = connection.execute("SELECT sum(buffers) FROM memory_devices").fetchone()
    written = [_run([sys.executable, "-c", WRITE, index, pieces], folder).split() for _ in range(rounds)]
    seconds = statistics.median(float(took) for took, _ in written)
    asked = []
    for _ in range(rounds):
        began = time.monotonic()
        _run([*FRAMEDEX, "--index", index, "memory"], folder)
        asked.append(time.monotonic() - began)
    whole = float((folder / "seconds").read_text())
    memory = max(float(most) for _, most in written)
    cells = (f"{calls:,}", f"{buffers:,}", f"{seconds:.2f}", f"{seconds / whole:.0%}", f"{memory:.0f}")
    return " | ".join((*cells, f"{statistics.median(asked):.2f}"))


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
