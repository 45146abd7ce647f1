"""How long `make demo` takes after set-up, step by step, and how quickly the command line starts.

    python benchmarks/demo.py [--rounds 5]

Each round copies demo/ into an empty folder and does there what demo/demo does: run, index, trace. The program alone
(on the mock TPU, unrecorded), the interpreter alone and `framedex --help` take their turns in the same rounds. Seconds
of wall time, medians.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import framedex_native

ROOT = Path(__file__).resolve().parent.parent
FRAMEDEX = Path(sys.executable).with_name("framedex")
STEPS = ("framedex run", "framedex index", "framedex trace")
FUNCTION = "PJRT_Client_BufferFromHostBuffer"


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    one_round()  # warms the file cache
    show([one_round() for _ in range(options.rounds)])


def one_round() -> dict[str, float]:
    """Seconds of every command, in a fresh copy of the demo."""
    commands: dict[str, Sequence[str | Path]] = {
        "framedex run": [FRAMEDEX, "run", "device_put.py"],
        "framedex index": [FRAMEDEX, "index", "--source", jax_sources(), "--source", ROOT / "native"],
        "framedex trace": [FRAMEDEX, "trace", FUNCTION],
        "framedex --help": [FRAMEDEX, "--help"],
        "the program alone": [sys.executable, "device_put.py"],
        "python -c pass": [sys.executable, "-c", "pass"],
    }
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "demo"
        shutil.copytree(ROOT / "demo", demo, ignore=shutil.ignore_patterns(".framedex"))
        return {name: seconds(command, demo) for name, command in commands.items()}


def seconds(command: Sequence[str | Path], folder: Path) -> float:
    """The wall time of a command, which has to succeed."""
    # The library is named for the program alone: `framedex run` names it itself.
    environment = os.environ | {"TPU_LIBRARY_PATH": os.fspath(framedex_native.library_path())}
    environment["FRAMEDEX_RECORD"] = "1" if command[0] == FRAMEDEX else "0"
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


def jax_sources() -> Path:
    spec = importlib.util.find_spec("jax")
    if spec is None or spec.origin is None:
        raise SystemExit("jax is not installed.")
    return Path(spec.origin).parent


def show(rounds: list[dict[str, float]]) -> None:
    """Print the medians, and the least and the most of the rounds."""
    print("| what | median | least to most |\n|---|---|---|")
    times = {"make demo after set-up": [sum(one[step] for step in STEPS) for one in rounds]}
    times |= {name: [one[name] for one in rounds] for name in rounds[0]}
    for name, values in times.items():
        print(f"| {name} | {statistics.median(values):.2f} s | {min(values):.2f} to {max(values):.2f} |")


if __name__ == "__main__":
    main()
