"""Hand-written texts of the guidebook: one Markdown file per function or object type."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
_NAME = re.compile(r"[A-Za-z0-9_.]+")


def note(function: str) -> str | None:
    """What is said of a function; None where nothing is."""
    return _read(FOLDER, function)


def object_note(type_name: str) -> str | None:
    """What is said of a type of objects, such as `loaded_executable`; None where nothing is."""
    return _read(FOLDER / "objects", type_name)


def _read(folder: Path, name: str) -> str | None:
    # Names are of captures too, which may have any.
    if not _NAME.fullmatch(name):
        return None
    try:
        return (folder / f"{name}.md").read_text("utf-8")
    except OSError:
        return None
