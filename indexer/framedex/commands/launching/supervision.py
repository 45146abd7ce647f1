"""Runs a child process as if the user had started it directly: signals reach it once, and it ends with this process.

A signal from a terminal, or to a process group, reaches the child without our help. A signal to this process alone must
be forwarded. The kernel does not tell a process which of the two happened. So a third process of the same group, the
witness, reports each signal that the whole group receives.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

_WITNESS_DELAY_S = 0.05
"""Time in which the witness reports a signal to the group. It waits in the kernel, so 1 ms is common."""

_REPORT = struct.Struct("<Bd")
_PR_SET_PDEATHSIG = 1
# Signals that nobody can handle, that report an error of this process itself, or that stop a background job.
_NOT_FORWARDED = {
    "SIGBUS",
    "SIGCHLD",
    "SIGFPE",
    "SIGILL",
    "SIGKILL",
    "SIGPIPE",
    "SIGSEGV",
    "SIGSTOP",
    "SIGTTIN",
    "SIGTTOU",
}
_FORWARDED = {number for number in signal.valid_signals() if getattr(number, "name", "") not in _NOT_FORWARDED}


@contextmanager
def supervised(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command, and forward signals to it while the block lasts.

    The kernel kills the child if this process dies. An exception in the block kills it, too. Raises OSError if the
    command cannot be started. Call it in the main thread.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def bind_to_parent() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(128 + signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    handlers = {}
    process = None
    witness = _Witness()
    try:
        process = subprocess.Popen(command, env=environment, cwd=folder, preexec_fn=bind_to_parent)

        def forward(number: int, _frame: FrameType | None) -> None:
            if not witness.received(number):
                process.send_signal(number)
            if number == signal.SIGTSTP:
                os.kill(parent, signal.SIGSTOP)

        handlers = {number: signal.signal(number, forward) for number in _FORWARDED}
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield process
    except BaseException:
        if process is not None:
            process.kill()
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED)
        for number, handler in handlers.items():
            if handler is not None:  # of C code
                signal.signal(number, handler)
        witness.end()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Witness:
    """A process of this group that blocks all signals and reports the number and time of each through a pipe."""

    def __init__(self) -> None:
        self._pipe, writing = os.pipe()
        self._reported: dict[int, float] = {}
        parent = os.getpid()
        self._process = os.fork()
        if self._process:
            os.close(writing)
            return
        try:  # with the signals blocked already
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == parent:
                os.dup2(writing, 0)
                os.closerange(1, os.sysconf("SC_OPEN_MAX"))
                while True:
                    number = signal.sigwait(_FORWARDED)
                    os.write(0, _REPORT.pack(number, time.monotonic()))
        finally:
            os._exit(0)

    def received(self, number: int) -> bool:
        """Whether the group has just received this signal. True once for each time."""
        deadline = time.monotonic() + _WITNESS_DELAY_S
        while True:
            remaining = max(0.0, deadline - time.monotonic())
            if self._reported.get(number, 0.0) >= deadline - 2 * _WITNESS_DELAY_S:
                del self._reported[number]
                return True
            if not select.select([self._pipe], [], [], remaining)[0]:
                return False
            report = os.read(self._pipe, _REPORT.size)
            if len(report) < _REPORT.size:
                return False
            reported, at = _REPORT.unpack(report)
            self._reported[reported] = at

    def end(self) -> None:
        """Kill the process."""
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)
        os.close(self._pipe)
