"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from framedex import words
from framedex.errors import FramedexError


def write_whole(path: Path, text: str, option: str = "-o", *, through_links: bool = True) -> None:
    """Write a text file so that it is there whole or not at all, as `written_whole` does.

    Raises FramedexError where it cannot be written.
    """
    with written_whole(path, option, through_links=through_links) as file:
        file.write(text.encode())


@contextmanager
def written_whole(path: Path, option: str = "-o", *, through_links: bool = True) -> Iterator[IO[bytes]]:
    """A file to write that is there once the block ends well, and not at all otherwise: a context manager.

    `option` is the one that says where it is to be. A link stays, and what it leads to is written; so do a device and a
    pipe stay (`/dev/null`), which get what is written as it comes. Without `through_links` the file takes the place of
    what has its name: nobody named that path, and a stranger's folder may have a link there that leads out of it.

    Raises FramedexError where it cannot be written.
    """
    try:
        if through_links and path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
        else:
            with _replacing(path.resolve() if through_links else path) as file:
                yield file
    except OSError as error:
        raise FramedexError(
            f"{path} could not be written: {error.strerror or error}.", f"Choose another place with {option}."
        ) from error


def with_size(*paths: Path) -> str:
    """How large files are that were written, in brackets behind a name; nothing of a device or a pipe."""
    sizes = [path.stat().st_size for path in paths if path.is_file()]
    return f" ({words.size(sum(sizes))})" if sizes else ""


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    import tempfile  # hardly any verb that may write a file is asked to

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
