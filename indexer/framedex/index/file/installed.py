"""Classification of files: installed packages, framedex's hooks, the user's own."""

from __future__ import annotations

import re

# Installed packages, the standard library, and code without a file.
_INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python3\.|^<")
_SYSTEM = re.compile(r"^/(?:usr/)?(?:bin|include|lib|lib64|share)/")  # binaries; `/usr/local` has user-built ones


def is_installed(path: str) -> bool:
    """Whether a Python file belongs to an installed package or the standard library, or is not a file."""
    return _INSTALLED.search(path) is not None


def is_hook(path: str) -> bool:
    """Whether a Python file is framedex's own hook between JAX and the runtime of a recorded program."""
    return "/framedex_native/ffi/" in path


def is_own(module: str) -> bool:
    """Whether a file, Python or binary, is the user's own: neither installed nor the system's."""
    return module.startswith("/") and not is_installed(module) and _SYSTEM.search(module) is None
