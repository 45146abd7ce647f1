"""The interpreter and the environment of `framedex demo`."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from framedex.commands.launching.launch import check_jaxlib, check_python, shipped_sources
from framedex.commands.launching.runtimes import Runtime
from framedex.errors import FramedexError
from framedex.interpreters import ask, unusable
from framedex.plaintext import printable

# The user's own settings would change the demo: a plug-in, a limit, a platform, servers for debug files.
_STEERING = ("FRAMEDEX_", "JAX_", "TPU_", "DEBUGINFOD_")
_KEPT = ("FRAMEDEX_EDITOR", "FRAMEDEX_LINK_SCHEME", "FRAMEDEX_PROGRAM_PYTHONPATH")
_JAX = """
spec = importlib.util.find_spec("jax")
print(json.dumps(spec and spec.origin))
"""


def jax_sources(python: str, install: str) -> Path:
    """The folder of the jax that an interpreter imports; `install` is the command that installs jax.

    Raises FramedexError if the demo cannot be recorded with that interpreter.
    """
    check_python(python)
    try:
        origin = ask(python, _JAX)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise unusable(python, error) from None
    if origin is None:
        raise FramedexError(
            f"The demo needs JAX, and {printable(python)} has none.",
            f"Install it: `{install}`\nOr name a Python that has it: `framedex demo --python PATH`",
        )
    if check_jaxlib(python) is not Runtime.PJRT:
        raise FramedexError(
            f"The JAX of {printable(python)} is older than PJRT.",
            "Name a Python with a newer one: `framedex demo --python PATH`",
        )
    return Path(origin).parent


def checkout() -> Path | None:
    """The checkout that this framedex runs from; None if it was installed from a wheel."""
    root = Path(__file__).resolve().parents[4]
    return root if (root / "native" / "CMakeLists.txt").is_file() and (root / "editors").is_dir() else None


def mock_sources() -> Path | None:
    """The C++ sources of the mock TPU and the recorder: those of the checkout, otherwise the installed ones.

    None if they are missing.
    """
    root = checkout()
    try:
        folder = root / "native" if root else shipped_sources()
    except FileNotFoundError:  # the recording reports it, with a remedy
        return None
    return folder if folder.is_dir() else None


def undisturbed(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without the variables that would change the demo."""
    return {name: value for name, value in environment.items() if name in _KEPT or not name.startswith(_STEERING)}
