"""Quantities as people type them."""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


def parse_bytes(text: str) -> int | None:
    """A number of bytes such as `1048576`, `512MiB` or `16GB`; None if it is none, or not positive."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?", text.strip(), re.IGNORECASE)
    if match is None:
        return None
    value = int(float(match[1]) * _UNITS[(match[2] or "").lower()])
    return value if value > 0 else None
