"""Numbers of bytes as people type them."""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}

# No memory is as large as more digits say, and a number of hundreds of them is more than a float can be.
_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)\s*([kmgt]i?)?b?", re.IGNORECASE | re.ASCII)

HOW_TO_WRITE = "write it like 1048576, 512MiB or 16GiB"


def bytes_of(text: str) -> int | None:
    """The number of bytes that a text says, more than 0: `1048576`, `512MiB`, `16GB`; None where it says none."""
    match = _NUMBER.fullmatch(text.strip())
    size = int(float(match[1]) * _UNITS[(match[2] or "").lower()]) if match else 0
    return size or None
