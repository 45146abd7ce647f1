"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from framedex.errors import FramedexError


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that it is there whole or not at all. Raises FramedexError where it cannot be written."""
    with written_whole(path) as file:
        file.write(text.encode())


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that is there once the block ends well, and not at all otherwise: a context manager.

    Raises FramedexError where it cannot be written.
    """
    import tempfile  # hardly any verb that may write a file is asked to

    try:
        handle, name = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FramedexError(
            f"{path} could not be written: {error.strerror or error}.", "Choose another place with -o."
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
