"""Advice for new users, printed at most once a day per topic on a terminal."""

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
    """Print the texts as notes, unless this topic was shown on a terminal within a day.

    A log gets them every time, because its reader may have seen no other.
    """
    advice = list(texts)
    if advice and not (sys.stderr.isatty() and _was_given(topic)):
        for text in advice:
            note(text)


def _was_given(topic: str) -> bool:
    """Whether the advice was given within a day, and record it as given now. False if that cannot be stored."""
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
    """The modification time of a file in seconds since 1970; 0 if it is missing."""
    try:
        return file.lstat().st_mtime
    except (OSError, ValueError):
        return 0.0
