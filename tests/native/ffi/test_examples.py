"""The examples can be built and run by newcomers, as docs/how-to/ffi-kernels.md describes."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ffi_running import CPU, EXAMPLES, UNTRACED
from tests.running import PROGRAMS, plain_environment

CMAKE = shutil.which("cmake") or str(Path(sys.executable).with_name("cmake"))  # a development dependency


def execute(*command: str | Path) -> None:
    """Run a command to its end; it must succeed."""
    environment = plain_environment() | UNTRACED | CPU | {"CXXFLAGS": "-O0 -Werror"}
    completed = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stdout + completed.stderr


def test_cmake_compiles_every_source_with_jaxlib_headers(tmp_path: Path) -> None:
    """`ffi_running.library_for` compiles the same sources for the other tests."""
    python = f"-DPython_EXECUTABLE={sys.executable}"
    execute(CMAKE, "-S", EXAMPLES, "-B", tmp_path, python, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    assert {Path(command["file"]) for command in commands} == set(EXAMPLES.glob("*.cc"))
    for command in commands:
        words = shlex.split(command["command"])
        assert (Path(words[words.index("-isystem") + 1]) / "xla" / "ffi" / "api" / "ffi.h").exists()


@pytest.mark.exhaustive
def test_the_library_builds_alone_and_its_functions_work(tmp_path: Path) -> None:
    execute(CMAKE, "-S", EXAMPLES, "-B", tmp_path / "build", f"-DPython_EXECUTABLE={sys.executable}")
    execute(CMAKE, "--build", tmp_path / "build", "--parallel", str(os.cpu_count()))
    execute(sys.executable, PROGRAMS / "ffi_calls.py", tmp_path / "build" / "libffi_examples.so")
