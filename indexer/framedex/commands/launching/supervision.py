"""Run a child process as if the user had started it directly: each signal reaches it once, and it dies with us.

A signal from a terminal, or to a process group, reaches the child without our help. A signal to this process alone must
be forwarded. A process cannot distinguish the two. So a third process of the same group, the witness (`witness.py`),
reports each signal that the whole group receives.
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

from framedex.base.interpreters import build_bare_command
from framedex.commands.launching import witness

_START_TIMEOUT_S = 2.0
"""The longest time that the witness may take to start."""
_REPORT_TIMEOUT_S = 0.05
"""The longest time that the running witness needs to report a signal; 1 ms is typical."""

_POLL_INTERVAL_S = 1.0
"""The interval of checks for the program's end, which matter if our parent process has blocked SIGCHLD."""

_PIPE_READ_BYTES = 1 << 16
"""The size of one read, which empties the pipe."""

# Signals that cannot be handled, that report an error of this process itself, or that stop a background job.
_NOT_FORWARDED = {
    *("SIGBUS", "SIGCHLD", "SIGFPE", "SIGILL", "SIGKILL", "SIGPIPE", "SIGSEGV", "SIGSTOP", "SIGTTIN", "SIGTTOU"),
}


@dataclass(frozen=True)
class SupervisedProcess:
    """A child process, and the read end of a pipe to which Python writes a byte for each signal."""

    _process: subprocess.Popen[bytes]  # noqa: TID251
    _signals: int

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def wait(self) -> int:
        """Wait for the end, and return the exit status: negative if a signal ended the process.

        Python runs signal handlers in the main thread. If the kernel delivers a signal to another thread, a plain wait
        in the main thread would not return, and no handler would run. SIGCHLD also writes a byte.
        """
        while (status := self._process.poll()) is None:
            if select.select([self._signals], [], [], _POLL_INTERVAL_S)[0]:
                os.read(self._signals, _PIPE_READ_BYTES)
        return status


@contextmanager
def supervise(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None, stdout: int | None = None
) -> Iterator[SupervisedProcess]:
    """Start a command, and forward signals to it while the block lasts. `stdout` is a file descriptor for its output.

    If this process dies, the child is killed. An exception in the block kills it, too. Raises OSError if the command
    cannot be started. Call it in the main thread.
    """
    forwarded = [number for number in signal.valid_signals() if _is_forwarded(number)]
    early_signals: list[int] = []
    process: subprocess.Popen[bytes] | None = None  # noqa: TID251
    signal_witness = _Witness()
    is_stop_pending = False

    def forward(number: int, _frame: FrameType | None = None) -> None:
        nonlocal is_stop_pending
        if process is None:
            early_signals.append(number)
            return
        if not signal_witness.has_group_received(number):
            process.send_signal(number)
        if number in (signal.SIGTSTP, signal.SIGCONT):
            is_stop_pending = number == signal.SIGTSTP
        stop_with_child()

    def stop_with_child(_number: int = 0, _frame: FrameType | None = None) -> None:
        nonlocal is_stop_pending
        if is_stop_pending and process is not None and _has_stopped(process.pid):
            is_stop_pending = False
            os.kill(os.getpid(), signal.SIGSTOP)

    with _wakeup_pipe() as signals:
        handlers = {number: signal.signal(number, forward) for number in forwarded}
        handlers[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, stop_with_child)
        ignores_ends = handlers[signal.SIGCHLD] is signal.SIG_IGN
        try:
            process = subprocess.Popen(  # noqa: TID251
                command,
                env=environment,
                cwd=folder,
                stdout=stdout,
                preexec_fn=_ignore_child_ends if ignores_ends else None,
            )
            signal_witness.kill_on_supervisor_death(process.pid)
            for number in early_signals:
                forward(number)
            yield SupervisedProcess(process, signals)
        except BaseException:
            if process is not None:
                process.kill()
            raise
        finally:
            for number, handler in handlers.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)
            signal_witness.stop()


@contextmanager
def _wakeup_pipe() -> Iterator[int]:
    """Yield the read end of a pipe to which Python writes a byte for each signal while the block lasts."""
    signals, wakeup = os.pipe()
    for descriptor in (signals, wakeup):
        os.set_blocking(descriptor, False)
    wakeup_before = signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    try:
        yield signals
    finally:
        signal.set_wakeup_fd(wakeup_before)
        for descriptor in (signals, wakeup):
            os.close(descriptor)


def _is_forwarded(number: int) -> bool:
    """Whether to forward a signal. A child inherits ignored signals, as under nohup, so those are not forwarded."""
    return getattr(number, "name", "") not in _NOT_FORWARDED and signal.getsignal(number) is not signal.SIG_IGN


def _ignore_child_ends() -> None:
    """Ignore SIGCHLD in a child, because our parent ignored it. This process handles it to get the child's status."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def _has_stopped(child: int) -> bool:
    """Whether a signal has stopped the child. A program that handles SIGTSTP, or runs without a shell, continues."""
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    return False


class _Witness:
    """The running `witness.py`."""

    def __init__(self) -> None:
        self._reported: dict[int, float] = {}
        self._has_started = False
        command = build_bare_command(Path(witness.__file__).read_text())
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

    def kill_on_supervisor_death(self, program: int) -> None:
        """Let the witness kill this process if the supervisor dies."""
        assert self._process.stdin
        with suppress(BrokenPipeError):
            self._process.stdin.write(b"%d\n" % program)
            self._process.stdin.flush()

    def has_group_received(self, number: int) -> bool:
        """Whether the process group has just received this signal. Each reception gives True once."""
        if not self._has_started:
            self._read_report(_START_TIMEOUT_S)
        deadline = time.monotonic() + _REPORT_TIMEOUT_S
        while True:
            if self._reported.pop(number, 0.0) >= deadline - 2 * _REPORT_TIMEOUT_S:
                return True
            if not self._read_report(max(0.0, deadline - time.monotonic())):
                return False

    def _read_report(self, timeout: float) -> bool:
        """Read one report. False if none arrives within `timeout` seconds."""
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

    def stop(self) -> None:
        """Kill the witness before it reads the end of its input, after which it would kill the program."""
        self._process.kill()
        self._process.communicate()
