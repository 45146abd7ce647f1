"""Time the mock TPU's allocator at steady state, beside the C library's: `device_memory.py`."""

from __future__ import annotations

import json
import os
import subprocess

from native_build import built


def main() -> None:
    """Build the benchmark, run it unrecorded, and print a table of nanoseconds for one release and one allocation."""
    environment = os.environ | {"FRAMEDEX_RECORD": "0"}
    benchmark = built("device_memory_benchmark", "device_memory_benchmark")
    output = subprocess.run([benchmark], check=True, capture_output=True, text=True, env=environment).stdout
    print("| distinct sizes | DeviceMemory, ns | malloc, ns |\n|---|---|---|")
    for row in map(json.loads, output.splitlines()):
        print(f"| {row['distinct_sizes']} | {row['device_memory_ns']} | {row['malloc_ns']} |")


if __name__ == "__main__":
    main()
