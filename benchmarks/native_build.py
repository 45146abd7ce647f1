"""Builds what native/CMakeLists.txt has for benchmarks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def built(target: str, file: str) -> Path:
    """Build a target, optimised as in a wheel; the path of its file."""
    folder = ROOT / "build" / "benchmarks"
    pybind11 = subprocess.run(
        [sys.executable, "-m", "pybind11", "--cmakedir"], check=True, capture_output=True, text=True
    ).stdout.strip()
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-DCMAKE_BUILD_TYPE=RelWithDebInfo"]
    configure += ["-DFRAMEDEX_BENCHMARKS=ON", f"-Dpybind11_DIR={pybind11}", f"-DPython_EXECUTABLE={sys.executable}"]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    command = ["cmake", "--build", str(folder), "--target", target, "--parallel", "2"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder / "native" / file
