"""Which files are of installed packages, and so not of the program that was recorded."""

from __future__ import annotations

import re

# Where installed packages and the standard library are, and what is in no file at all.
_INSTALLED = re.compile(r"/(?:site|dist)-packages/|/lib(?:64)?/python3\.|^<")


def is_installed(path: str) -> bool:
    """Whether a Python file is of an installed package or the standard library, or none at all."""
    return _INSTALLED.search(path) is not None
