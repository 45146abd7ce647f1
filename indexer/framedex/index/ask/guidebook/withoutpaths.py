"""Recorded texts without paths of the recording machine."""

from __future__ import annotations

import re

from framedex.index.ask.guidebook.places import short_path

# An absolute path of at least two parts, not preceded by a word as in `https://x/y` and `jit(f)/sin/x`. System paths
# are the same on every machine and stay.
_PATH = re.compile(r"(?<![\w/.:)\]-])/(?!dev/|proc/|sys/)(?:[\w.+@%~=-]+/)+[\w.+@%~=-]+")


def without_paths(text: str) -> str:
    """Return the text with every absolute path cut to its machine-independent part."""
    return _PATH.sub(lambda match: short_path(match[0]), text)
