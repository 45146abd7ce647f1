"""Parts that several benchmarks share: commands with their costs, environments, native builds and statistics."""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import framedex_native

ROOT = Path(__file__).resolve().parents[1]
FRAMEDEX = (sys.executable, "-m", "framedex")
EMPTY_PYTHON = (sys.executable, "-c", "pass")

Command = Sequence[str | Path]


@dataclass(frozen=True, slots=True)
class Cost:
    """Resources that a finished process used, with its children: seconds, peak memory in MiB, and its output."""

    wall_s: float
    processor_s: float
    memory_mib: float
    output: str


def run_measured(command: Command, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end and return its cost. Ends the benchmark if the command fails."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        began = perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (output, errors):
            file.seek(0)
        if process.returncode:
            reason = errors.read().decode(errors="replace")[-1000:]
            raise SystemExit(f"{' '.join(map(str, command))} ended with status {process.returncode}: {reason}")
        text = output.read().decode(errors="replace")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def run_framedex(folder: Path, *arguments: str | Path, **environment: str) -> Cost:
    """Run framedex in a folder and return its cost."""
    return run_measured([*FRAMEDEX, *arguments], folder, os.environ | environment)


def mock_environment(captures: Path | str | None, library: Path | None = None) -> dict[str, str]:
    """The environment of a program on the mock TPU, recorded into a folder, or unrecorded without one."""
    record = {"FRAMEDEX_RECORD": "0"} if captures is None else {"FRAMEDEX_RECORD": "1", "FRAMEDEX_OUT": str(captures)}
    return os.environ | {"TPU_LIBRARY_PATH": str(library or framedex_native.library_path())} | record


def neutral_environment() -> dict[str, str]:
    """The environment of this process without variables that steer JAX, the TPU runtime or framedex."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "TPU_", "FRAMEDEX_"))}


def bytecode_environment() -> dict[str, str]:
    """The environment of this process, in which Python caches byte code as it does for users."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def build_native(target: str, file: str) -> Path:
    """Build a benchmark target of native/CMakeLists.txt, optimised as in a wheel; return the path of its file."""
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


def jaxlib_library() -> Path:
    """The library with most functions of the installed jaxlib. Ends the benchmark if jaxlib is not installed."""
    spec = importlib.util.find_spec("jaxlib")
    if spec is None or spec.origin is None:
        raise SystemExit("jaxlib is not installed. Install it, or name a binary.")
    return Path(spec.origin).with_name("libjax_common.so")


def jax_folder() -> Path:
    """The folder of the installed jax package. Ends the benchmark if jax is not installed."""
    spec = importlib.util.find_spec("jax")
    if spec is None or spec.origin is None:
        raise SystemExit("jax is not installed. Install it: pip install 'framedex[record]'.")
    return Path(spec.origin).parent


def percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    """The median and the 99th percentile."""
    return statistics.median(seconds), statistics.quantiles(seconds, n=100)[98]


def median_ratio(values: Sequence[float], peers: Sequence[float]) -> tuple[float, str]:
    """The median ratio of paired values, and a text with the median and the range."""
    ratios = [value / peer for value, peer in zip(values, peers, strict=True)]
    median = statistics.median(ratios)
    return median, f"{median:.3f} ({min(ratios):.3f} to {max(ratios):.3f})"


def print_header(*columns: str) -> None:
    """Print the heading of a Markdown table."""
    print(f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", sep="\n")


def print_row(*cells: object) -> None:
    """Print a row of a Markdown table at once."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
