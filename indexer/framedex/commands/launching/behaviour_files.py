"""The files of `framedex run --behaviour`: checked before the program starts, then passed in its environment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from framedex.commands.inputs.files import absolute
from framedex.errors import FramedexError
from framedex.plaintext import printable
from framedex.regularfile import read_regular

VARIABLE = "FRAMEDEX_BEHAVIOUR"


def behaviour_variables(files: Sequence[Path], platform: str | None, *, is_own_python: bool) -> dict[str, str]:
    """The environment variables that apply the behaviours of these files to a program.

    `platform` is JAX's name for the plug-in; None if an installed package defines it. JAX_PLATFORMS makes the platform
    mandatory: otherwise JAX silently continues on the CPU after an error in a behaviour file. Raises FramedexError for
    an unreadable file, or, under framedex's own Python, for a syntax error.
    """
    paths = [absolute(file) for file in files]
    for path in paths:
        source = _source(path)
        if is_own_python:  # another Python may have another syntax
            _check_syntax(path, source)
    wanted = {"JAX_PLATFORMS": f"{platform},cpu"} if platform and "JAX_PLATFORMS" not in os.environ else {}
    return {VARIABLE: os.pathsep.join(map(os.fspath, paths))} | wanted


def _source(path: Path) -> bytes:
    if os.pathsep in os.fspath(path):
        raise FramedexError(
            f"The path {printable(os.fspath(path))} has a {os.pathsep}, which separates files of behaviours.",
            "Rename it, or start framedex in its folder.",
        )
    try:
        return read_regular(path)  # not a pipe: the program reads the file again
    except OSError as error:
        raise FramedexError(
            f"The behaviours of {printable(os.fspath(path))} cannot be read: {error.strerror}.", "Check --behaviour."
        ) from None


def _check_syntax(path: Path, source: bytes) -> None:
    try:
        compile(source, os.fspath(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise FramedexError(
            f"The behaviours of {printable(os.fspath(path))} are not valid Python: {printable(str(error))}.",
            "Correct the file.",
        ) from None
