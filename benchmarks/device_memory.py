"""Time the mock TPU's allocator at steady state, beside the C library's: `device_memory.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    """Build the benchmark, run it unrecorded, and print a table of nanoseconds for one release and one allocation."""
    environment = os.environ | {"FRAMEDEX_RECORD": "0"}
    output = subprocess.run([build()], check=True, capture_output=True, text=True, env=environment).stdout
    print("| distinct sizes | DeviceMemory, ns | malloc, ns |\n|---|---|---|")
    for row in map(json.loads, output.splitlines()):
        print(f"| {row['distinct_sizes']} | {row['device_memory_ns']} | {row['malloc_ns']} |")


def build() -> Path:
    """Build the native part and return its path."""
    folder = ROOT / "build" / "benchmarks"
    pybind11 = subprocess.run(
        [sys.executable, "-m", "pybind11", "--cmakedir"], check=True, capture_output=True, text=True
    ).stdout.strip()
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
    configure += ["-DFRAMEDEX_BENCHMARKS=ON", f"-Dpybind11_DIR={pybind11}", f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    command = ["cmake", "--build", str(folder), "--target", "device_memory_benchmark", "--parallel", "2"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "native" / "device_memory_benchmark"


if __name__ == "__main__":
    main()
