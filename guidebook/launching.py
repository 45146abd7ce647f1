"""How a program of the guidebook is started, so that its calls are recorded."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import framedex_native
from guidebook import environments
from guidebook.plan import PROGRAMS, Environment, Recording

ABI = environments.ROOT / "native" / "abi"
HEADER = PROGRAMS / "client.h"
_STEERING = ("FRAMEDEX_", "JAX_", "TPU_", "XLA_", "PJRT_", "PYTHON")


@dataclass(frozen=True, slots=True)
class Ready:
    """An environment that is there: its interpreter, its plug-in, and the versions of what is installed."""

    environment: Environment
    python: Path
    plugin: Path | None
    versions: tuple[str, ...]


def prepared(environment: Environment) -> Ready:
    """Make what is not there. Raises environments.LeftOutError."""
    python = environments.python_of(environment.python)
    plugin = environments.file_of(environment.plugin) if environment.plugin else None
    return Ready(environment, python, plugin, _versions(python))


def command_of(recording: Recording, ready: Ready, captures: Path) -> tuple[list[str], dict[str, str]]:
    """The command that records into `captures`, and its environment.

    Raises environments.LeftOutError where something cannot be had: a package, a compiler.
    """
    variables = _undisturbed(os.environ) | dict(recording.environment.variables)
    if recording.program.suffix == ".c":
        return [_compiled(recording.program), str(_library(ready))], variables | _recording(ready, captures)
    if recording.package:
        unpacked = environments.folder_of(recording.package)
        command = [str(ready.python), str(recording.program), str(_library(ready))]
        return command, variables | _recording(ready, captures) | {"PYTHONPATH": str(unpacked)}
    framedex = Path(sys.executable).with_name("framedex")
    command = [str(framedex), "run", "--output", str(captures), "--python", str(ready.python), *recording.options]
    if ready.plugin:
        command += ["--plugin", f"{ready.environment.platform}:{ready.plugin}"]
    return [*command, str(recording.program)], variables


def _compiled(program: Path) -> str:
    """A client in C, compiled with the header that the description of the ABI gives.

    It stays: its frames get their names from it when the capture is indexed.
    """
    folder = environments.FOLDER / "clients" / hashlib.sha256(program.read_bytes() + HEADER.read_bytes()).hexdigest()
    binary = folder / program.stem
    if binary.exists():
        return str(binary)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
        made = Path(beside) / program.stem
        compiler = ["cc", "-g", "-O1", "-Wall", "-Werror", "-I", beside, "-o", str(made), str(program), "-ldl"]
        try:
            subprocess.run([sys.executable, str(ABI / "generate.py"), beside], check=True, capture_output=True)
            subprocess.run(compiler, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", "") or error
            raise environments.LeftOutError(f"{program.name} cannot be compiled: {said}") from None
        folder.mkdir(exist_ok=True)
        made.replace(binary)
    return str(binary)


def _library(ready: Ready) -> Path:
    """The plug-in that a client loads: framedex meets a real one on the way."""
    return ready.plugin or framedex_native.library_path()


def _recording(ready: Ready, captures: Path) -> dict[str, str]:
    """The variables that have framedex record what a client loads."""
    variables = {"FRAMEDEX_RECORD": "1", "FRAMEDEX_OUT": str(captures)}
    if ready.plugin is None:
        return variables
    return variables | {"FRAMEDEX_PLUGIN": str(ready.plugin), "LD_PRELOAD": str(framedex_native.preload_path())}


def _undisturbed(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without what would have something else recorded than the guidebook tells of.

    Python keeps its byte code: each program would compile all of JAX again.
    """
    return {name: value for name, value in environment.items() if not name.startswith(_STEERING)}


def _versions(python: Path) -> tuple[str, ...]:
    listed = subprocess.run(
        [str(python), "-m", "pip", "list", "--disable-pip-version-check", "--format=freeze"],
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        raise environments.LeftOutError(f"{python} does not run: {listed.stderr.strip()[-300:]}")
    return tuple(line for line in listed.stdout.splitlines() if not line.startswith("framedex=="))
