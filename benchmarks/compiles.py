"""What `framedex compiles` takes where much was compiled, and what noting costs a compilation.

    python benchmarks/compiles.py [--calls 10_000_000] [--compilations 100_000] [--programs 1_000] [--rounds 3]

Records a program that compiles one function for many shapes, with and without the notes of what JAX knows
(`FRAMEDEX_FFI=0`), in turns, and tells the median processor time of a compilation of each, and how long
`framedex index` takes for all. Then the index is filled up: with calls that compile nothing, and with
compilations by the lines of those that are there, of so many distinct programs. All times are the processor's, that of
the verb the least of five.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILED = 100
PROGRAM = f"""\
import json, time
import jax, numpy as np


@jax.jit
def step(params, x):
    return jax.tree.map(lambda p: p * x.sum(), params)


params = {{str(number): np.ones(3, np.float32) for number in range(20)}}
taken = []
for size in range({COMPILED}):
    begin = time.process_time()
    step(params, np.ones(size + 1, np.float32))
    taken.append(time.process_time() - begin)
print(json.dumps(taken))
"""
CLI = "from framedex.commands.main import cli; cli(prog_name='framedex')"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000_000)
    parser.add_argument("--compilations", type=int, default=100_000)
    parser.add_argument("--programs", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.py").write_text(PROGRAM)
        times: dict[str, list[float]] = {"1": [], "0": []}
        for _ in range(options.rounds):
            for each, taken in times.items():
                taken += json.loads(_framedex(folder, "run", "program.py", FRAMEDEX_FFI=each).splitlines()[0])
        noted, plain = (statistics.median(times[each]) * 1e3 for each in ("1", "0"))
        print(f"processor time of a compilation: {noted:.2f} ms noted, {plain:.2f} ms not: {noted / plain:.3f}")
        began = _processor_time()
        _framedex(folder, "index")
        indexed = 2 * options.rounds * COMPILED
        print(f"framedex index of {indexed:,} compilations: {_processor_time() - began:.2f} s")
        _fill(folder / ".framedex" / "index.db", options.calls, options.compilations, options.programs)
        taken = []
        for _ in range(5):
            began = _processor_time()
            _framedex(folder, "compiles", "--capture", "all")
            taken.append(_processor_time() - began)
        print(
            f"framedex compiles, {options.compilations:,} compilations of {options.programs:,} programs among"
            f" {options.calls:,} calls: {min(taken):.2f} s"
        )


def _processor_time() -> float:
    """Seconds that the processes which have ended took, user and system."""
    of_children = os.times()
    return of_children.children_user + of_children.children_system


def _framedex(folder: Path, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-c", CLI, *arguments],
        cwd=folder,
        env=os.environ | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def _fill(index: Path, calls: int, compilations: int, programs: int) -> None:
    """Add calls and compilations to the latest capture of an index, each like one that is there."""
    with sqlite3.connect(index) as connection:
        of_last = "capture = (SELECT max(capture) FROM compilations)"
        (last, model) = connection.execute(f"SELECT max(call), min(call) FROM compilations WHERE {of_last}").fetchone()
        (known,) = connection.execute("SELECT count(*) FROM programs").fetchone()
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO programs(digest,"
            " name, function, defined, signature, size, ops, problem) SELECT i, name, function, defined, replace("
            " signature, 'float32[1]', 'float32[' || (i + 1000) || ']'), size, ops, problem FROM n, programs WHERE id ="
            " (SELECT program FROM compilations WHERE call = ?)",
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


if __name__ == "__main__":
    main()
