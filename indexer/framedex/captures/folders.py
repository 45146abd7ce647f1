"""Where captures live: `.framedex/captures/` of a project's folder."""

from __future__ import annotations

from pathlib import Path

METADATA_FILE = "capture.json"


def captures_below(project: Path) -> Path:
    """The folder that holds a project's captures."""
    return project / ".framedex" / "captures"


def capture_folders(captures: Path) -> list[Path]:
    """The captures in a folder of captures, oldest first (their names begin with the UTC time they began).

    A folder without metadata is no capture: its recording was stopped before it began.
    """
    if not captures.is_dir():
        return []
    return sorted((folder for folder in captures.iterdir() if (folder / METADATA_FILE).is_file()), key=_order)


def _order(folder: Path) -> tuple[tuple[int, str], ...]:
    """Orders names by their parts, numbers by value: the tenth capture of one second comes after the second."""
    return tuple((int(part) if part.isdecimal() else 0, part) for part in folder.name.split("-"))
