"""The folders in which a project's index and settings are looked for."""

from __future__ import annotations

import os
from collections.abc import Iterator


def folders_upwards(folder: str) -> Iterator[str]:
    """A folder, by its absolute path, and those above it, the nearest first.

    The machine's root folder counts only for who is there: a stray file in it would answer for every project.
    """
    yield folder
    while (folder := os.path.dirname(folder)) != os.path.dirname(folder):  # noqa: PTH120 - for every question
        yield folder
