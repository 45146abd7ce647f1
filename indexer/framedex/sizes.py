"""Parse byte counts typed by people."""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}

# More digits exceed any memory, and hundreds of digits overflow a float.
_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)\s*([kmgt]i?)?b?", re.IGNORECASE | re.ASCII)

HOW_TO_WRITE = "write it like 1048576, 512MiB or 16GiB"


def bytes_of(text: str) -> int | None:
    """The positive number of bytes in a text, such as `1048576`, `512MiB` or `16GB`; None if malformed or 0."""
    match = _NUMBER.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[(match[2] or "").lower()]) if match else 0
    return size or None
