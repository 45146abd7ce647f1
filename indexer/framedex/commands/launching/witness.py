"""Reports each signal that its process group receives, as a program of its own: `supervision.py` starts it.

It starts with all signals blocked. Standard output gets one record of zeros, then one for each signal. The
first line of standard input is the process id of the supervised program. At the end of standard input, which is the end
of the supervisor, it kills that program.
"""

import os
import signal
import struct
import sys
import threading
import time

REPORT = struct.Struct("<Bd")
"""The number of a signal, and the monotonic time in seconds."""


def kill_program_after_supervisor() -> None:
    """Wait for the end of the supervisor."""
    number = sys.stdin.readline()
    if number:
        program = os.pidfd_open(int(number))
        sys.stdin.read()
        signal.pidfd_send_signal(program, signal.SIGKILL)
    os._exit(0)


def report_signals() -> None:
    """Write a record for each signal, for ever."""
    os.write(1, REPORT.pack(0, 0.0))
    while True:
        number = signal.sigwait(signal.valid_signals())
        os.write(1, REPORT.pack(number, time.monotonic()))


if __name__ == "__main__":
    threading.Thread(target=kill_program_after_supervisor, daemon=True).start()
    report_signals()
