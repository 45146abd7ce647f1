"""Runs each check in its own process, so that a crash or a hang is a result with its native stack.

The child forks before the plug-in is loaded. Handlers in the child report the stack of a fatal signal. After the time
limit the parent sends SIGTERM, and the child reports the stack of its hang.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import select
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from framedex.base.memory_maps import read_maps
from framedex.plugins.conformance.model import StackFrame

if TYPE_CHECKING:
    from framedex.binaries import Binary

Report = dict[str, Any]
_FATAL = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT)
_MAXIMUM_FRAMES = 100
_STACK_LIMIT_S = 10  # to report a stack, and to exit
_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_int)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a child: its report (None if it did not finish), its fatal signal or the time limit, and its stack."""

    report: Report | None
    signal: str
    is_timeout: bool
    frames: tuple[StackFrame, ...]
    output: str
    seconds: float
    status: int


Work = tuple[Callable[[], Report], Callable[[Outcome], None]]
"""The function that a child runs, and the function that receives the child's outcome."""


class Child:
    """A forked process that runs `work` and sends its report."""

    def __init__(self, work: Callable[[], Report], limit_s: float) -> None:
        self._started = time.monotonic()
        self._limit_s = limit_s
        self._received = b""
        self._is_timeout = False
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `finish`
        self.reader, writer = os.pipe()
        self._pid = os.fork()  # noqa: TID251 - starts no program
        if self._pid == 0:
            os.close(self.reader)
            _run(work, writer, self._output.fileno())
        os.close(writer)

    @property
    def deadline(self) -> float:
        """The time of the next call of `expire`, on the clock of `time.monotonic`."""
        return self._started + self._limit_s

    def receive(self) -> bool:
        """Read what the child has sent; return False at its end."""
        content = os.read(self.reader, 1 << 16)
        self._received += content
        return bool(content)

    def expire(self) -> None:
        """Request the stack of a child that exceeded its time limit; the second call kills the child."""
        os.kill(self._pid, signal.SIGKILL if self._is_timeout else signal.SIGTERM)
        self._is_timeout = True
        self._limit_s = time.monotonic() - self._started + _STACK_LIMIT_S

    def finish(self) -> Outcome:
        """Collect the ended child."""
        os.close(self.reader)
        _, status = os.waitpid(self._pid, 0)
        self._output.seek(0)
        output = self._output.read().decode(errors="replace")
        self._output.close()
        received = [
            json.loads(line) for line in self._received.splitlines() if line.startswith(b"{") and line.endswith(b"}")
        ]
        by_kind = {kind: value for each in received for kind, value in each.items()}
        number = by_kind.get("signal") or (os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0)
        return Outcome(
            by_kind.get("report"),
            signal.Signals(number).name if number and not self._is_timeout else "",
            self._is_timeout,
            _name_frames(by_kind.get("frames", [])),
            output,
            time.monotonic() - self._started,
            os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
        )


def run_all(works: list[Work], jobs: int, limit_s: float) -> None:
    """Run each piece of work in a child, `jobs` at a time, and pass its outcome to the work's own function."""
    waiting = list(reversed(works))
    running: dict[int, tuple[Child, Callable[[Outcome], None]]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            work, finished = waiting.pop()
            child = Child(work, limit_s)
            running[child.reader] = child, finished
        next_deadline = min(child.deadline for child, _ in running.values())
        readable, _, _ = select.select(list(running), [], [], max(next_deadline - time.monotonic(), 0))
        for reader in readable:
            child, finished = running[reader]
            if not child.receive():
                del running[reader]
                finished(child.finish())
        for child, _ in running.values():
            if child.deadline <= time.monotonic():
                child.expire()


def _run(work: Callable[[], Report], writer: int, output: int) -> None:
    """Run in the child, and end the process."""
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        _report_fatal_signals(writer)
        _send(writer, {"report": work()})
    except BaseException as error:  # the parent has to learn of a fault in a check
        _send(writer, {"report": {"fault": f"{type(error).__name__}: {error}"}})
    os._exit(0)


def _send(writer: int, message: dict[str, Any]) -> None:
    os.write(writer, json.dumps(message).encode() + b"\n")


def _report_fatal_signals(writer: int) -> None:
    """Send the native stack of a fatal signal to the parent, then let the signal end the process."""
    c_library = ctypes.CDLL(None)
    addresses = (ctypes.c_void_p * _MAXIMUM_FRAMES)()
    c_library.backtrace(addresses, _MAXIMUM_FRAMES)  # loads the unwinder
    c_library.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
    c_library.signal.restype = ctypes.c_void_p

    def handle(number: int) -> None:
        signal.alarm(_STACK_LIMIT_S // 2)
        c_library.signal(number, None)
        os.write(writer, b'{"signal": %d}\n' % number)
        count = c_library.backtrace(addresses, _MAXIMUM_FRAMES)
        _send(writer, {"frames": _locate([each or 0 for each in addresses[:count]])})
        if number == signal.SIGTERM:
            os._exit(0)

    handler = _HANDLER(handle)
    _report_fatal_signals.handler = handler  # type: ignore[attr-defined]
    for number in (*_FATAL, signal.SIGTERM):
        c_library.signal(number, ctypes.cast(handler, ctypes.c_void_p))


def _locate(addresses: list[int]) -> list[tuple[str, int]]:
    """The file and the file offset of each address."""
    mapped = [each for each in read_maps(os.getpid()) if each.path.startswith("/")]
    found = []
    for address in addresses:
        inside = (
            (each.path, address - each.start + each.offset) for each in mapped if each.start <= address < each.end
        )
        found.append(next(inside, ("", address)))
    return found


def _name_frames(located: list[tuple[str, int]]) -> tuple[StackFrame, ...]:
    """The frames between the signal handler and the interpreter, with the names of their functions."""
    frames = list(located)
    while frames and _is_of_interpreter(frames[0][0], ("libc.", "libc-", "libgcc_s", "libpthread")):
        frames.pop(0)
    end = next((i for i, (path, _) in enumerate(frames) if _is_of_interpreter(path)), len(frames))
    return tuple(_name_frame(path, offset) for path, offset in frames[:end])


def _is_of_interpreter(path: str, more: tuple[str, ...] = ()) -> bool:
    return Path(path).name.startswith(("python", "libpython", "_ctypes", "libffi", *more))


def _name_frame(path: str, offset: int) -> StackFrame:
    with contextlib.suppress(Exception):  # a stack without a name is better than no stack
        binary = _open_binary(path)
        address = binary.address_of(offset)
        if address is not None:
            named = binary.resolve([address - 1])[0]
            return StackFrame(named[-1].name if named else "", path, address)
    return StackFrame("", path, offset)


@functools.cache
def _open_binary(path: str) -> Binary:
    from framedex.binaries import Binary

    return Binary.open(Path(path))
