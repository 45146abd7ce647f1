"""What recording costs a program: a loop of jax.device_put on the mock TPU, recorded and not, in turn.

    python benchmarks/device_put_loop.py [--rounds 9] [--calls 3000]

Each round starts one process with recording on and one with FRAMEDEX_RECORD=0, in alternating order; a process warms
up, then times the loop. Prints medians in microseconds per device_put, and the median of the rounds' ratios.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile

import framedex_native

LOOP = """
import sys, time
import jax, numpy as np
array = np.arange(6, dtype=np.float32).reshape(2, 3)
def loop(count):
    begin = time.perf_counter_ns()
    for _ in range(count):
        jax.device_put(array)
    return (time.perf_counter_ns() - begin) / count
count = int(sys.argv[1])
loop(500)
print(min(loop(count // 5) for _ in range(5)))
"""


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=3000)
    options = parser.parse_args()
    times: dict[str, list[float]] = {"0": [], "1": []}
    for number in range(options.rounds):
        for record in ("01", "10")[number % 2]:
            times[record].append(run(record, options.calls))
    ratios = [on / off for off, on in zip(times["0"], times["1"], strict=True)]
    print(f"unrecorded mock  {statistics.median(times['0']) / 1e3:8.2f} us per device_put")
    print(f"recorded         {statistics.median(times['1']) / 1e3:8.2f} us per device_put")
    low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
    print(f"ratio            {middle:8.3f} median of {options.rounds} rounds ({low:.3f} to {high:.3f})")


def run(record: str, calls: int) -> float:
    """Nanoseconds per device_put in a process of its own."""
    with tempfile.TemporaryDirectory() as captures:
        environment = os.environ | {
            "TPU_LIBRARY_PATH": str(framedex_native.library_path()),
            "FRAMEDEX_OUT": captures,
            "FRAMEDEX_RECORD": record,
        }
        command = [sys.executable, "-c", LOOP, str(calls)]
        return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
