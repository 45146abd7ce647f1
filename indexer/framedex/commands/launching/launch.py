"""Start a program under the mock TPU or another plug-in, wait for it, and find its captures."""

from __future__ import annotations

import ctypes
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from framedex.binaries import Contents, KeptBinaries, state_of
from framedex.captures import (
    Cell,
    captures_below,
    captures_of_run,
    read_metadata,
    write_cells,
    write_contents,
    write_end,
)
from framedex.commands.inputs.files import absolute, working_folder
from framedex.commands.launching.mock_settings import check_mock
from framedex.commands.launching.outcome import Outcome
from framedex.commands.launching.plugins import Plugin
from framedex.commands.launching.recorder_report import RecorderReport
from framedex.commands.launching.runtimes import LEGACY_JAXLIB, Runtime
from framedex.commands.launching.supervision import supervised
from framedex.errors import FramedexError
from framedex.interpreters import ask, unusable
from framedex.model import BinaryState
from framedex.nativepart import PYTHONS, framedex_native
from framedex.onpath import program_on_path
from framedex.plaintext import printable, shell_word
from framedex.version import VERSION
from framedex.words import signal_name

SUPPORTED_JAXLIB = ((0, 8), (0, 12))
# An editor keeps relative folders out of framedex's own PYTHONPATH, and passes the user's value here.
_PROGRAMS_PYTHONPATH = "FRAMEDEX_PROGRAM_PYTHONPATH"


@dataclass(frozen=True, slots=True)
class Launch:
    """The parameters of a recorded process.

    `python` is the interpreter. `captures` is the folder for captures; None uses the working folder's. `settings` are
    environment variables for the mock and the recorder; an empty value keeps the user's own. `plugin` replaces the
    mock. `runtime` is the way in which JAX enters the mock.
    """

    python: str
    arguments: tuple[str, ...]
    captures: Path | None
    settings: Mapping[str, str]
    plugin: Plugin | None = None
    runtime: Runtime = Runtime.PJRT


def interpreter(named: str) -> str:
    """The path of an interpreter, from a path or a name on the PATH. Raises FramedexError if there is none."""
    found = program_on_path(named)
    if found is None:
        raise FramedexError(f"There is no {printable(named)} on the PATH.", "Check --python.")
    return found


def check_python(python: str) -> None:
    """Raise FramedexError unless framedex can record this interpreter."""
    versions = _versions(python)
    version = versions["python"]
    first, last = PYTHONS
    remedy = f"Use one of Python {_dotted(first)} to {_dotted(last)}: `framedex run --python PATH SCRIPT`."
    if not first <= _version(version) <= last:
        raise FramedexError(f"{python} is Python {version}, which framedex cannot record.", remedy)
    if version.endswith("t"):
        raise FramedexError(f"{python} is Python {version}: free-threaded Python is not recorded.", remedy)


def check_jaxlib(python: str) -> Runtime:
    """The runtime of this Python's jaxlib or torch_xla. Raises FramedexError if the mock TPU does not support it."""
    versions = _versions(python)
    jaxlib = versions.get("jaxlib")
    if jaxlib is None and "torch_xla" in versions:
        return Runtime.PJRT
    if jaxlib == LEGACY_JAXLIB:
        return Runtime.TPU_EXECUTOR
    if jaxlib is None:
        raise FramedexError(
            f"{python} has no jaxlib.",
            f"Install it with `{shell_word(python)} -m pip install jax`, or name another Python:"
            " `framedex run --python PATH SCRIPT`.",
        )
    oldest, newest = SUPPORTED_JAXLIB
    if not oldest <= _version(jaxlib) <= newest:
        raise FramedexError(
            f"jaxlib {jaxlib} is not supported: framedex records jaxlib {_dotted(oldest)} to {_dotted(newest)},"
            f" and {LEGACY_JAXLIB}.",
            f"Install one of those: `{shell_word(python)} -m pip install"
            f" 'jax>={_dotted(oldest)},<{newest[0]}.{newest[1] + 1}'`",
        )
    return Runtime.PJRT


def shipped_sources() -> Path:
    """The folder with the C++ sources of the mock TPU and the recorder in an installation without a checkout.

    Raises FileNotFoundError if this installation has no mock TPU.
    """
    return framedex_native.library_path().with_name("native")


def launch(what: Launch) -> Outcome:
    """Run the program to its end. Raises FramedexError if it cannot be started or its captures cannot be kept."""
    captures = absolute(what.captures or captures_below(working_folder()))
    _make_folder(captures)
    run_id = uuid.uuid4().hex
    with RecorderReport() as report:
        environment = _environment(what, captures, run_id) | report.variables()
        try:
            with supervised([what.python, *what.arguments], environment) as process:
                status = process.wait()
        except OSError as error:
            raise FramedexError(f"{what.python} cannot be started: {error.strerror}.", "Check --python.") from None
        told = report.read()
    made = tuple(captures_of_run(captures, run_id))
    _keep_cells(made, told.cells, what.arguments)
    if status < 0:
        _note_end(made, process.pid, signal_name(-status))
    with suppress(KeyboardInterrupt):  # Ctrl-C skips this step
        _keep_binaries(made)
    return Outcome(status, made, what.plugin, what.captures, told)


def _keep_cells(captures: Iterable[Path], cells: Mapping[int, Sequence[Cell]], arguments: Sequence[str]) -> None:
    """Write the texts of a process's cells into its captures, before the captures are indexed."""
    named = [Path(each).name for each in arguments if each.endswith(".ipynb")]
    notebook = named[0] if len(named) == 1 else ""
    for capture in captures if cells else ():
        with suppress(OSError, FramedexError):  # on a full disk, the cell appears under Python's name for its file
            if of_process := cells.get(read_metadata(capture).pid or 0):
                write_cells(capture, [replace(each, notebook=each.notebook or notebook) for each in of_process])


def _note_end(captures: Iterable[Path], process: int, name: str) -> None:
    """Write the name of the signal that ended a process into its captures."""
    for capture in captures:
        with suppress(OSError, FramedexError):  # without the signal, `check` knows only which calls had not returned
            if read_metadata(capture).pid == process:
                write_end(capture, name)


def _keep_binaries(captures: Iterable[Path]) -> None:
    """Write content hashes of the recorded binaries into the captures, and keep copies of the binaries.

    The hashes identify a binary at any path. The copies serve if pip or a build replaces a binary before the captures
    are indexed.
    """
    contents = Contents()
    digests: dict[Path, str] = {}

    def digest(path: Path, state: BinaryState) -> str:
        found = contents.of(path) if state_of(path) == state else ""
        if found:
            digests[path] = found
        return found

    for capture in captures:
        with suppress(OSError):  # without the hash, names have a note if the binary at that path was replaced
            write_contents(capture, digest)
    kept = KeptBinaries()
    for path, found in digests.items():
        kept.keep(path, found)


def _environment(what: Launch, captures: Path, run_id: str) -> dict[str, str]:
    environment = os.environ | {name: value for name, value in what.settings.items() if value}
    environment |= loading_variables(what.plugin, what.runtime, environment)
    environment["FRAMEDEX_OUT"] = os.fspath(captures)
    # Python runs the sitecustomize of this folder, and the folder has only FFI tracing.
    theirs = environment.pop(_PROGRAMS_PYTHONPATH, None) or environment.get("PYTHONPATH")
    with _wanting_all():
        python_path = [os.fspath(framedex_native.ffi_startup_path()), *filter(None, [theirs])]
    environment["PYTHONPATH"] = os.pathsep.join(python_path)
    return environment | metadata_variable(run_id, what.python, what.arguments)


def metadata_variable(run_id: str, python: str, arguments: Sequence[str], cell: str = "") -> dict[str, str]:
    """The variable with the metadata for a capture of a run, or of a notebook cell.

    Raises FramedexError if the Python cannot be run.
    """
    metadata = {
        "run": run_id,
        "framedex": VERSION,
        "arguments": arguments,
        "packages": _versions(python),
        **({"cell": cell} if cell else {}),
    }
    return {"FRAMEDEX_METADATA": json.dumps(metadata)}


def loading_variables(plugin: Plugin | None, runtime: Runtime, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that make JAX load the mock TPU, or a plug-in, through framedex.

    `environment` has all other variables. Raises FramedexError if JAX could not load it: JAX would silently continue
    without it.
    """
    with _wanting_all():
        library = framedex_native.library_path()
        check_library(library)
        if plugin is None:
            variables = {"TPU_LIBRARY_PATH": os.fspath(library)} | runtime.variables(environment)
            check_mock(library, {**environment, **variables}, runtime)
            return variables
        if plugin.name is None:
            return plugin.met_by(framedex_native.preload_path(), environment)
        return plugin.loaded_by(library, environment)


@contextmanager
def _wanting_all() -> Iterator[None]:
    """Raise FramedexError if a file of the native part is missing."""
    try:
        yield
    except FileNotFoundError as error:
        raise FramedexError(str(error), "Install framedex again: pip install --force-reinstall framedex.") from None


def check_library(library: Path) -> None:
    """Raise FramedexError unless the library can be loaded: otherwise JAX silently continues on the CPU."""
    try:
        ctypes.CDLL(os.fspath(library)).GetPjrtApi  # noqa: B018 - the lookup is the check
    except (OSError, AttributeError) as error:
        raise FramedexError(
            f"The mock TPU cannot be loaded: {error}.",
            "Install framedex again: pip install --force-reinstall framedex.",
        ) from None


def _make_folder(captures: Path) -> None:
    try:
        captures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FramedexError(
            f"The folder for captures, {captures}, cannot be made: {error.strerror}.",
            "Name one that can be written: `framedex run -o DIR SCRIPT`.",
        ) from None
    if not os.access(captures, os.W_OK | os.X_OK):
        raise FramedexError(f"{captures} cannot be written.", "Name another folder: `framedex run -o DIR SCRIPT`.")


def _versions(python: str) -> dict[str, str]:
    """The versions of a Python and its packages; the version of a free-threaded Python ends in `t`."""
    return _own_versions() if python == sys.executable else _versions_of(python)  # noqa: TID251


def _own_versions() -> dict[str, str]:
    versions = {"python": ".".join(map(str, sys.version_info[:3])) + ("t" if "t" in sys.abiflags else "")}
    for package in ("jax", "jaxlib", "torch_xla"):
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return versions


@cache
def _versions_of(python: str) -> dict[str, str]:
    program = (
        "versions = {'python': '.'.join(map(str, sys.version_info[:3])) + ('t' if 't' in sys.abiflags else '')}\n"
        "for package in ('jax', 'jaxlib', 'torch_xla'):\n"
        "    try: versions[package] = importlib.metadata.version(package)\n"
        "    except importlib.metadata.PackageNotFoundError: pass\n"
        "print(json.dumps(versions))"
    )
    try:
        versions: dict[str, str] = ask(python, program)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise unusable(python, error) from None
    return versions


def _version(text: str) -> tuple[int, int]:
    """The first two numbers of a version; (0, 0) if the version does not start with two numbers."""
    match = re.match(r"(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
