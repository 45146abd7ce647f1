"""What keeping programs costs a compilation: `python benchmarks/kept_programs.py [--rounds N]`.

A program compiles small functions, each another program, and one with a constant of 20 MB, recorded on the mock TPU
with and without `FRAMEDEX_PROGRAMS=0`, in turns. Prints the median time of a compilation of each kind, and the ratio.
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

import framedex_native

PROGRAM = """\
import json, sys, time
import jax, jax.numpy as jnp, numpy as np

def compiled(function, *arguments):
    lowered = jax.jit(function).lower(*arguments)
    begin = time.perf_counter()
    lowered.compile()
    return time.perf_counter() - begin

x = jnp.arange(4.0)
compiled(lambda x: x - 1, x)
small = [compiled(lambda x: sum(jnp.sin(x * k * number) for k in range(20)), x) for number in range(30)]
constant = np.random.default_rng(0).random(5_000_000, np.float32)
large = [compiled(lambda x: x.sum() + (constant + number).sum(), x) for number in range(3)]
print(json.dumps([small, large]))
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    times: dict[str, tuple[list[float], list[float]]] = {"1": ([], []), "0": ([], [])}
    for _ in range(rounds):
        for kept, (small, large) in times.items():
            of_small, of_large = _measured(kept)
            small += of_small
            large += of_large
    for place, what in enumerate(("20 sines", "a constant of 20 MB")):
        with_it, without = (statistics.median(times[each][place]) for each in ("1", "0"))
        print(f"{what}: {with_it * 1e3:.2f} ms kept, {without * 1e3:.2f} ms not: ratio {with_it / without:.3f}")


def _measured(kept: str) -> tuple[list[float], list[float]]:
    """Seconds of each compilation of the two kinds."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "program.py"
        script.write_text(PROGRAM)
        environment = os.environ | {
            "TPU_LIBRARY_PATH": str(framedex_native.library_path()),
            "FRAMEDEX_OUT": f"{folder}/captures",
            "FRAMEDEX_PROGRAMS": kept,
        }
        done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
        small, large = json.loads(done.stdout.splitlines()[-1])
        return small, large


if __name__ == "__main__":
    main()
