"""The options that limit a recording and configure the mock TPU, and the environment variables that pass them on."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.regularfile import read_regular
from framedex.base.words import BYTE_COUNT_REMEDY, parse_byte_count, parse_duration
from framedex.commands.inputs.files import to_absolute_path

if TYPE_CHECKING:
    from framedex.commands.launching.runtimes import Runtime


class ByteSize(click.ParamType[int]):
    """A positive number of bytes: `1048576`, `512MiB`, `16GB`."""

    name = "bytes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        size = parse_byte_count(str(value))
        if size is None:
            self.fail(f"{str(value)!r} is not a number of bytes: {BYTE_COUNT_REMEDY}.", param, ctx)
        return size


class Duration(click.ParamType[int]):
    """A positive duration in nanoseconds: `90`, `60s`, `10min`."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of nanoseconds."""
        found = parse_duration(str(value))
        if found is None:
            self.fail(f"{str(value)!r} is not a duration: write it like 90, 60s, 10min or 1h.", param, ctx)
        return found


@dataclass(frozen=True, slots=True)
class HangPolicy:
    """The time without progress (ns) before a hang is reported, and the actions then.

    `command` is a command of the user's shell, empty for none. `ends_program`: end the program afterwards.
    """

    after_ns: int
    command: str = ""
    ends_program: bool = False


_HANG_OPTIONS = (
    click.option(
        "--hang-after",
        type=Duration(),
        metavar="TIME",
        help="Report a hang, with the answer of `framedex hang`, after this time without progress, such as 60s. A"
        " program that computes has ten times as long.",
    ),
    click.option(
        "--hang-command", metavar="COMMAND", help="Run this shell command on a hang, with the answer on its stdin."
    ),
    click.option("--hang-end", is_flag=True, help="End the program after a hang was reported."),
)
HANG_PARAMETERS = ("hang_after", "hang_command", "hang_end")
"""The parameter names of these options."""


def hang_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for programs that hang to a command; `build_hang_policy` takes their values."""
    return _add_options(command, _HANG_OPTIONS)


def build_hang_policy(chosen: Mapping[str, Any]) -> HangPolicy | None:
    """The policy for hangs; None if there is none. Raises click.UsageError if --hang-after is missing."""
    if chosen["hang_after"] is None:
        if chosen["hang_command"] or chosen["hang_end"]:
            raise click.UsageError("--hang-command and --hang-end need a time: --hang-after 60s.")
        return None
    return HangPolicy(chosen["hang_after"], chosen["hang_command"] or "", chosen["hang_end"])


_RECORDING_OPTIONS = (
    click.option(
        "--include", multiple=True, metavar="PATTERN", help="Record only matching functions: 'PJRT_Buffer_*'."
    ),
    click.option("--exclude", multiple=True, metavar="PATTERN", help="Do not record matching functions."),
    click.option("--sample", type=click.IntRange(1), metavar="N", help="Record every Nth call of each thread."),
    click.option(
        "--limit",
        type=ByteSize(),
        metavar="BYTES",
        help="Stop recording at this size, such as 1GiB. Counts blocks of 256 KiB, at least one per thread.",
    ),
    click.option("--ring", is_flag=True, help="At the limit, overwrite the oldest calls."),
    click.option(
        "--flight",
        is_flag=True,
        help="Record for production: overwrite the oldest calls at --limit (default: 64MiB), and only count queries"
        " and the calls inside the mock.",
    ),
    click.option(
        "--on-crash",
        type=click.Choice(["stack", "off"]),
        help="On a fatal signal, keep the native and Python stack in the capture. Default: stack.",
    ),
)
RECORDING_PARAMETERS = ("include", "exclude", "sample", "limit", "ring", "flight", "on_crash")
"""The parameter names of these options."""


def recording_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the recording options to a command; `build_recording_variables` takes their values."""
    for option in reversed(_RECORDING_OPTIONS):
        command = option(command)
    return command


def build_recording_variables(chosen: Mapping[str, Any]) -> dict[str, str]:
    """The environment variables of the given recording options.

    Raises click.UsageError for --ring without --limit.
    """
    if chosen["ring"] and chosen["limit"] is None and not chosen["flight"]:
        raise click.UsageError("--ring needs a size: --limit BYTES.")
    texts = {
        "FRAMEDEX_INCLUDE": ",".join(chosen["include"]),
        "FRAMEDEX_EXCLUDE": ",".join(chosen["exclude"]),
        "FRAMEDEX_SAMPLE": _format_optional_number(chosen["sample"]),
        "FRAMEDEX_LIMIT": _format_optional_number(chosen["limit"]),
        "FRAMEDEX_RING": "1" if chosen["ring"] else "",
        "FRAMEDEX_FLIGHT": "1" if chosen["flight"] else "",
        "FRAMEDEX_ON_CRASH": {"stack": "1", "off": "0"}.get(chosen["on_crash"] or "", ""),
    }
    return {name: text for name, text in texts.items() if text}


def _format_optional_number(value: int | None) -> str:
    """A number as text for an environment variable; empty for None."""
    return "" if value is None else str(value)


_BEHAVIOUR_VARIABLE = "FRAMEDEX_BEHAVIOUR"


def build_behaviour_variables(files: Sequence[Path], platform: str | None, *, is_own_python: bool) -> dict[str, str]:
    """The environment variables that apply the behaviours of these files to a program.

    `platform` is JAX's name for the plug-in; None if an installed package defines it. It is mandatory: otherwise JAX
    silently continues on the CPU after an error in a behaviour file.

    Raises FramedexError for an unreadable file. Under framedex's own Python, it also raises for a syntax error.
    """
    paths = [to_absolute_path(file) for file in files]
    for path in paths:
        source = _read_behaviour_file(path)
        if is_own_python:  # another Python may have another syntax
            _check_syntax(path, source)
    wanted = build_mandatory_platform(platform) if platform else {}
    return {_BEHAVIOUR_VARIABLE: os.pathsep.join(map(os.fspath, paths))} | wanted


def build_mandatory_platform(platform: str) -> dict[str, str]:
    """The environment variable that makes JAX fail without this platform, unless the user chose JAX_PLATFORMS."""
    return {} if "JAX_PLATFORMS" in os.environ else {"JAX_PLATFORMS": f"{platform},cpu"}


def _read_behaviour_file(path: Path) -> bytes:
    if os.pathsep in os.fspath(path):
        raise FramedexError(
            f"The path {make_printable(os.fspath(path))} contains {os.pathsep}, which separates behaviour files.",
            "Rename the file, or start framedex in its folder.",
        )
    try:
        return read_regular(path)  # a pipe is rejected, because the program reads the file again
    except OSError as error:
        raise FramedexError(
            f"The behaviour file {make_printable(os.fspath(path))} cannot be read: {error.strerror}.",
            "Check --behaviour.",
        ) from None


def _check_syntax(path: Path, source: bytes) -> None:
    try:
        compile(source, os.fspath(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise FramedexError(
            f"The behaviour file {make_printable(os.fspath(path))} is not valid Python: {make_printable(str(error))}.",
            "Correct the file.",
        ) from None


_MACHINE_VARIABLES = {
    "device": "FRAMEDEX_DEVICE",
    "devices": "FRAMEDEX_DEVICES",
    "hosts": "FRAMEDEX_HOSTS",
    "host_id": "FRAMEDEX_HOST_ID",
    "slices": "FRAMEDEX_SLICES",
    "hbm": "FRAMEDEX_HBM",
    "fail": "FRAMEDEX_FAIL",
    "dry_run": "FRAMEDEX_DRY_RUN",
}
_SIZE_OPTIONS = (
    click.option("--device", metavar="KIND[:SHAPE]", help="TPU kind and shape: v4, v5e:2x4, ... Default: v5e."),
    click.option(
        "--devices", type=click.IntRange(1), metavar="N", help="Number of devices, in the kind's usual shape."
    ),
    click.option(
        "--hosts", type=click.IntRange(1), metavar="N", help="Split the devices among N hosts; simulate one of them."
    ),
    click.option("--hbm", type=ByteSize(), help="Memory per device, such as 512MiB. Default: that of the kind."),
)
_MACHINE_OPTIONS = (
    *_SIZE_OPTIONS,
    click.option("--host-id", type=click.IntRange(0), metavar="I", help="The simulated host. Default: 0."),
    click.option("--slices", type=click.IntRange(1), metavar="N", help="Simulate N slices of that shape."),
    click.option(
        "--dry-run",
        flag_value="1",
        default=None,
        help="Compile programs and count their memory, but run none: their results are zeros.",
    ),
    click.option(
        "--fail", multiple=True, metavar="RULE", help="Inject a failure: 'PJRT_Client_Compile:2=INTERNAL', 'device:1'."
    ),
)


def machine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the machine options to a command; `build_machine_variables` takes their values."""
    return _add_options(command, _MACHINE_OPTIONS)


def machine_size_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the machine options about devices and their memory to a command."""
    return _add_options(command, _SIZE_OPTIONS)


def _add_options(
    command: Callable[..., Any], options: Sequence[Callable[[Callable[..., Any]], Callable[..., Any]]]
) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command


def build_machine_variables(chosen: Mapping[str, Any]) -> dict[str, str]:
    """The environment variables of the given machine options."""
    if "" in chosen.get("fail", ()):
        raise click.UsageError("--fail is empty: write a rule such as 'device:1', or omit the option.")
    texts = {name: ";".join(value) if isinstance(value, tuple) else value for name, value in chosen.items()}
    return {_MACHINE_VARIABLES[name]: str(text) for name, text in texts.items() if text not in (None, "")}


def check_mock(library: Path, environment: Mapping[str, str], runtime: Runtime) -> None:
    """Raise FramedexError if the mock TPU in `library` rejects these settings: JAX would silently use the CPU."""
    check = getattr(ctypes.CDLL(os.fspath(library)), runtime.value)
    check.argtypes = [ctypes.POINTER(ctypes.c_char_p)]
    check.restype = ctypes.c_char_p
    problem = check(_to_environ(environment))
    if problem is not None:
        raise FramedexError(
            f"The mock TPU cannot be opened: {problem.decode(errors='replace')}.",
            f"Check {runtime.option_names}, and the FRAMEDEX_ variables.",
        )


@dataclass(frozen=True, slots=True)
class MockMachine:
    """The number of devices of a machine, and the memory of each in bytes."""

    devices: int
    memory: int


def read_mock_machine(library: Path, environment: Mapping[str, str]) -> MockMachine:
    """Return the machine that these settings describe, which `check_mock` must accept."""
    read = ctypes.CDLL(os.fspath(library)).framedex_mock_memory
    read.restype = ctypes.c_int64
    devices = ctypes.c_int64()
    memory = read(_to_environ(environment), ctypes.byref(devices))
    return MockMachine(devices.value, memory)


def _to_environ(environment: Mapping[str, str]) -> ctypes.Array[ctypes.c_char_p]:
    """The variables for framedex as a list like C's `environ`."""
    variables = [os.fsencode(f"{name}={value}") for name, value in environment.items() if name.startswith("FRAMEDEX_")]
    return (ctypes.c_char_p * (len(variables) + 1))(*variables, None)
