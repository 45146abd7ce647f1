"""Failed writes to stdout or stderr: one message and one exit status for all verbs."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast


@contextmanager
def report_unwritable_stdout() -> Iterator[None]:
    """Report output that this process could not write, and exit with status 1 unless the process fails anyway.

    If the reader closed the pipe (`| head`), click ends the process without a message. The block must contain the
    whole process.
    """
    _occupy_closed_descriptors()
    watched = _WatchedStdout(sys.stdout)
    sys.stdout = cast(TextIO, watched)
    status: object = 1
    try:
        yield
        return
    except SystemExit as end:
        status = end.code
        with suppress(OSError):
            watched.flush()
        if watched.failure is None:
            raise
    except OSError:
        if watched.failure is None and _is_writable(sys.stderr):
            raise
    _print_write_error(watched.failure)
    raise SystemExit(status or 1)


class _WatchedStdout:
    """A wrapper of stdout that records the error of a failed write.

    `stream` is None if stdout was closed before the process began.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.was_closed = stream is None
        self.encoding = getattr(stream, "encoding", "utf-8")
        self.failure: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text. On failure record the error and raise OSError."""
        if self._stream is None:
            if not isinstance(text, str):  # click detects byte streams with this call
                raise TypeError
            if text:
                raise self._record_failure(OSError(errno.EBADF, "it is closed"))
            return 0
        try:
            return self._stream.write(text)
        except OSError as error:
            raise self._record_failure(error) from None

    def flush(self) -> None:
        """Flush the stream. On failure keep the error and raise OSError."""
        try:
            if self._stream is not None:
                self._stream.flush()
        except OSError as error:
            raise self._record_failure(error) from None

    @property
    def buffer(self) -> _WatchedStdoutBytes:
        """The wrapper for bytes. Raises AttributeError if the stream accepts only text, as `StringIO` does."""
        if self._stream is not None:
            self._stream.buffer  # noqa: B018 - raises if there is none
        return _WatchedStdoutBytes(self)

    def write_bytes(self, data: bytes) -> int:
        """Write bytes. On failure record the error and raise OSError."""
        assert self._stream is not None  # `standard_output` has checked that stdout is open
        try:
            return self._stream.buffer.write(data)
        except OSError as error:
            raise self._record_failure(error) from None

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream is not None and self._stream.isatty()

    def _record_failure(self, error: OSError) -> OSError:
        if error.errno != errno.EPIPE:
            self.failure = error
            _drop_output()
        return error


class _WatchedStdoutBytes:
    """The byte interface of a watched stdout."""

    def __init__(self, watched: _WatchedStdout) -> None:
        self._watched = watched

    def __getattr__(self, name: str) -> Any:
        return getattr(self._watched._stream.buffer if self._watched._stream is not None else None, name)

    def write(self, data: bytes) -> int:
        """Write bytes. On failure keep the error and raise OSError."""
        return self._watched.write_bytes(data)

    def flush(self) -> None:
        """Flush the stream. On failure keep the error and raise OSError."""
        self._watched.flush()


def _drop_output() -> None:
    """Discard unwritten output: Python would retry at exit and print its own message."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def _print_write_error(reason: OSError | None) -> None:
    if reason is not None and sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(
                f"framedex: stdout cannot be written: {reason.strerror or reason}.\n"
                "  Give it a pipe or a file with space left, then run the command again.\n"
            )
            sys.stderr.flush()


def _is_writable(stream: TextIO | None) -> bool:
    """Write a line break to the stream, and return whether that succeeded."""
    try:
        if stream is not None:
            stream.write("\n")
            stream.flush()
    except OSError:
        return False
    return stream is not None


def _occupy_closed_descriptors() -> None:
    """Open /dev/null for closed stdin, stdout and stderr.

    Otherwise files that this process opens later get these numbers, and child processes inherit them.
    """
    with suppress(OSError):
        while (opened := os.open(os.devnull, os.O_RDONLY)) <= 2:
            pass
        os.close(opened)
