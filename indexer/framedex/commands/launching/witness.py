"""A program that reports each signal of its process group; `supervision.py` starts it.

It starts with all signals blocked. It writes one record of zeros to stdout, then one record for each signal. The first
line of stdin is the process id of the supervised program. At the end of stdin, when the supervisor has ended, it kills
that program.
"""

import os
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

REPORT = struct.Struct("<Bd")
"""The number of a signal, and the monotonic time in seconds."""


def kill_program_after_supervisor() -> None:
    """Wait until stdin ends, then kill the supervised program."""
    number = sys.stdin.readline()
    if number:
        kill = _make_killer(int(number))
        sys.stdin.read()
        kill(signal.SIGKILL)
    os._exit(0)


def _make_killer(program: int) -> Callable[[int], None]:
    """A function that sends a signal to a process, if possible by pidfd.

    Kernels before 5.3 and the Python of uv have no `pidfd_open`.
    """
    try:
        return partial(signal.pidfd_send_signal, os.pidfd_open(program))
    except (AttributeError, OSError):
        return partial(os.kill, program)


def report_signals() -> None:
    """Write a record for each signal, in an endless loop."""
    os.write(1, REPORT.pack(0, 0.0))
    while True:
        number = signal.sigwait(signal.valid_signals())
        os.write(1, REPORT.pack(number, time.monotonic()))


if __name__ == "__main__":
    threading.Thread(target=kill_program_after_supervisor, daemon=True).start()
    report_signals()
