"""The native fuzzers: native/fuzz has a libFuzzer program for each C++ parser."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "native" / "fuzz"
NAMES = sorted(
    path.stem for path in SOURCES.glob("*.cc") if "LLVMFuzzerTestOneInput" in path.read_text(encoding="utf-8")
)


class BuildError(Exception):
    """The fuzzers cannot be built; the message has the reason and the remedy."""


def program(name: str) -> Path:
    """The program of a target."""
    return ROOT / "build" / "fuzz" / "native" / "fuzz" / name


def build(names: Sequence[str], folder: Path) -> None:
    """Build the programs of these targets with Clang, AddressSanitizer and UndefinedBehaviorSanitizer.

    Raises BuildError without Clang, or if the build fails.
    """
    if not names:
        return
    compilers = _clang()
    import pybind11

    tools = Path(sys.executable).parent
    settings = {
        "FRAMEDEX_FUZZ": "ON",
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_C_COMPILER": compilers[0],
        "CMAKE_CXX_COMPILER": compilers[1],
        "CMAKE_MAKE_PROGRAM": str(tools / "ninja"),
        "pybind11_DIR": pybind11.get_cmake_dir(),
        "Python_EXECUTABLE": sys.executable,
    }
    _run([str(tools / "cmake"), "-S", ROOT, "-B", folder, "-G", "Ninja", *(f"-D{k}={v}" for k, v in settings.items())])
    _run([str(tools / "cmake"), "--build", folder, "--target", *(f"fuzz_{name}" for name in names)])


def _clang() -> tuple[str, str]:
    for version in ("", *(f"-{number}" for number in range(22, 13, -1))):
        found = shutil.which(f"clang{version}"), shutil.which(f"clang++{version}")
        if found[0] and found[1]:
            return found[0], found[1]
    raise BuildError(
        "the fuzzers are built with Clang, and there is none here. Install it (on Debian and Ubuntu: apt-get install"
        " clang; with a version in the name of the package, libclang-rt-VERSION-dev too) and try again."
    )


def _run(command: Sequence[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CLICOLOR_FORCE": "0"})
    if done.returncode != 0:
        raise BuildError(f"the fuzzers cannot be built:\n{(done.stdout + done.stderr)[-6000:]}")
