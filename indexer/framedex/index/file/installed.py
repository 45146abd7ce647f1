"""Which files are of installed packages, and so not of the program that was recorded."""

from __future__ import annotations

import re

# Where installed packages and the standard library are, and what is in no file at all.
_INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python3\.|^<")
_SYSTEM = re.compile(r"^/(?:usr/)?(?:bin|include|lib|lib64|share)/")  # binaries; `/usr/local` has what its users built


def is_installed(path: str) -> bool:
    """Whether a Python file is of an installed package or the standard library, or none at all."""
    return _INSTALLED.search(path) is not None


def is_hook(path: str) -> bool:
    """Whether a Python file is framedex's own, which stands between JAX and the runtime while a program is recorded."""
    return "/framedex_native/ffi/" in path


def is_own(module: str) -> bool:
    """Whether a function in this file, of Python or a binary, is the user's own: neither installed nor the system's."""
    return module.startswith("/") and not is_installed(module) and _SYSTEM.search(module) is None
