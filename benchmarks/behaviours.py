"""What behaviours cost: `jax.device_put` of four floats without one, with one on another function, and on its own.

    python benchmarks/behaviours.py [--rounds N] [--calls N]

The three take turns in one process, unrecorded, on the mock TPU; times are microseconds a call, the best and the median
of the rounds.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import framedex_native

os.environ |= {
    "FRAMEDEX_RECORD": "0",
    "JAX_PLATFORMS": "tpu,cpu",
    "TPU_LIBRARY_PATH": str(framedex_native.library_path()),
}

import jax
import numpy as np

from framedex_native.behaviour import Call, active, on

ROWS = {"without behaviours": "", "with one on another function": "PJRT_Client_Compile",
        "with one that runs the call": "PJRT_Client_BufferFromHostBuffer"}  # fmt: skip


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=3000)
    options = parser.parse_args()
    measured(options.calls)
    times: dict[str, list[float]] = {row: [] for row in ROWS}
    for _ in range(options.rounds):
        for row, function in ROWS.items():
            with running(function):
                times[row].append(measured(options.calls))
    print("| `PJRT_Client_BufferFromHostBuffer` | best, us | median, us |\n|---|---|---|")
    for row, each in times.items():
        print(f"| {row} | {min(each):.1f} | {sorted(each)[len(each) // 2]:.1f} |")


@contextmanager
def running(function: str) -> Iterator[None]:
    """With a behaviour on this function that runs it; without a name with none."""
    with active():
        if function:
            on(function)(run)
        yield


def run(call: Call) -> None:
    """Do what happens without it."""
    call.run()


def measured(calls: int) -> float:
    """Microseconds a call."""
    values = np.ones(4, np.float32)
    start = time.perf_counter()
    for _ in range(calls):
        jax.device_put(values)
    return (time.perf_counter() - start) / calls * 1e6


if __name__ == "__main__":
    main()
