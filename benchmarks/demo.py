"""How long `make demo` takes after set-up, step by step, and how quickly the command line starts.

    python benchmarks/demo.py [--rounds 5]

Each round has `framedex demo` make its folder, then does there what it does, one by one: run, index, trace. The program
alone (on the mock TPU, unrecorded), the interpreter alone and `framedex --help` take their turns in the same rounds.
Seconds of wall time, and of the processor, medians.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
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
FUNCTION = "PJRT_Client_BufferFromHostBuffer"


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    one_round()  # warms the file cache
    show([one_round() for _ in range(options.rounds)])


def one_round() -> dict[str, tuple[float, float]]:
    """Seconds of every command, on the clock and of the processor, in a fresh folder of the demo."""
    commands: dict[str, Sequence[str | Path]] = {
        "framedex demo": [FRAMEDEX, "demo", "--folder", "."],
        "framedex run": [FRAMEDEX, "run", "device_put.py"],
        "framedex index": [FRAMEDEX, "index", "--source", jax_sources(), "--source", ROOT / "native"],
        "framedex trace": [FRAMEDEX, "trace", FUNCTION],
        "framedex --help": [FRAMEDEX, "--help"],
        "the program alone": [sys.executable, "device_put.py"],
        "python -c pass": [sys.executable, "-c", "pass"],
    }
    with tempfile.TemporaryDirectory() as folder:
        times = {"framedex demo": seconds(commands.pop("framedex demo"), Path(folder))}
        shutil.rmtree(Path(folder) / ".framedex")
        return times | {name: seconds(command, Path(folder)) for name, command in commands.items()}


def seconds(command: Sequence[str | Path], folder: Path) -> tuple[float, float]:
    """The time of a command, which has to succeed: on the clock, and of the processor."""
    # The library is named for the program alone: `framedex run` names it itself.
    environment = os.environ | {"TPU_LIBRARY_PATH": os.fspath(framedex_native.library_path())}
    environment["FRAMEDEX_RECORD"] = "1" if command[0] == FRAMEDEX else "0"
    begin, before = time.perf_counter(), processor()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin, processor() - before


def processor() -> float:
    """Seconds of the processor that the commands so far have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def jax_sources() -> Path:
    spec = importlib.util.find_spec("jax")
    if spec is None or spec.origin is None:
        raise SystemExit("jax is not installed.")
    return Path(spec.origin).parent


def show(rounds: list[dict[str, tuple[float, float]]]) -> None:
    """Print the medians, and the least and the most of the rounds."""
    print("| what | on the clock | least to most | of the processor |\n|---|---|---|---|")
    for name in rounds[0]:
        clock, used = ([one[name][kind] for one in rounds] for kind in (0, 1))
        print(
            f"| {name} | {statistics.median(clock):.2f} s | {min(clock):.2f} to {max(clock):.2f} |"
            f" {statistics.median(used):.2f} s |"
        )


if __name__ == "__main__":
    main()
