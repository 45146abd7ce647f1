"""What happens when stdout or stderr cannot be written: a sentence and a status, from whichever verb, in one place."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast


@contextmanager
def told_if_unwritable() -> Iterator[None]:
    """A process whose output is lost says so and ends with status 1, unless it ends with another failure anyway.

    A reader that has gone away (`| head`) is told nothing: click ends that quietly. For the whole of a process.
    """
    _occupy_closed_descriptors()
    watched = _Watched(sys.stdout)
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
    _tell(watched.failure)
    raise SystemExit(status or 1)


class _Watched:
    """A stdout that keeps the reason why it could not be written; None where it was closed before the process began."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self.was_closed = stream is None
        self.encoding = getattr(stream, "encoding", "utf-8")
        self.failure: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, or keep why not and raise OSError."""
        if self._stream is None:
            if not isinstance(text, str):  # click asks so whether this is a stream of bytes
                raise TypeError
            if text:
                raise self._failed(OSError(errno.EBADF, "it is closed"))
            return 0
        try:
            return self._stream.write(text)
        except OSError as error:
            raise self._failed(error) from None

    def flush(self) -> None:
        """Write what is still to be written, or keep why not and raise OSError."""
        try:
            if self._stream is not None:
                self._stream.flush()
        except OSError as error:
            raise self._failed(error) from None

    @property
    def buffer(self) -> _WatchedBytes:
        """The same for bytes. Raises AttributeError where the stream takes text alone, as a `StringIO`."""
        if self._stream is not None:
            self._stream.buffer  # noqa: B018 - asked for whether it has one
        return _WatchedBytes(self)

    def write_bytes(self, data: bytes) -> int:
        """Write bytes, or keep why not and raise OSError."""
        assert self._stream is not None  # `standard_output` says before that it is closed
        try:
            return self._stream.buffer.write(data)
        except OSError as error:
            raise self._failed(error) from None

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream is not None and self._stream.isatty()

    def _failed(self, error: OSError) -> OSError:
        if error.errno != errno.EPIPE:
            self.failure = error
            _drop_output()
        return error


class _WatchedBytes:
    """What takes the bytes for a watched stdout."""

    def __init__(self, watched: _Watched) -> None:
        self._watched = watched

    def __getattr__(self, name: str) -> Any:
        return getattr(self._watched._stream.buffer if self._watched._stream is not None else None, name)

    def write(self, data: bytes) -> int:
        """Write, or keep why not and raise OSError."""
        return self._watched.write_bytes(data)

    def flush(self) -> None:
        """Write what is still to be written, or keep why not and raise OSError."""
        self._watched.flush()


def _drop_output() -> None:
    """Throw away what is still unwritten: Python would try again at its end, and print a message of its own."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)


def _tell(reason: OSError | None) -> None:
    if reason is not None and sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(
                f"framedex: stdout cannot be written: {reason.strerror or reason}.\n"
                "  Give it a pipe or a file with space left, then run the command again.\n"
            )
            sys.stderr.flush()


def _is_writable(stream: TextIO | None) -> bool:
    """Whether the stream takes a line break, which is written to it."""
    try:
        if stream is not None:
            stream.write("\n")
            stream.flush()
    except OSError:
        return False
    return stream is not None


def _occupy_closed_descriptors() -> None:
    """Keep files that are opened later from becoming stdin, stdout or stderr, which what we start then finds closed."""
    with suppress(OSError):
        while (opened := os.open(os.devnull, os.O_RDONLY)) <= 2:
            pass
        os.close(opened)
