"""Run the programs of `tests/programs` on the mock TPU, recorded without the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import framedex_native
from framedex.captures import capture_folders
from tests.pythons import ROOT

PROGRAMS = Path(__file__).parent / "programs"
TIMEOUT = 120  # timeout in seconds: all runs take a few, so a hang is a failure
Ran = TypeVar("Ran", bound="Run")


@dataclass(frozen=True)
class Run:
    """A finished program, and its captures."""

    status: int
    stdout: str
    stderr: str
    captures: tuple[Path, ...]

    @classmethod
    def of(cls: type[Ran], command: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float) -> Ran:
        """Run a command in `folder` to its end; its captures are stored below it."""
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=timeout)
        return cls(done.returncode, done.stdout, done.stderr, tuple(capture_folders(folder / "captures")))

    @property
    def result(self) -> Any:
        """The JSON document on the program's last output line."""
        assert self.status == 0, self.stderr
        return json.loads(self.stdout.splitlines()[-1])

    @property
    def capture(self) -> Path:
        """The one capture."""
        assert len(self.captures) == 1, (self.captures, self.stderr)
        return self.captures[0]


def run(program: str, *arguments: str, folder: Path, python: str = sys.executable, **environment: str) -> Run:
    """Run `tests/programs/PROGRAM` to its end; its captures are stored below `folder`."""
    command = [python, str(PROGRAMS / program), *arguments]
    return Run.of(command, folder, mock_environment(folder) | environment, TIMEOUT)


def build_small_plugin(folder: Path) -> Path:
    """Build `small_plugin.cc` into `folder`, with the header generated from the ABI's description."""
    return build_with_api("small_plugin.cc", folder / "small.so", "-shared", "-fPIC")


def build_with_api(source: str, target: Path, *flags: str) -> Path:
    """Build `tests/programs/SOURCE`, with the header of the C API generated beside the target from its description."""
    subprocess.run([sys.executable, str(ROOT / "native" / "abi" / "generate.py"), str(target.parent)], check=True)
    command = ["g++", "-std=c++17", "-Wall", "-g", *flags, "-I", str(target.parent), "-o", str(target)]
    subprocess.run([*command, str(PROGRAMS / source)], check=True)
    return target


def mock_environment(folder: Path) -> dict[str, str]:
    """The environment in which JAX finds the mock TPU and is recorded into `folder/captures`."""
    return plain_environment() | {
        "TPU_LIBRARY_PATH": str(framedex_native.library_path()),
        "FRAMEDEX_OUT": str(folder / "captures"),
    }


def plain_environment() -> dict[str, str]:
    """This process's environment without variables that configure JAX or framedex."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "FRAMEDEX_", "TPU_"))}
