"""What a program pays on the mock TPU, recorded and not, against JAX's CPU backend: calls, compiling, start-up.

    python benchmarks/dispatch.py [--rounds 9] [--calls 200] [--repeats 30]

Each round starts a process for each of the three in turn, in rotating order; a process warms up, then measures
everything and prints it. The table has medians over the rounds, and the median of their ratios with the range.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

import framedex_native

PROGRAM = """
import json, sys, time
begin = time.perf_counter()
import jax, jax.numpy as jnp, numpy as np
step = jax.jit(lambda x: x + 1)
jax.block_until_ready(step(np.float32(1)))
found = {"start": time.perf_counter() - begin}
count, REPEATS = int(sys.argv[1]), int(sys.argv[2])

def best(function, calls):
    function(calls)
    times = []
    # Short loops and the best of many: what else the machine does only ever adds.
    for _ in range(REPEATS):
        begin = time.perf_counter()
        function(calls)
        times.append((time.perf_counter() - begin) / calls)
    return min(times)

def blocked(calls):
    for _ in range(calls):
        step(x).block_until_ready()

def pipelined(calls):
    for _ in range(calls):
        y = step(x)
    y.block_until_ready()

def chained(calls):
    y = x
    for _ in range(calls):
        y = step(y)
    y.block_until_ready()

def fifty(calls):
    for _ in range(calls):
        jax.block_until_ready(many(fifty_arrays))

def moved(calls):
    for _ in range(calls):
        np.asarray(step(array))

def compiled(calls):
    for i in range(calls):
        compiled.number += 1
        jax.jit(lambda x, n=compiled.number: jnp.sin(x) * n).lower(x).compile()

compiled.number = 0
array = np.arange(16, dtype=np.float32)
x = jax.device_put(array)
many = jax.jit(lambda xs: [x + 1 for x in xs])
fifty_arrays = [jax.device_put(array + i) for i in range(50)]
found["blocked"] = best(blocked, count)
found["pipelined"] = best(pipelined, count)
found["chained"] = best(chained, count)
found["moved"] = best(moved, count)
found["fifty"] = best(fifty, max(1, count // 20))
found["compiled"] = best(compiled, 1)
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of the table: a key of what PROGRAM prints, and the factor that makes its unit of seconds."""

    key: str
    title: str
    unit: str
    factor: float


FIGURES = (
    Figure("blocked", "jit call and block", "us", 1e6),
    Figure("pipelined", "jit call, pipelined", "us", 1e6),
    Figure("chained", "jit call on the last one's result", "us", 1e6),
    Figure("moved", "NumPy in, NumPy out", "us", 1e6),
    Figure("fifty", "50 arrays in, 50 out, and block", "us", 1e6),
    Figure("compiled", "lower and compile a small program", "ms", 1e3),
    Figure("start", "import jax to the first result", "ms", 1e3),
    Figure("process", "the whole of a small program", "ms", 1e3),
)
CPU, MOCK, RECORDED = "CPU backend", "mock", "mock, recorded"
WAYS = (CPU, MOCK, RECORDED)


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=200, help="in a loop that is timed")
    parser.add_argument("--repeats", type=int, default=30, help="of the loop, of which the best counts")
    parser.add_argument("--devices", type=int, default=1, help="of the mock")
    parser.add_argument("--library", help="another libtpu.so than the installed mock")
    options = parser.parse_args()
    rounds: list[dict[str, dict[str, float]]] = []
    for number in range(options.rounds):
        order = [*WAYS[number % 3 :], *WAYS[: number % 3]]
        rounds.append({way: measure(way, options) for way in order})
    show(rounds)


def measure(way: str, options: argparse.Namespace) -> dict[str, float]:
    """Seconds of each figure, in processes of their own."""
    with tempfile.TemporaryDirectory() as captures:
        environment = environment_of(way, captures, options)
        figures: dict[str, float] = json.loads(run([PROGRAM, str(options.calls), str(options.repeats)], environment))
        begin = time.perf_counter()
        run(["import jax; jax.jit(lambda x: x + 1)(1.0).block_until_ready()"], environment)
        return figures | {"process": time.perf_counter() - begin}


def run(program: Sequence[str], environment: dict[str, str]) -> str:
    command = [sys.executable, "-c", *program]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def environment_of(way: str, captures: str, options: argparse.Namespace) -> dict[str, str]:
    """The environment in which JAX finds the device, and is recorded or not."""
    steering = ("JAX_", "TPU_", "FRAMEDEX_")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    if way == CPU:
        return plain | {"JAX_PLATFORMS": "cpu"}
    record = {"FRAMEDEX_OUT": captures} if way == RECORDED else {"FRAMEDEX_RECORD": "0"}
    library = options.library or framedex_native.library_path().as_posix()
    mock = {"TPU_LIBRARY_PATH": library, "FRAMEDEX_DEVICES": str(options.devices)}
    return plain | mock | record


def show(rounds: Sequence[dict[str, dict[str, float]]]) -> None:
    print("| | unit | CPU backend | mock | recorded | mock to CPU | recorded to mock |")
    print("|---|---|---|---|---|---|---|")
    for figure in FIGURES:
        times = {way: [one[way][figure.key] * figure.factor for one in rounds] for way in WAYS}
        shown = [f"{statistics.median(times[way]):.1f}" for way in WAYS]
        ratios = [ratio(times[MOCK], times[CPU]), ratio(times[RECORDED], times[MOCK])]
        print(f"| {figure.title} | {figure.unit} | {' | '.join([*shown, *ratios])} |")


def ratio(times: Sequence[float], others: Sequence[float]) -> str:
    """The median of the rounds' ratios, and their range."""
    found = [time / other for time, other in zip(times, others, strict=True)]
    return f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})"


if __name__ == "__main__":
    main()
