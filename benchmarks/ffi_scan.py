"""What a run of an FFI handler costs: alone, through a trampoline, and recorded.

    python benchmarks/ffi_scan.py [--rounds 7]

A scan of 2,000 runs of a small handler (native/examples: rms_norm of one number), on the CPU. Each way is a process of
its own; the three take their turns in every round, and report the shortest and the median scan of 60, less those of a
scan with two arithmetic operations in the handler's place. Nanoseconds per run; of the rounds the median.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.ffi_running import CPU, UNTRACED, library_for, tracing
from tests.running import plain_environment

WAYS = ("none", "trampoline", "recorded")
PROGRAM = """
import json, statistics, sys, time
import ffi_examples, jax, jax.numpy as jnp, numpy as np
ffi_examples.register(sys.argv[1])
RUNS = 2000
def handler(x, _): return jax.ffi.ffi_call("rms_norm", ffi_examples.like(x))(x, eps=np.float32(1)), ()
def nothing(x, _): return x * 0.5 + 1, ()
x = jnp.ones((1,), jnp.float32)
def nanoseconds(step):
    scan = jax.jit(lambda x: jax.lax.scan(step, x, length=RUNS)[0])
    scan(x).block_until_ready()
    times = []
    for _ in range(60):
        start = time.perf_counter_ns()
        scan(x).block_until_ready()
        times.append((time.perf_counter_ns() - start) / RUNS)
    return min(times), statistics.median(times)
(least, median), (least_of_nothing, median_of_nothing) = nanoseconds(handler), nanoseconds(nothing)
print(json.dumps([least - least_of_nothing, median - median_of_nothing]))
"""


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = [{way: one(way) for way in WAYS} for _ in range(parser.parse_args().rounds)]
    print("| | shortest | median | ratio of shortest | ratio of medians |\n|---|---|---|---|---|")
    for way in WAYS:
        least = statistics.median(measured[way][0] for measured in rounds)
        median = statistics.median(measured[way][1] for measured in rounds)
        ratios = [statistics.median(m[way][i] / m["none"][i] for m in rounds) for i in range(2)]
        print(f"| {way} | {least:.0f} | {median:.0f} | {ratios[0]:.2f} | {ratios[1]:.2f} |")


def one(way: str) -> tuple[float, float]:
    """Nanoseconds per run, the shortest and the median."""
    with tempfile.TemporaryDirectory() as folder:
        environment = plain_environment() | UNTRACED | CPU
        if way != "none":
            environment |= tracing(Path(folder))
        if way == "trampoline":
            environment |= {"FRAMEDEX_RECORD": "0"}
        command = [sys.executable, "-c", PROGRAM, os.fspath(library_for(sys.executable))]
        ended = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    least, median = json.loads(ended.stdout)
    return least, median


if __name__ == "__main__":
    main()
