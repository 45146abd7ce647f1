"""Texts that were recorded, without the paths of the machine that they were recorded on."""

from __future__ import annotations

import re

from framedex.index.ask.guidebook.places import short_path

# An absolute path of at least two parts; not what follows a word, as in `https://x/y` and `jit(f)/sin/x`.
# What the system itself has at a path is the same everywhere.
_PATH = re.compile(r"(?<![\w/.:)\]-])/(?!dev/|proc/|sys/)(?:[\w.+@%~=-]+/)+[\w.+@%~=-]+")


def without_paths(text: str) -> str:
    """The text with every absolute path cut to what is the same on another machine."""
    return _PATH.sub(lambda match: short_path(match[0]), text)
