"""Where captures live: `.framedex/captures/` of a project's folder."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

from framedex.errors import FramedexError

METADATA_FILE = "capture.json"


def captures_below(project: Path) -> Path:
    """The folder that holds a project's captures."""
    return project / ".framedex" / "captures"


def capture_folders(captures: Path) -> list[Path]:
    """The captures in a folder of captures, oldest first (their names begin with the UTC time they began).

    A folder without metadata is no capture: its recording was stopped before it began. One that cannot be looked into
    may be a capture; reading it says what is wrong. Raises FramedexError where the folders cannot be listed.
    """
    try:
        folders = list(captures.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise FramedexError(
            f"The captures in {captures} cannot be listed: {error.strerror or error}.",
            "Check the permissions of that folder, or name captures: `framedex index CAPTURE...`.",
        ) from error
    return sorted(filter(_may_be_capture, folders), key=_order)


def captures_of_run(captures: Path, run_id: str) -> Iterator[Path]:
    """The captures in a folder of captures that were made under the launcher's `run` id; others may be recording too.

    Raises FramedexError as `capture_folders` does.
    """
    for folder in capture_folders(captures):
        try:
            metadata = json.loads((folder / METADATA_FILE).read_text(encoding="utf-8", errors="replace"))
            launcher = json.loads(metadata["launcher"] or "{}")
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if isinstance(launcher, dict) and launcher.get("run") == run_id:
            yield folder


def _may_be_capture(folder: Path) -> bool:
    try:
        return stat.S_ISREG((folder / METADATA_FILE).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _order(folder: Path) -> tuple[tuple[int, str], ...]:
    """Orders names by their parts, numbers by value: the tenth capture of one second comes after the second."""
    return tuple((int(part) if part.isdecimal() else 0, part) for part in folder.name.split("-"))
