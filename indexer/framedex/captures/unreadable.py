"""System errors during the native reading of a capture, whose files may be intact."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from framedex.errors import FramedexError
from framedex.systemlimits import raise_if_limit


class UnreadableCaptureError(FramedexError):
    """The system failed to read a file of a capture, so its calls are unknown."""


@contextmanager
def refusing_unreadable() -> Iterator[None]:
    """Run native reads in this block. Raises UnreadableCaptureError or SystemLimitError if the system fails."""
    try:
        yield
    except OSError as error:
        raise_if_limit(error)
        raise _unreadable(str(error.filename), error) from error


def raise_if_failing(file: Path, error: OSError) -> None:
    """Raise UnreadableCaptureError if the disk failed; any other error is about the file, such as a missing file."""
    if error.errno == errno.EIO:
        raise _unreadable(str(file), error) from error


def _unreadable(file: str, error: OSError) -> UnreadableCaptureError:
    return UnreadableCaptureError(
        f"{file} cannot be read: {error.strerror}.",
        "Check the disk, or copy the capture to another one, then run `framedex index` again.",
    )
