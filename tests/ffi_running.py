"""Run the programs of `tests/programs/ffi_*.py` with the example handlers, recorded as by `framedex run` or not."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections import defaultdict
from functools import cached_property
from pathlib import Path
from typing import Any

import framedex_native
from framedex.captures import read_capture
from framedex.model import Capture
from tests.once import made_once
from tests.reading import Call, calls_of
from tests.running import PROGRAMS, TIMEOUT, Run, plain_environment

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "native" / "examples"
_JAXLIB = "import importlib.metadata; print(importlib.metadata.version('jaxlib'))"
CPU = {"JAX_PLATFORMS": "cpu"}
UNTRACED = {"PYTHONPATH": str(EXAMPLES), "TF_CPP_MIN_LOG_LEVEL": "3"}


class FfiRun(Run):
    """A finished program and its recording."""

    @cached_property
    def recorded(self) -> Capture:
        """The contents of the one capture."""
        return read_capture(self.capture)

    def calls(self, *functions: str) -> list[Call]:
        """The recorded handler calls by start, optionally only of these functions."""
        boundaries = {function.name: function.boundary for function in self.recorded.functions}
        calls = [call for call in calls_of(self.recorded) if boundaries[call.function] == "ffi"]
        return [call for call in calls if not functions or call.function in functions]

    def described(self, kind: str) -> list[dict[str, Any]]:
        """The descriptions of a kind, in written order."""
        return [entry.content for entry in self.recorded.descriptions if entry.kind == kind]

    @cached_property
    def sites(self) -> dict[str, dict[str, Any]]:
        """The sites by id."""
        return {site["site"]: site for site in self.described("ffi_site")}

    @cached_property
    def instances(self) -> dict[int, list[dict[str, Any]]]:
        """The recorded note of each instance."""
        found = defaultdict(list)
        for entry in self.described("ffi_instance"):
            found[entry["instance"]].append(entry)
        return found

    def site_of(self, call: Call) -> dict[str, Any] | None:
        """The site that a run certainly belongs to; None without one."""
        certain = [entry for entry in self.instances[call.arguments.get("instance", 0)] if entry["join"] == "exact"]
        return self.sites[certain[-1]["site"]] if certain and certain[-1]["site"] else None


def run_ffi(program: str, *arguments: str, folder: Path, python: str = sys.executable, **environment: str) -> FfiRun:
    """Run `tests/programs/PROGRAM LIBRARY ARGUMENTS...`; its captures are stored below `folder`."""
    return run_untraced(program, *arguments, folder=folder, python=python, **(tracing(folder) | environment))


def run_untraced(
    program: str, *arguments: str, folder: Path, python: str = sys.executable, **environment: str
) -> FfiRun:
    """Run `tests/programs/PROGRAM LIBRARY ARGUMENTS...` without framedex."""
    command = [python, str(PROGRAMS / program), str(library_for(python)), *arguments]
    return FfiRun.of(command, folder, plain_environment() | UNTRACED | environment, TIMEOUT)


def tracing(folder: Path) -> dict[str, str]:
    """The environment that records handlers into `folder/captures`."""
    return {
        "PYTHONPATH": f"{framedex_native.ffi_startup_path()}:{EXAMPLES}",
        "FRAMEDEX_OUT": str(folder / "captures"),
    }


def mock_tpu(devices: int = 1) -> dict[str, str]:
    """The environment that makes JAX's devices mock TPUs."""
    return {"TPU_LIBRARY_PATH": str(framedex_native.library_path()), "FRAMEDEX_DEVICES": str(devices)}


@functools.cache
def library_for(python: str) -> Path:
    """The example handlers, built against the headers of this interpreter's jaxlib."""
    release = subprocess.run([python, "-c", _JAXLIB], check=True, capture_output=True, text=True).stdout.strip()
    return made_once(f"ffi_examples-{release}", lambda folder: _build_examples(folder, python))


def _build_examples(folder: Path, python: str) -> Path:
    include = subprocess.run(
        [python, "-c", "import jax; print(jax.ffi.include_dir())"], check=True, capture_output=True, text=True
    ).stdout.strip()
    objects = [folder / f"{source.stem}.o" for source in sorted(EXAMPLES.glob("*.cc"))]
    command = ["g++", "-std=c++17", "-g", "-O1", "-fPIC", "-isystem", include, "-c"]
    compilers = [subprocess.Popen([*command, EXAMPLES / f"{file.stem}.cc", "-o", file]) for file in objects]
    assert [compiler.wait() for compiler in compilers] == [0] * len(compilers)
    library = folder / "libffi_examples.so"
    subprocess.run(["g++", "-shared", "-pthread", *map(str, objects), "-o", str(library)], check=True)
    return library
