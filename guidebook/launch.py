"""Commands that record the guidebook's programs, and keys that show whether a recording is up to date."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import framedex_native
from guidebook import environments
from guidebook.plan import PROGRAMS, Environment, Recording

ABI = environments.ROOT / "native" / "abi"
HEADER = PROGRAMS / "client.h"
_REMOVED_PREFIXES = ("FRAMEDEX_", "JAX_", "TPU_", "XLA_", "PJRT_", "PYTHON")


@dataclass(frozen=True, slots=True)
class CreatedEnvironment:
    """A created environment: its interpreter, its plug-in, and the versions of its packages."""

    environment: Environment
    python: Path
    plugin: Path | None
    versions: tuple[str, ...]


def prepare(environment: Environment) -> CreatedEnvironment:
    """Create an environment if missing. Raises environments.SkippedEnvironmentError."""
    python = environments.make_python(environment.python)
    plugin = environments.get_file(environment.plugin) if environment.plugin else None
    return CreatedEnvironment(environment, python, plugin, _installed_versions(python))


def build_command(recording: Recording, ready: CreatedEnvironment, captures: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command that records into `captures`, and its environment variables.

    Raises environments.SkippedEnvironmentError if a package or the C compiler is unavailable.
    """
    variables = _clean_environment(os.environ) | dict(recording.environment.variables)
    if recording.program.suffix == ".c":
        return [_compile_client(recording.program), str(_library(ready))], variables | _recording_variables(
            ready, captures
        )
    if recording.package:
        unpacked = environments.get_folder(recording.package)
        command = [str(ready.python), str(recording.program), str(_library(ready))]
        return command, variables | _recording_variables(ready, captures) | {"PYTHONPATH": str(unpacked)}
    framedex = Path(sys.executable).with_name("framedex")
    command = [str(framedex), "run", "--output", str(captures), "--python", str(ready.python), *recording.options]
    if ready.plugin:
        command += ["--plugin", f"{ready.environment.platform}:{ready.plugin}"]
    return [*command, str(recording.program)], variables


def _compile_client(program: Path) -> str:
    """Compile a C client with the generated PJRT header, and return its path.

    The binary is kept, because indexing the capture reads the names of its frames.
    """
    folder = environments.FOLDER / "clients" / hashlib.sha256(program.read_bytes() + HEADER.read_bytes()).hexdigest()
    binary = folder / program.stem
    if binary.exists():
        return str(binary)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as workspace:
        output = Path(workspace) / program.stem
        compiler = ["cc", "-g", "-O1", "-Wall", "-Werror", "-I", workspace, "-o", str(output), str(program), "-ldl"]
        try:
            subprocess.run([sys.executable, str(ABI / "generate.py"), workspace], check=True, capture_output=True)
            subprocess.run(compiler, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            message = getattr(error, "stderr", "") or error
            raise environments.SkippedEnvironmentError(f"{program.name} cannot be compiled: {message}") from None
        folder.mkdir(exist_ok=True)
        output.replace(binary)
    return str(binary)


def _library(ready: CreatedEnvironment) -> Path:
    """Return the library that a client loads: a real plug-in, which framedex intercepts, or framedex's own."""
    return ready.plugin or framedex_native.library_path()


def _recording_variables(ready: CreatedEnvironment, captures: Path) -> dict[str, str]:
    """Return the environment variables that make framedex record a client."""
    variables = {"FRAMEDEX_RECORD": "1", "FRAMEDEX_OUT": str(captures)}
    if ready.plugin is None:
        return variables
    return variables | {"FRAMEDEX_PLUGIN": str(ready.plugin), "LD_PRELOAD": str(framedex_native.preload_path())}


def _clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without variables that change JAX, a plug-in, Python or the recording.

    This also removes PYTHONDONTWRITEBYTECODE. Otherwise each program would compile all of JAX to byte code.
    """
    return {name: value for name, value in environment.items() if not name.startswith(_REMOVED_PREFIXES)}


def _installed_versions(python: Path) -> tuple[str, ...]:
    listed = subprocess.run(
        [str(python), "-m", "pip", "list", "--disable-pip-version-check", "--format=freeze"],
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        raise environments.SkippedEnvironmentError(f"{python} does not run: {listed.stderr.strip()[-300:]}")
    return tuple(line for line in listed.stdout.splitlines() if not line.startswith("framedex=="))


def compute_key(recording: Recording, ready: CreatedEnvironment) -> str:
    """Return a digest of the program, its options, its environment's versions, and framedex's native part."""
    source = recording.program.read_bytes() + (HEADER.read_bytes() if recording.program.suffix == ".c" else b"")
    parts = [source, repr(recording).encode(), "\n".join(ready.versions).encode(), _native_digest()]
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


@cache
def _native_digest() -> bytes:
    """Return a digest of the recorder: its libraries, and the Python modules of the mock and of FFI tracing."""
    folder = framedex_native.library_path().parent
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".so", ".py", ".json"))
    return b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files if _affects_recordings(path))


def _affects_recordings(path: Path) -> bool:
    """Return whether a file affects recordings. Native modules that only read captures do not."""
    return not path.name.startswith(("_call_stream", "_extractor", "_scanner"))
