"""Atomic file writes: a file is complete or absent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from framedex.base import words
from framedex.base.errors import FramedexError


def write_atomic(path: Path, text: str, option: str = "-o", *, through_links: bool = True) -> None:
    """Write a text file atomically, as `open_atomic` does.

    Raises FramedexError if it cannot be written.
    """
    with open_atomic(path, option, through_links=through_links) as file:
        file.write(text.encode())


@contextmanager
def open_atomic(path: Path, option: str = "-o", *, through_links: bool = True) -> Iterator[IO[bytes]]:
    """Yield a file to write; it appears at its path only if the block succeeds.

    `option` is the command-line option that names the path, for error messages. A symbolic link remains, and its target
    is written. A device or pipe (`/dev/null`) is written directly. Without `through_links` the file replaces a link.
    Use that for paths that the user did not name, because a link in an untrusted folder may lead out of it. Raises
    FramedexError if the file cannot be written.
    """
    try:
        if through_links and path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
        else:
            with _open_replacement(path.resolve() if through_links else path) as file:
                yield file
    except OSError as error:
        raise FramedexError(
            f"{path} could not be written: {error.strerror or error}.", f"Choose another path with {option}."
        ) from error


def format_total_size(*paths: Path) -> str:
    """Format the total size of written files, in brackets; empty for devices and pipes."""
    sizes = [path.stat().st_size for path in paths if path.is_file()]
    return f" ({words.format_size(sum(sizes))})" if sizes else ""


@contextmanager
def _open_replacement(path: Path) -> Iterator[IO[bytes]]:
    import tempfile

    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
