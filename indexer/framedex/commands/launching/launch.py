"""Run a program under the mock TPU or another plug-in, wait for it, and find its captures."""

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
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.folders import find_program
from framedex.base.interpreters import query_interpreter, unusable_interpreter_error
from framedex.base.nativepart import RECORDABLE_PYTHONS, framedex_native
from framedex.base.plaintext import make_printable, quote_shell_word
from framedex.base.version import VERSION
from framedex.binaries import BinaryStore, DigestCache, read_binary_state
from framedex.captures import (
    Cell,
    find_captures_of_run,
    project_captures_folder,
    read_metadata,
    write_cells,
    write_digests,
    write_program_end,
)
from framedex.commands.inputs.files import to_absolute_path, working_folder
from framedex.commands.launching.options import HangPolicy, check_mock
from framedex.commands.launching.outcome import Outcome, RecorderEventFile
from framedex.commands.launching.runtimes import LEGACY_JAXLIB, Plugin, Runtime
from framedex.commands.launching.supervision import supervise
from framedex.model import BinaryState

SUPPORTED_JAXLIB = ((0, 8), (0, 12))
# An editor keeps relative folders out of framedex's own PYTHONPATH, and passes the user's value here.
_PROGRAMS_PYTHONPATH = "FRAMEDEX_PROGRAM_PYTHONPATH"


@dataclass(frozen=True, slots=True)
class Launch:
    """The parameters of a recorded process.

    `python` is the interpreter. `captures` is the folder for captures; None means the default folder of the working
    folder. `settings` are environment variables for the mock and the recorder; an empty value keeps the user's own.
    `plugin` replaces the mock. `runtime` is the API by which JAX uses the mock. `stdout` is a file descriptor for the
    program's output; None means that of this process. `hang_policy` is what to do if the program hangs.
    """

    python: str
    arguments: tuple[str, ...]
    captures: Path | None
    settings: Mapping[str, str]
    plugin: Plugin | None = None
    runtime: Runtime = Runtime.PJRT
    stdout: int | None = None
    hang_policy: HangPolicy | None = None


def find_interpreter(name: str) -> str:
    """The path of an interpreter, from a path or a name on the PATH. Raises FramedexError if there is none."""
    path = find_program(name)
    if path is None:
        raise FramedexError(f"There is no {make_printable(name)} on the PATH.", "Check --python.")
    return path


def check_python(python: str) -> None:
    """Raise FramedexError unless framedex supports the version of this interpreter."""
    versions = _find_package_versions(python)
    version = versions["python"]
    first, last = RECORDABLE_PYTHONS
    remedy = (
        f"Use one of Python {_format_version(first)} to {_format_version(last)}: `framedex run --python PATH SCRIPT`."
    )
    if not first <= _parse_version(version) <= last:
        raise FramedexError(f"{python} is Python {version}, which framedex cannot record.", remedy)
    if version.endswith("t"):
        raise FramedexError(f"{python} is Python {version}: free-threaded Python is not recorded.", remedy)


def find_runtime(python: str) -> Runtime:
    """The runtime API of this Python's jaxlib or torch_xla. Raises FramedexError if it is not supported."""
    versions = _find_package_versions(python)
    jaxlib = versions.get("jaxlib")
    if jaxlib is None and "torch_xla" in versions:
        return Runtime.PJRT
    if jaxlib == LEGACY_JAXLIB:
        return Runtime.TPU_EXECUTOR
    if jaxlib is None:
        raise FramedexError(
            f"{python} has no jaxlib.",
            f"Install it with `{quote_shell_word(python)} -m pip install jax`, or name another Python:"
            " `framedex run --python PATH SCRIPT`.",
        )
    oldest, newest = SUPPORTED_JAXLIB
    if not oldest <= _parse_version(jaxlib) <= newest:
        raise FramedexError(
            f"jaxlib {jaxlib} is not supported: framedex records jaxlib {_format_version(oldest)} to"
            f" {_format_version(newest)}, and {LEGACY_JAXLIB}.",
            f"Install one of those: `{quote_shell_word(python)} -m pip install"
            f" 'jax>={_format_version(oldest)},<{newest[0]}.{newest[1] + 1}'`",
        )
    return Runtime.PJRT


def find_shipped_sources() -> Path:
    """The folder with the C++ sources of the mock TPU and the recorder in an installation without a checkout.

    Raises FileNotFoundError if this installation has no mock TPU.
    """
    return framedex_native.library_path().with_name("native")


def launch(parameters: Launch) -> Outcome:
    """Run the program to its end.

    Raises FramedexError if the program cannot be started, or if the folder for captures cannot be written.
    """
    captures = to_absolute_path(parameters.captures or project_captures_folder(working_folder()))
    _make_captures_folder(captures)
    run_id = uuid.uuid4().hex
    with RecorderEventFile() as report:
        environment = _build_program_environment(parameters, captures, run_id) | report.variables()
        try:
            command = [parameters.python, *parameters.arguments]
            with (
                supervise(command, environment, stdout=parameters.stdout) as process,
                _watch_for_hang(parameters.hang_policy, process.pid, report),
            ):
                status = process.wait()
        except OSError as error:
            raise FramedexError(
                f"{parameters.python} cannot be started: {error.strerror}.", "Check --python."
            ) from None
        events = report.read()
    found = tuple(find_captures_of_run(captures, run_id))
    _write_cell_texts(found, events.cells, parameters.arguments)
    _write_process_end(found, process.pid, status)
    with suppress(KeyboardInterrupt):  # Ctrl-C skips this step
        _store_binary_copies(found)
    return Outcome(status, found, parameters.plugin, parameters.captures, events)


def _watch_for_hang(policy: HangPolicy | None, pid: int, report: RecorderEventFile) -> AbstractContextManager[None]:
    """A context in which the program is watched for a hang."""
    if policy is None:
        return nullcontext()
    from framedex.commands.launching.watchdog import watch_for_hang

    return watch_for_hang(policy, pid, lambda: report.read().started)


def _write_cell_texts(captures: Iterable[Path], cells: Mapping[int, Sequence[Cell]], arguments: Sequence[str]) -> None:
    """Write the sources of notebook cells into the captures of their processes."""
    notebooks = [Path(each).name for each in arguments if each.endswith(".ipynb")]
    notebook = notebooks[0] if len(notebooks) == 1 else ""
    for capture in captures if cells else ():
        with suppress(OSError, FramedexError):  # on a full disk, the cell keeps the file name of its code object
            if of_process := cells.get(read_metadata(capture).pid or 0):
                write_cells(capture, [replace(each, notebook=each.notebook or notebook) for each in of_process])


def _write_process_end(captures: Iterable[Path], process: int, status: int) -> None:
    """Write the exit status or the signal of a process into its captures."""
    for capture in captures:
        with suppress(OSError, FramedexError):  # without the signal, `check` knows only which calls had not returned
            if read_metadata(capture).pid == process:
                write_program_end(capture, status)


def _store_binary_copies(captures: Iterable[Path]) -> None:
    """Write content hashes of the recorded binaries into the captures, and store copies of the binaries.

    The hashes identify a binary at any path. Indexing reads the copies if pip or a build has replaced a binary.
    """
    contents = DigestCache()
    digests: dict[Path, str] = {}

    def digest(path: Path, state: BinaryState) -> str:
        found = contents.compute_digest(path) if read_binary_state(path) == state else ""
        if found:
            digests[path] = found
        return found

    for capture in captures:
        with suppress(OSError):  # without a hash, names are marked if the binary at that path was replaced
            write_digests(capture, digest)
    kept = BinaryStore()
    for path, found in digests.items():
        kept.keep(path, found)


def _build_program_environment(parameters: Launch, captures: Path, run_id: str) -> dict[str, str]:
    environment = os.environ | {name: value for name, value in parameters.settings.items() if value}
    environment |= build_loading_variables(parameters.plugin, parameters.runtime, environment)
    environment["FRAMEDEX_OUT"] = os.fspath(captures)
    # Python runs the sitecustomize.py of this folder, which traces FFI.
    program_pythonpath = environment.pop(_PROGRAMS_PYTHONPATH, None) or environment.get("PYTHONPATH")
    with _requiring_native_files():
        python_path = [os.fspath(framedex_native.ffi_startup_path()), *filter(None, [program_pythonpath])]
    environment["PYTHONPATH"] = os.pathsep.join(python_path)
    return environment | build_metadata_variable(run_id, parameters.python, parameters.arguments)


def build_metadata_variable(run_id: str, python: str, arguments: Sequence[str], cell: str = "") -> dict[str, str]:
    """The environment variable with the metadata for the captures of a run, or of a notebook cell.

    Raises FramedexError if the Python cannot be run.
    """
    metadata = {
        "run": run_id,
        "framedex": VERSION,
        "arguments": arguments,
        "packages": _find_package_versions(python),
        **({"cell": cell} if cell else {}),
    }
    return {"FRAMEDEX_METADATA": json.dumps(metadata)}


def build_loading_variables(plugin: Plugin | None, runtime: Runtime, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that make JAX load the mock TPU, or a plug-in, through framedex.

    `environment` has all other variables. Raises FramedexError if the library cannot be loaded: JAX would silently
    continue without it.
    """
    with _requiring_native_files():
        library = framedex_native.library_path()
        check_library(library)
        if plugin is None:
            variables = {"TPU_LIBRARY_PATH": os.fspath(library)} | runtime.variables(environment)
            check_mock(library, {**environment, **variables}, runtime)
            return variables
        if plugin.name is None:
            return plugin.preload_variables(framedex_native.preload_path(), environment)
        return plugin.library_variables(library, environment)


@contextmanager
def _requiring_native_files() -> Iterator[None]:
    """Convert FileNotFoundError in the block to FramedexError: a file of the native part is missing."""
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


def _make_captures_folder(captures: Path) -> None:
    try:
        captures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FramedexError(
            f"The folder for captures, {captures}, cannot be made: {error.strerror}.",
            "Name one that can be written: `framedex run -o DIR SCRIPT`.",
        ) from None
    if not os.access(captures, os.W_OK | os.X_OK):
        raise FramedexError(f"{captures} cannot be written.", "Name another folder: `framedex run -o DIR SCRIPT`.")


def _find_package_versions(python: str) -> dict[str, str]:
    """The versions of a Python and its packages; the version of a free-threaded Python ends in `t`."""
    return _own_package_versions() if python == sys.executable else _query_package_versions(python)  # noqa: TID251


def _own_package_versions() -> dict[str, str]:
    versions = {"python": ".".join(map(str, sys.version_info[:3])) + ("t" if "t" in sys.abiflags else "")}
    for package in ("jax", "jaxlib", "torch_xla"):
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return versions


@cache
def _query_package_versions(python: str) -> dict[str, str]:
    program = (
        "versions = {'python': '.'.join(map(str, sys.version_info[:3])) + ('t' if 't' in sys.abiflags else '')}\n"
        "for package in ('jax', 'jaxlib', 'torch_xla'):\n"
        "    try: versions[package] = importlib.metadata.version(package)\n"
        "    except importlib.metadata.PackageNotFoundError: pass\n"
        "print(json.dumps(versions))"
    )
    try:
        versions: dict[str, str] = query_interpreter(python, program)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise unusable_interpreter_error(python, error) from None
    return versions


def _parse_version(text: str) -> tuple[int, int]:
    """The first two numbers of a version; (0, 0) if the version does not start with two numbers."""
    match = re.match(r"(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _format_version(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
