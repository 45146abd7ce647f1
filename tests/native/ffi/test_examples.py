"""The examples are what a newcomer builds and runs, as docs/ffi.md has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.ffi_running import CPU, EXAMPLES, UNTRACED
from tests.running import PROGRAMS, plain_environment


def test_the_library_builds_by_itself_and_its_functions_work(tmp_path: Path) -> None:
    cmake = shutil.which("cmake") or str(Path(sys.executable).with_name("cmake"))  # a dependency for development
    environment = plain_environment() | UNTRACED | CPU | {"CXXFLAGS": "-O0 -Werror"}
    for command in (
        [cmake, "-S", EXAMPLES, "-B", tmp_path / "build", f"-DPython_EXECUTABLE={sys.executable}"],
        [cmake, "--build", tmp_path / "build", "--parallel", str(os.cpu_count())],
        [sys.executable, PROGRAMS / "ffi_calls.py", tmp_path / "build" / "libffi_examples.so"],
    ):
        ended = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr
