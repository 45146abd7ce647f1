"""Run a plan in a child process, and parse its report.

The child is a Python process, because the mock TPU needs one. It loads only the replayer (native/replay) and the
plug-in. `native/replay/report.h` specifies the report.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from framedex.base.errors import FramedexError
from framedex.base.words import signal_name
from framedex.plugins.replay.confinement import build_confined_program
from framedex.plugins.replay.plan import UNKNOWN, Machine, OptionValue, Plan

_PROGRAM = """\
import ctypes, os, sys
library, plan, *paths, descriptor, reads_outputs, seed, is_mock = sys.argv[1:]
os.set_inheritable(int(descriptor), False)  # processes that a plug-in starts do not keep the report open
with open(plan, "rb") as file:
    text = file.read()
pointer, number = ctypes.c_char_p, ctypes.c_int
register_type = ctypes.CFUNCTYPE(None, pointer, ctypes.c_void_p)
kept = ctypes.create_string_buffer(b"xla._CUSTOM_CALL_TARGET")
make_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
make_capsule = make_capsule(("PyCapsule_New", ctypes.pythonapi))

@register_type
def register(target, handler):  # with the CPU client that runs the programs of the mock TPU
    from jaxlib import xla_client
    capsule = make_capsule(handler, ctypes.addressof(kept), None)
    xla_client.register_custom_call_target(target.decode(), capsule, platform="cpu", api_version=1)

replay = ctypes.CDLL(library).framedex_replay
replay.argtypes = [pointer, ctypes.c_size_t, pointer, pointer, number, number, ctypes.c_uint64, register_type]
registration = register if int(is_mock) else register_type()
numbers = int(descriptor), int(reads_outputs), int(seed)
sys.exit(replay(text, len(text), *map(os.fsencode, paths), *numbers, registration))
"""
_MAX_LINE = 4096
_MAX_ERROR_OUTPUT = 2000  # characters of a crashed plug-in's output
_RECORDING_VARIABLES = frozenset(
    {"FRAMEDEX_OUT", "FRAMEDEX_PLUGIN", "FRAMEDEX_CONTENTS", "FRAMEDEX_METADATA", "LD_PRELOAD"}
)
_ALTERING_VARIABLES = frozenset({"FRAMEDEX_BEHAVIOUR", "FRAMEDEX_FAIL"})


@dataclass(frozen=True, slots=True)
class Target:
    """The plug-in of a replay, the interpreter of its process, and the library that replays.

    `is_mock`: the plug-in is the mock TPU. `is_reference`: another plug-in is compared with this one, which therefore
    runs without behaviours and injected failures. `options` are the client's. `flags` are appended to XLA's flags.
    `is_confined`: the process is confined (`confinement.py`); only that of the mock has no network.
    """

    plugin: Path
    python: str
    is_mock: bool
    replayer: Path
    is_reference: bool = False
    flags: str = ""
    is_confined: bool = True
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The plug-in's name for answers."""
        return "mock TPU" if self.is_mock else self.plugin.name

    @property
    def is_altered(self) -> bool:
        """Whether behaviours or injected failures change the plug-in."""
        return not self.is_reference and any(os.environ.get(name) for name in _ALTERING_VARIABLES)

    def variables(self, machine: Machine) -> dict[str, str]:
        """The environment of the process. By default, a mock simulates the recorded machine."""
        variables = {name: value for name, value in os.environ.items() if name not in _RECORDING_VARIABLES}
        variables["FRAMEDEX_RECORD"] = "0"
        if self.flags:
            variables["XLA_FLAGS"] = f"{variables.get('XLA_FLAGS', '')} {self.flags}".strip()
        if self.is_reference:
            variables = {name: value for name, value in variables.items() if name not in _ALTERING_VARIABLES}
        if self.is_mock and machine.kind.startswith("TPU"):
            variables.setdefault("FRAMEDEX_DEVICE", machine.kind)
        if self.is_mock and machine.devices:
            variables.setdefault("FRAMEDEX_DEVICES", str(machine.devices))
        return variables


@dataclass(frozen=True, slots=True)
class Record:
    """A record of the report: its words after the kind and the row, and its bytes."""

    kind: str
    row: int
    words: tuple[str, ...]
    content: bytes

    @property
    def message(self) -> str:
        """The bytes as text."""
        return self.content.decode(errors="replace")


@dataclass(frozen=True, slots=True)
class Array:
    """A content in a report: a read, or the result `index` of an execution on a device."""

    device: int
    index: int
    type: str
    shape: str
    name: str
    content: bytes

    @classmethod
    def parse(cls, record: Record) -> Array:
        """Parse a record of a read or an output."""
        device, index, kind, shape, name = record.words
        return cls(int(device), int(index), kind, "" if shape == UNKNOWN else shape, name, record.content)

    @property
    def dimensions(self) -> tuple[int, ...]:
        """The lengths of the dimensions."""
        return tuple(int(each) for each in self.shape.split("x") if each)


class ReplayCrashedError(Exception):
    """The process ended before the end of the plan. Has the reason, and the end of the plug-in's output."""

    def __init__(self, reason: str, output: str, *, is_hang: bool = False) -> None:
        """Keep both texts, and whether the process exceeded its time limit."""
        super().__init__(reason)
        self.is_hang = is_hang
        self.reason = reason
        self.output = output


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a replay. `reads_outputs`: the report has all results of executions.

    `seed` determines contents that were not recorded. A process that exceeds `limit_s` is killed; default: no limit.
    """

    reads_outputs: bool = False
    seed: int = 0
    limit_s: float | None = None


def run_plan(plan: Plan, target: Target, options: Options) -> Generator[Record]:
    """Replay a plan and yield its results while it runs. Raises ReplayCrashedError."""
    with tempfile.NamedTemporaryFile("w", suffix=".plan") as file, tempfile.TemporaryFile() as output:
        file.write(plan.text(target.options))
        file.flush()
        reading, writing = os.pipe()
        arguments = (
            file.name,
            plan.capture.absolute(),
            target.plugin,
            writing,
            int(options.reads_outputs),
            options.seed,
            int(target.is_mock),
        )
        program = (
            build_confined_program(_PROGRAM, allows_network=not target.is_mock) if target.is_confined else _PROGRAM
        )
        command = [target.python, "-P", "-c", program, os.fspath(target.replayer), *map(str, arguments)]
        with open(reading, "rb") as report:  # noqa: PTH123 - a descriptor
            try:
                process = subprocess.Popen(  # noqa: TID251
                    command,
                    env=target.variables(plan.machine),
                    pass_fds=(writing,),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                )
            except OSError as error:
                raise FramedexError(
                    f"{target.python} cannot be started: {error.strerror}.", "Check --python."
                ) from None
            finally:
                os.close(writing)
            with _killing_at_exit(process), _killing_at_limit(process, options.limit_s) as expired:
                yield from _read_records(report, process, output, expired)


@contextmanager
def _killing_at_exit(process: subprocess.Popen[bytes]) -> Iterator[None]:  # noqa: TID251
    """Context manager that kills the process at its end, also if the reader stops early."""
    try:
        yield
    finally:
        with suppress(OSError):
            process.kill()
        process.wait()


@contextmanager
def _killing_at_limit(process: subprocess.Popen[bytes], limit_s: float | None) -> Iterator[threading.Event]:  # noqa: TID251
    """Context manager that kills the process at its time limit. It yields an event, which is set at that moment."""
    expired = threading.Event()

    def kill() -> None:
        expired.set()
        process.kill()

    timer = threading.Timer(limit_s or 0, kill)
    if limit_s is not None:
        timer.start()
    try:
        yield expired
    finally:
        timer.cancel()


def _read_records(
    report: IO[bytes],
    process: subprocess.Popen[bytes],  # noqa: TID251
    output: IO[bytes],
    expired: threading.Event,
) -> Iterator[Record]:
    while True:
        record = parse_record(report)
        if record is None:
            end = _describe_end(process)
            is_hang = expired.is_set()
            raise ReplayCrashedError(
                "it exceeded its time limit" if is_hang else end, _read_last_output(output), is_hang=is_hang
            )
        if record.kind == "end":
            return
        if record.kind == "unusable":
            raise FramedexError(record.message.rstrip(".") + ".", "Check --plugin and --python.")
        yield record


def parse_record(report: IO[bytes]) -> Record | None:
    """Read a record; None if the report ends, or if what follows is not a record."""
    line = report.readline(_MAX_LINE)
    try:
        kind, row, *words, size = line.decode("ascii").split()
        if not line.endswith(b"\n"):
            return None
        length = int(size)
        content = report.read(length)
        return Record(kind, int(row), tuple(words), content) if len(content) == length >= 0 else None
    except (ValueError, OverflowError, MemoryError):
        return None


def _describe_end(process: subprocess.Popen[bytes]) -> str:  # noqa: TID251
    status = process.wait()
    return (
        f"its process was ended by {signal_name(-status)}" if status < 0 else f"its process ended with status {status}"
    )


def _read_last_output(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - _MAX_ERROR_OUTPUT))
    return output.read().decode(errors="replace").strip()
