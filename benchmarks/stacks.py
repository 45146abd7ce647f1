"""What one stack costs, measured at a PJRT call inside a real JAX process.

    python benchmarks/stacks.py [--runs 5] [--python PATH...]

Builds native/ with its benchmark plug-in, which stands between JAX and the mock TPU and at a `jax.device_put` runs
every variant in turn, interleaved, on the stack it was called on. Prints medians over runs in nanoseconds, and ratios.
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

from native_build import built

import framedex_native

PROGRAM = """
import jax, numpy as np
array = np.arange(6, dtype=np.float32).reshape(2, 3)
def user_function(depth):
    # Python - C++ - Python: each level adds native frames, up to the 40 to 50 of a real program.
    if depth:
        return jax.tree_util.tree_map(lambda leaf: user_function(depth - 1), 0)
    return jax.device_put(array)
for _ in range(100):
    user_function(4)
"""


def main() -> None:
    """Build, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--python", nargs="*", default=[sys.executable])
    options = parser.parse_args()
    plugin = built("stack_benchmark", "libstack_benchmark.so")
    for python in options.python:
        runs = [measure(python, plugin) for _ in range(options.runs)]
        show(python, {name: statistics.median(run[name] for run in runs) for name in runs[0]})


def measure(python: str, plugin: Path) -> dict[str, float]:
    """One process: the median of every variant, in nanoseconds."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        environment = os.environ | {
            "TPU_LIBRARY_PATH": str(plugin),
            "FRAMEDEX_BENCHMARK_PLUGIN": str(framedex_native.library_path()),
            "FRAMEDEX_BENCHMARK_RESULT": str(result),
            "FRAMEDEX_OUT": folder,
        }
        subprocess.run([python, "-c", PROGRAM], env=environment, check=True)
        values: dict[str, float] = json.loads(result.read_text())
    return values


def show(python: str, medians: dict[str, float]) -> None:
    """Print the table of one interpreter."""
    libgcc = medians["libgcc"]
    print(f"{python}: {medians['native_frames']:.0f} native frames, {medians['merged_frames']:.0f} merged")
    print(f"  {'':34}{'ns':>9}{'libgcc /':>10}")
    for name in (
        "libgcc",
        "native_walk",
        "native_known",
        "merged_interned",
        "merged_in_turn",
        "replay",
        "recorded_call",
        "idle_call",
    ):
        print(f"  {name:34}{medians[name]:9.1f}{libgcc / medians[name]:10.1f}")
    print(f"  replay / merged_interned {medians['replay'] / medians['merged_interned']:.2f}")
    print(f"  recorded_call - replay   {medians['recorded_call'] - medians['replay']:.1f} ns")


if __name__ == "__main__":
    main()
