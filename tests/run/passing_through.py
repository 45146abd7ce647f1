"""A project whose program calls JAX through its own library, recorded and indexed as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.run.invoking import FRAMEDEX
from tests.running import TIMEOUT, plain_environment

SOURCE = """\
// {content}
static inline __attribute__((always_inline)) int inlined(int (*callback)(int), int value) {{
  return callback(value) + 1;
}}
__attribute__((noinline)) static int inner(int (*callback)(int), int value) {{
  return inlined(callback, value) + 1;
}}
extern "C" int through(int (*callback)(int), int value) {{ return inner(callback, value) + 1; }}
extern "C" const char* content() {{ return "{content}"; }}
"""
PROGRAM = """\
import ctypes
from pathlib import Path

import jax
import numpy


def put(value):
    jax.device_put(numpy.ones(value)).block_until_ready()
    return value


library = ctypes.CDLL(str(Path(__file__).with_name("libthrough.so")))
library.through(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(put), 3)
"""
FUNCTIONS = {("through", "through.cc", 8), ("inner", "through.cc", 6), ("inlined", "through.cc", 3)}


@dataclass(frozen=True)
class Passing:
    """The folder of the project."""

    folder: Path

    @property
    def library(self) -> Path:
        return self.folder / "libthrough.so"

    @property
    def program(self) -> Path:
        return self.folder / "program.py"

    def build(self, *options: str) -> None:
        """Write the library's source and compile it, so that it differs from any other build."""
        (self.folder / "through.cc").write_text(SOURCE.format(content=uuid.uuid4()))
        usual = ["-g", "-O1", "-fno-optimize-sibling-calls", "-shared", "-fPIC", *options]
        source = str(self.folder / "through.cc")  # the whole path, as build systems pass it
        subprocess.run(["g++", *usual, source, "-o", self.library], cwd=self.folder, check=True)

    def framedex(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the project's folder; it must succeed."""
        done = subprocess.run(
            [FRAMEDEX, *arguments],
            cwd=self.folder,
            env=plain_environment() | variables,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    def answer(self, *arguments: str) -> Any:
        """The JSON output of a command."""
        return json.loads(self.framedex(*arguments, "--json").stdout)

    def frames(self) -> list[tuple[str, str | None, int | None]]:
        """The frames of the library and the program on the stack of the transfer: function, file and line."""
        ours = {self.folder / name for name in ("libthrough.so", "program.py")}
        trace = self.answer("trace", "PJRT_Client_BufferFromHostBuffer")
        return [
            (frame["function"]["name"], place and place["path"], place and place["line"])
            for frame in trace["frames"]
            for place in [frame["location"]]
            if Path(frame["function"]["module"]) in ours
        ]


def new_project(folder: Path) -> Passing:
    """Create the project in the new folder `folder`."""
    folder.mkdir(parents=True)
    project = Passing(folder)
    project.program.write_text(PROGRAM)
    os.utime(project.program, (1_600_000_000, 1_600_000_000))
    project.build()
    return project
