"""The files of `framedex run --behaviour`: checked before anything runs, and told to the program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from framedex.commands.reading.files import absolute
from framedex.errors import FramedexError
from framedex.plaintext import printable
from framedex.regularfile import read_regular

VARIABLE = "FRAMEDEX_BEHAVIOUR"


def behaviour_variables(files: Sequence[Path], platform: str | None, *, is_own_python: bool) -> dict[str, str]:
    """The environment variables that have a program run under the behaviours of these files.

    `platform` is what JAX calls the plug-in, None where an installed package says so. JAX is told that it needs it: for
    a file that cannot be run it would go on without a word, on the CPU.

    Raises FramedexError for what cannot be read or, where the program runs under framedex's own Python, is none.
    """
    paths = [absolute(file) for file in files]
    for path in paths:
        source = _source(path)
        if is_own_python:  # what is Python for another one only that one knows
            _check_syntax(path, source)
    wanted = {"JAX_PLATFORMS": f"{platform},cpu"} if platform and "JAX_PLATFORMS" not in os.environ else {}
    return {VARIABLE: os.pathsep.join(map(os.fspath, paths))} | wanted


def _source(path: Path) -> bytes:
    if os.pathsep in os.fspath(path):
        raise FramedexError(
            f"The path {printable(os.fspath(path))} has a {os.pathsep}, which stands between files of behaviours.",
            "Give it a name without, or start framedex in its folder.",
        )
    try:
        return read_regular(path)  # not a pipe: the program reads the file once more
    except OSError as error:
        raise FramedexError(
            f"The behaviours of {printable(os.fspath(path))} cannot be read: {error.strerror}.", "Check --behaviour."
        ) from None


def _check_syntax(path: Path, source: bytes) -> None:
    try:
        compile(source, os.fspath(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise FramedexError(
            f"The behaviours of {printable(os.fspath(path))} are no Python: {printable(str(error))}.", "Mend the file."
        ) from None
