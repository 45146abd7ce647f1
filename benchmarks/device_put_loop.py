"""What recording costs a program: a loop of jax.device_put on the mock TPU, recorded and not, in turn.

    python benchmarks/device_put_loop.py [--rounds 9] [--calls 3000] [--other LIBTPU]

Each round starts one process with recording on and one with FRAMEDEX_RECORD=0, and one recorded by the libtpu.so of
another framedex if that is given, in turns; a process warms up, then times the loop. Prints medians in microseconds per
device_put: of the clock in the fastest fifth of the loop, of the thread's processor time, and of that of all other
threads (the recorder's makes the capture's files ready); the size of the capture per call, and the median of the
rounds' ratios of the clock and of the thread's time.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import framedex_native

LOOP = """
import json, sys, time
import jax, numpy as np
array = np.arange(6, dtype=np.float32).reshape(2, 3)
CLOCKS = time.perf_counter_ns, time.thread_time_ns, time.process_time_ns
def loop(count):
    begin = [clock() for clock in CLOCKS]
    for _ in range(count):
        jax.device_put(array)
    return [(clock() - before) / count for clock, before in zip(CLOCKS, begin)]
count = int(sys.argv[1])
loop(500)
elapsed, thread, process = zip(*[loop(count // 5) for _ in range(5)])
print(json.dumps([min(elapsed), sum(thread) / 5, (sum(process) - sum(thread)) / 5]))
"""


@dataclass(frozen=True)
class Costs:
    """Of one process: nanoseconds per device_put, and bytes of the capture per call (0 where nothing is recorded)."""

    elapsed: float
    thread: float
    others: float
    size: float


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--other", type=Path, help="the libtpu.so of another framedex")
    options = parser.parse_args()
    here = framedex_native.library_path()
    kinds = {"unrecorded mock": (here, "0"), "recorded": (here, "1")}
    if options.other is not None:
        kinds["recorded by the other"] = (options.other, "1")
    costs: dict[str, list[Costs]] = {name: [] for name in kinds}
    for number in range(options.rounds):
        turn = number % len(kinds)
        for name in (*list(kinds)[turn:], *list(kinds)[:turn]):
            costs[name].append(run(*kinds[name], options.calls))
    print(f"{'us per device_put':<24} {'clock':>8} {'thread':>8} {'others':>8} {'bytes a call':>14}")
    for name, found in costs.items():
        clock, thread, others = (
            statistics.median(times) / 1e3
            for times in zip(*((c.elapsed, c.thread, c.others) for c in found), strict=True)
        )
        print(f"{name:<24} {clock:8.2f} {thread:8.2f} {others:8.2f} {statistics.median(c.size for c in found):14.1f}")
    plain = costs.pop("unrecorded mock")
    for name, found in costs.items():
        for what in ("elapsed", "thread"):
            ratios = [getattr(on, what) / getattr(off, what) for on, off in zip(found, plain, strict=True)]
            low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
            print(
                f"{name}, ratio of {what:<8} {middle:8.3f} median of {options.rounds} rounds ({low:.3f} to {high:.3f})"
            )


def run(library: Path, record: str, calls: int) -> Costs:
    """One process."""
    with tempfile.TemporaryDirectory() as captures:
        environment = os.environ | {
            "TPU_LIBRARY_PATH": str(library),
            "FRAMEDEX_OUT": captures,
            "FRAMEDEX_RECORD": record,
        }
        command = [sys.executable, "-c", LOOP, str(calls)]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        elapsed, thread, others = json.loads(done.stdout)
        # Each device_put makes nine calls, the first 500 included; the files' unused ends are part of their size.
        size = sum(file.stat().st_size for file in Path(captures).glob("*/thread-*.fdx")) / (9 * (calls + 500))
        return Costs(elapsed, thread, others, size)


if __name__ == "__main__":
    main()
