"""How often `framedex diff` tells of times that differ: of one program with itself, and with one that takes longer.

    python benchmarks/times_that_differ.py [--runs 8] [--more 2.5]

A loop of matrix products is recorded on the mock TPU, as often with more products in each round. Other load on the
machine is what this is about: run it on an idle one and on a busy one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PRODUCTS = 4
PROGRAM = """\
import sys

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    for _ in range(int(sys.argv[1])):
        x = jnp.tanh(x @ x)
    return x


x = jnp.ones((256, 256))
for number in range(60):
    x = step(x)
    x.block_until_ready()
"""


def main() -> None:
    """Record, compare each pair, and print how many differ."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--more", type=float, default=2.5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.py").write_text(PROGRAM)
        for _ in range(arguments.runs):
            for products in (PRODUCTS, round(PRODUCTS * arguments.more)):
                _framedex(folder, "run", "program.py", str(products))
        _framedex(folder, "index")
        ids = range(1, 2 * arguments.runs + 1)
        pairs = list(itertools.combinations(ids, 2))
        same = [pair for pair in pairs if pair[0] % 2 == pair[1] % 2]
        other = [pair for pair in pairs if pair[0] % 2 != pair[1] % 2]
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
        print(f"the same program: {sum(_differs(folder, *pair) for pair in same)} of {len(same)} told of a time")
        print(f"{arguments.more} times the work: {sum(_differs(folder, *pair) for pair in other)} of {len(other)}")


def _differs(folder: Path, before: int, after: int) -> bool:
    found = json.loads(_framedex(folder, "diff", str(before), str(after), "--only", "times", "--format", "json"))
    return any(found[name] for name in ("functions", "lines", "loops"))


def _framedex(folder: Path, *words: str) -> str:
    command = [sys.executable, "-m", "framedex", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
