"""The folders to search for a project's index and settings."""

from __future__ import annotations

import os
from collections.abc import Iterator


def folders_upwards(folder: str) -> Iterator[str]:
    """A folder (absolute path) and the folders above it, nearest first.

    The root folder counts only if it is the given folder: a stray file in it would apply to every project.
    """
    yield folder
    while (folder := os.path.dirname(folder)) != os.path.dirname(folder):  # noqa: PTH120 - for every question
        yield folder
