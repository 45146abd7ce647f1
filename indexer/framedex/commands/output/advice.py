"""Advice that a user knows after its first time: in a terminal it is given once a day."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from framedex.commands.output.console import note
from framedex.userfolders import user_folder

_DAY = 24 * 60 * 60.0  # seconds


def advise(topic: str, texts: Iterable[str]) -> None:
    """Note the texts, unless someone who watches has read those of this topic within a day.

    A log gets them each time: who reads it has seen no other.
    """
    advice = list(texts)
    if advice and not (sys.stderr.isatty() and _was_given(topic)):
        for text in advice:
            note(text)


def _was_given(topic: str) -> bool:
    """Whether the advice was given within a day; it is from now on. False where that cannot be kept."""
    folder = user_folder("XDG_CACHE_HOME")
    if folder is None:
        return False
    file = folder / "framedex" / "advice" / topic
    if 0 <= time.time() - _modified(file) < _DAY:
        return True
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return False


def _modified(file: Path) -> float:
    """When a file was written, in seconds since 1970; long ago where there is none."""
    try:
        return file.lstat().st_mtime
    except (OSError, ValueError):
        return 0.0
