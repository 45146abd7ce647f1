"""Hand-written notes of the guidebook: one Markdown file per function or object type."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
_NAME = re.compile(r"[A-Za-z0-9_.]+")


def read_note(function: str) -> str | None:
    """Return the note on a function; None if there is none."""
    return _read(FOLDER, function)


def read_object_note(type_name: str) -> str | None:
    """Return the note on an object type, such as `loaded_executable`; None if there is none."""
    return _read(FOLDER / "objects", type_name)


def _read(folder: Path, name: str) -> str | None:
    # Names also come from captures, so they may contain anything.
    if not _NAME.fullmatch(name):
        return None
    try:
        return (folder / f"{name}.md").read_text("utf-8")
    except OSError:
        return None
