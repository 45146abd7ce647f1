"""Runs a child process as if the user had started it directly: signals reach it once, and it ends with this process.

A signal from a terminal, or to a process group, reaches the child without our help. A signal to this process alone must
be forwarded. The kernel does not tell a process which of the two happened. So a third process of the same group, the
witness (`witness.py`), reports each signal that the whole group receives.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from framedex.commands.launching import witness
from framedex.interpreters import bare_code

_START_S = 2.0
"""The longest time that the witness may take to start."""
_DELAY_S = 0.05
"""The longest time in which the started witness reports a signal. It waits in the kernel, so 1 ms is common."""

_POLL_S = 1.0
"""The longest time until the end of a program is noticed if our parent process has blocked SIGCHLD."""

_MANY_SIGNALS = 1 << 16
"""More bytes than the pipe holds."""

# Signals without a possible handler, that report an error of this process itself, or that stop a background job.
_NOT_FORWARDED = {
    *("SIGBUS", "SIGCHLD", "SIGFPE", "SIGILL", "SIGKILL", "SIGPIPE", "SIGSEGV", "SIGSTOP", "SIGTTIN", "SIGTTOU"),
}


@dataclass(frozen=True)
class SupervisedProcess:
    """A child process, and the end of a pipe to which Python writes a byte for each signal."""

    _process: subprocess.Popen[bytes]  # noqa: TID251
    _signals: int

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def wait(self) -> int:
        """Wait for the end, and return the exit status: negative if a signal ended the process.

        Python runs handlers in the main thread. If the kernel delivers a signal to another thread, a plain wait of the
        main thread continues, and the handler does not run. SIGCHLD, which reports the end, writes a byte, too.
        """
        while (status := self._process.poll()) is None:
            if select.select([self._signals], [], [], _POLL_S)[0]:
                os.read(self._signals, _MANY_SIGNALS)
        return status


@contextmanager
def supervised(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
) -> Iterator[SupervisedProcess]:
    """Start a command, and forward signals to it while the block lasts.

    If this process dies, the child is killed. An exception in the block kills it, too. Raises OSError if the command
    cannot be started. Call it in the main thread.
    """
    forwarded = [number for number in signal.valid_signals() if _is_forwarded(number)]
    early: list[int] = []
    process: subprocess.Popen[bytes] | None = None  # noqa: TID251
    watching = _Witness()
    stops_with_program = False

    def forward(number: int, _frame: FrameType | None = None) -> None:
        nonlocal stops_with_program
        if process is None:
            early.append(number)
            return
        if not watching.received(number):
            process.send_signal(number)
        if number in (signal.SIGTSTP, signal.SIGCONT):
            stops_with_program = number == signal.SIGTSTP
        follow()

    def follow(_number: int = 0, _frame: FrameType | None = None) -> None:
        nonlocal stops_with_program
        if stops_with_program and process is not None and _has_stopped(process.pid):
            stops_with_program = False
            os.kill(os.getpid(), signal.SIGSTOP)

    signals, wakeup = os.pipe()
    for end in (signals, wakeup):
        os.set_blocking(end, False)
    wakeup_before = signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    handlers = {number: signal.signal(number, forward) for number in forwarded}
    handlers[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, follow)
    ignores_ends = handlers[signal.SIGCHLD] is signal.SIG_IGN
    try:
        process = subprocess.Popen(  # noqa: TID251
            command, env=environment, cwd=folder, preexec_fn=_ignore_ends if ignores_ends else None
        )
        watching.guard(process.pid)
        for number in early:
            forward(number)
        yield SupervisedProcess(process, signals)
    except BaseException:
        if process is not None:
            process.kill()
        raise
    finally:
        for number, handler in handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.set_wakeup_fd(wakeup_before)
        for end in (signals, wakeup):
            os.close(end)
        watching.end()


def _is_forwarded(number: int) -> bool:
    """Whether this process handles a signal. A child inherits that a signal is ignored, as under nohup."""
    return getattr(number, "name", "") not in _NOT_FORWARDED and signal.getsignal(number) is not signal.SIG_IGN


def _ignore_ends() -> None:
    """Leave a child the ignored SIGCHLD of this process, which itself needs the signal to learn the child's status."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def _has_stopped(child: int) -> bool:
    """Whether a signal has stopped the child. A program that handles SIGTSTP, or has no shell above it, continues."""
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    return False


class _Witness:
    """The running `witness.py`."""

    def __init__(self) -> None:
        self._reported: dict[int, float] = {}
        self._has_started = False
        command = bare_code(Path(witness.__file__).read_text())
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._process = subprocess.Popen(  # noqa: TID251
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        assert self._process.stdout
        self._pipe = self._process.stdout.fileno()
        os.set_blocking(self._pipe, False)  # a handler can interrupt another one between its select() and read()

    def guard(self, program: int) -> None:
        """Have this process killed after the death of the supervisor."""
        assert self._process.stdin
        with suppress(BrokenPipeError):
            self._process.stdin.write(b"%d\n" % program)
            self._process.stdin.flush()

    def received(self, number: int) -> bool:
        """Whether the group has just received this signal. True once for each time."""
        if not self._has_started:
            self._read(_START_S)
        deadline = time.monotonic() + _DELAY_S
        while True:
            if self._reported.pop(number, 0.0) >= deadline - 2 * _DELAY_S:
                return True
            if not self._read(max(0.0, deadline - time.monotonic())):
                return False

    def _read(self, timeout: float) -> bool:
        """Read one report. False if none comes in `timeout` seconds."""
        if not select.select([self._pipe], [], [], timeout)[0]:
            return False
        try:
            report = os.read(self._pipe, witness.REPORT.size)
        except BlockingIOError:
            return True
        if not report:
            return False
        self._has_started = True
        number, reported_at = witness.REPORT.unpack(report)
        self._reported[number] = reported_at
        return True

    def end(self) -> None:
        """Kill the process before it notices the end of its input."""
        self._process.kill()
        self._process.communicate()
