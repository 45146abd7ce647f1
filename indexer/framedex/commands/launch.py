"""Starts a program under the mock TPU or another plug-in, waits for it, and finds the captures it left."""

from __future__ import annotations

import ctypes
import importlib.metadata
import json
import os
import re
import resource
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import framedex_native
from framedex.binaries import Contents, state_of
from framedex.captures import captures_below, captures_of_run, count_records, read_metadata, write_contents
from framedex.commands.files import absolute, working_folder
from framedex.commands.mock_settings import check_mock
from framedex.commands.plugins import Plugin
from framedex.commands.runtimes import LEGACY_JAXLIB, Runtime
from framedex.errors import FramedexError
from framedex.model import BinaryState
from framedex.plaintext import printable
from framedex.selection import selected_by

SUPPORTED_PYTHON = ((3, 11), (3, 13))
SUPPORTED_JAXLIB = ((0, 8), (0, 12))
_FORWARDED_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


@dataclass(frozen=True, slots=True)
class Launch:
    """What to run: the interpreter, its arguments, the folder for captures (None: the working folder's own), the
    environment variables that tell the mock and the recorder what is wanted (an empty one leaves the user's own), and
    the plug-in to record in place of the mock; `runtime` says how its JAX comes to the mock."""

    python: str
    arguments: tuple[str, ...]
    captures: Path | None
    settings: Mapping[str, str]
    plugin: Plugin | None = None
    runtime: Runtime = Runtime.PJRT


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the program ended (`status` negative: by that signal), the captures it made, and the plug-in it was given."""

    status: int
    captures: tuple[Path, ...]
    plugin: Plugin | None = None

    def summary(self) -> str:
        """One line: what was recorded and what to type next, or why there is nothing."""
        ended = f"the program was ended by {signal.Signals(-self.status).name}; " if self.status < 0 else ""
        if os.environ.get("FRAMEDEX_RECORD") == "0":
            return f"{ended}nothing is recorded (FRAMEDEX_RECORD=0)."
        if not self.captures:
            return f"{ended}nothing was recorded: {_why_nothing(self.plugin)}"
        counts = [count_records(capture) for capture in self.captures]
        calls, threads = sum(count.calls for count in counts), sum(count.threads for count in counts)
        where = printable(_short(self.captures[0]))
        more = f" and {len(self.captures) - 1} more" if len(self.captures) > 1 else ""
        if not calls and (chosen := self._selected_by()):
            return f"{ended}recorded no call in {where}{more}: none fits {' and '.join(chosen)}."
        on = f"{threads:,} thread{'s' if threads != 1 else ''}"
        limited = any(count.was_limited for count in counts)
        missing = " (later calls are missing: --limit was reached)" if limited else ""
        return f"{ended}recorded {calls:,} calls on {on} in {where}{more}{missing}. Next: framedex index"

    def _selected_by(self) -> list[str]:
        """What selected the calls to record, as `run` writes it: `--include`."""
        variables = {name for capture in self.captures for name in selected_by(read_metadata(capture))}
        return sorted(name.replace("FRAMEDEX_", "--").lower() for name in variables)

    def raise_signal(self) -> None:
        """End this process by the signal that ended the program, without a second core file."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -self.status not in (signal.SIGKILL, signal.SIGSTOP):  # those have no handler to take away
            signal.signal(-self.status, signal.SIG_DFL)
        os.kill(os.getpid(), -self.status)


def check_python(python: str) -> None:
    """Raise FramedexError unless this interpreter is one that framedex knows how to record."""
    versions = _versions(python)
    first, last = SUPPORTED_PYTHON
    if not first <= _version(versions["python"]) <= last:
        raise FramedexError(
            f"{python} is Python {versions['python']}, which framedex cannot record.",
            "Use one of Python 3.11 to 3.13: `framedex run --python PATH ...`.",
        )


def check_jaxlib(python: str) -> Runtime:
    """The runtime of this interpreter's jaxlib, or torch_xla. Raises FramedexError unless the mock TPU can be it."""
    versions = _versions(python)
    jaxlib = versions.get("jaxlib")
    if jaxlib is None and "torch_xla" in versions:
        return Runtime.PJRT
    if jaxlib == LEGACY_JAXLIB:
        return Runtime.TPU_EXECUTOR
    if jaxlib is None:
        raise FramedexError(
            f"{python} has no jaxlib.",
            f"Install it with `{python} -m pip install jax`, or name another Python: `framedex run --python PATH ...`.",
        )
    oldest, newest = SUPPORTED_JAXLIB
    if not oldest <= _version(jaxlib) <= newest:
        raise FramedexError(
            f"jaxlib {jaxlib} is not supported: framedex records jaxlib {_dotted(oldest)} to {_dotted(newest)},"
            f" and {LEGACY_JAXLIB}.",
            f"Install one of those: {python} -m pip install 'jax>={_dotted(oldest)},<{newest[0]}.{newest[1] + 1}'",
        )
    return Runtime.PJRT


def launch(what: Launch) -> Outcome:
    """Run the program to its end. Raises FramedexError when it cannot be started or its captures cannot be kept."""
    captures = absolute(what.captures or captures_below(working_folder()))
    _make_folder(captures)
    run_id = uuid.uuid4().hex
    try:
        process = subprocess.Popen([what.python, *what.arguments], env=_environment(what, captures, run_id))
    except OSError as error:
        raise FramedexError(f"{what.python} cannot be started: {error.strerror}.", "Check --python.") from None
    with _standing_aside(process):
        status = process.wait()
    made = tuple(captures_of_run(captures, run_id))
    _note_contents(made)
    return Outcome(status, made, what.plugin)


def _note_contents(captures: Iterable[Path]) -> None:
    """Write into the captures what their binaries hold: by that they are known wherever they lie later."""
    contents = Contents()

    def digest(path: Path, state: BinaryState) -> str:
        return contents.of(path) if state_of(path) == state else ""

    for capture in captures:
        with suppress(OSError):  # without it names are shown with a note, where the binary was put there anew
            write_contents(capture, digest)


def _environment(what: Launch, captures: Path, run_id: str) -> dict[str, str]:
    try:
        library = framedex_native.library_path()
        _check_library(library)
        loading = _loading(what.plugin, library)
        ffi_startup = framedex_native.ffi_startup_path()
    except FileNotFoundError as error:
        raise FramedexError(str(error), "Install framedex again: pip install --force-reinstall framedex.") from None
    environment = dict(os.environ)
    environment |= loading
    environment["FRAMEDEX_OUT"] = os.fspath(captures)
    # Python starts with what it finds there, and only FFI tracing stands there.
    python_path = [os.fspath(ffi_startup), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(python_path)
    environment |= {name: value for name, value in what.settings.items() if value}
    if what.plugin is None:
        environment |= what.runtime.variables(environment)
        check_mock(library, environment, what.runtime)
    metadata = {
        "run": run_id,
        "framedex": importlib.metadata.version("framedex"),
        "arguments": what.arguments,
        "packages": _versions(what.python),
    }
    environment["FRAMEDEX_METADATA"] = json.dumps(metadata)
    return environment


def _loading(plugin: Plugin | None, library: Path) -> dict[str, str]:
    """The variables with which the program comes to its plug-in through framedex. Raises FileNotFoundError."""
    if plugin is None:
        return {"TPU_LIBRARY_PATH": os.fspath(library)}
    if plugin.name is None:
        return plugin.met_by(framedex_native.preload_path(), os.environ)
    return plugin.loaded_by(library, os.environ)


def _check_library(library: Path) -> None:
    """Raise FramedexError unless the library can be loaded: JAX would go on without a word, on the CPU."""
    try:
        ctypes.CDLL(os.fspath(library)).GetPjrtApi  # noqa: B018 - looking it up is the check
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
            "Name one that can be written: framedex run -o DIR ...",
        ) from None
    if not os.access(captures, os.W_OK | os.X_OK):
        raise FramedexError(f"{captures} cannot be written.", "Name another folder: framedex run -o DIR ...")


@contextmanager
def _standing_aside(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """While the program runs, signals are its affair: a terminal's reach it by themselves, the others are passed on."""

    def forward(number: int, _frame: FrameType | None) -> None:
        process.send_signal(number)

    before = {number: signal.signal(number, forward) for number in _FORWARDED_SIGNALS}
    before |= {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _why_nothing(plugin: Plugin | None) -> str:
    if plugin:
        return f"the program never loaded {printable(os.fspath(plugin.path))}, or ended before that."
    platforms = os.environ.get("JAX_PLATFORMS", "")
    if platforms and "tpu" not in platforms.split(","):
        return f"JAX_PLATFORMS={printable(platforms)} keeps JAX off the TPU. Unset it, or use JAX_PLATFORMS=tpu,cpu."
    return "the program never opened JAX's TPU (jax.devices() or jax.device_put does), or ended before that."


def _short(path: Path) -> str:
    """The path as seen from here, where it is below."""
    with suppress(FramedexError):
        here = working_folder()
        return os.fspath(path.relative_to(here) if path.is_relative_to(here) else path)
    return os.fspath(path)


def _versions(python: str) -> dict[str, str]:
    return _own_versions() if python == sys.executable else _versions_of(python)


def _own_versions() -> dict[str, str]:
    versions = {"python": ".".join(map(str, sys.version_info[:3]))}
    for package in ("jax", "jaxlib", "torch_xla"):
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return versions


def _versions_of(python: str) -> dict[str, str]:
    program = (
        "import importlib.metadata as m, json, sys\n"
        "versions = {'python': '.'.join(map(str, sys.version_info[:3]))}\n"
        "for package in ('jax', 'jaxlib', 'torch_xla'):\n"
        "    try: versions[package] = m.version(package)\n"
        "    except m.PackageNotFoundError: pass\n"
        "print(json.dumps(versions))"
    )
    try:
        answer = subprocess.run([python, "-c", program], check=True, capture_output=True, text=True).stdout
        versions: dict[str, str] = json.loads(answer)
    except (OSError, subprocess.CalledProcessError, ValueError):
        raise FramedexError(f"{python} is not a Python that can be run.", "Check --python.") from None
    return versions


def _version(text: str) -> tuple[int, int]:
    """The first two numbers of a version; (0, 0) where it does not begin with two."""
    match = re.match(r"(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
