"""The server's log: writing never blocks, and refused connections cannot flood it."""

from __future__ import annotations

import asyncio
import logging
import os
import select
from contextlib import suppress
from pathlib import Path

from framedex.base import words

REFUSAL_LOG_INTERVAL_S = 1.0
"""Seconds between two log lines about refused connections."""

_PIPE_WRITE_BYTES = 4096
"""Bytes that a writable pipe takes without blocking: a page, Linux's PIPE_BUF (pipe(7))."""

_STDERR = 2

_log = logging.getLogger(__name__)


def start_log(file: Path | None) -> None:
    """Write the log to `file`, or to stderr if None."""
    handler = (
        StderrHandler() if file is None else logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
    )
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(name)s %(levelname)s: %(message)s", handlers=[handler]
    )
    # pygls warns about every request cancelled after its answer, which editors do all the time.
    logging.getLogger("pygls").setLevel(logging.ERROR)


class StderrHandler(logging.Handler):
    """Writes to stderr and drops lines that would block: an unread pipe or a stopped terminal."""

    def __init__(self) -> None:
        super().__init__()
        self._dropped = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, preceded by the number of lines dropped before it."""
        try:
            text = self.format(record)
        except Exception:  # arguments that do not match the format
            text = str(record.msg)
        lost = (
            f"{words.count(self._dropped, 'log message')} dropped: the reader was too slow.\n" if self._dropped else ""
        )
        content = f"{lost}{text}\n".encode("utf-8", "backslashreplace")
        for start in range(0, len(content), _PIPE_WRITE_BYTES):
            if not _can_write(_STDERR):
                self._dropped += 1
                return
            with suppress(OSError):
                os.write(_STDERR, content[start : start + _PIPE_WRITE_BYTES])
        self._dropped = 0


def _can_write(descriptor: int) -> bool:
    """Return whether a write of `_PIPE_WRITE_BYTES` bytes does not block; True if unknown (Windows)."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(0))


class RefusalLog:
    """Logs refused connections: the first at once, then their number, one line per `REFUSAL_LOG_INTERVAL_S`."""

    def __init__(self) -> None:
        self._count = 0
        self._last = ""
        self._timer: asyncio.TimerHandle | None = None

    def add(self, reason: str) -> None:
        """Log a connection, or count it for the next line. For the protocol loop only."""
        if self._timer is None:
            _log.warning("A connection was refused: %s.", reason)
            self._start_timer()
        else:
            self._count, self._last = self._count + 1, reason

    def _start_timer(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(REFUSAL_LOG_INTERVAL_S, self._log_suppressed)

    def _log_suppressed(self) -> None:
        self._timer = None
        if self._count:
            _log.warning("%d more connections were refused. The latest one: %s.", self._count, self._last)
            self._count = 0
            self._start_timer()
