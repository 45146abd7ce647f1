"""The project of an index: the folder whose `.framedex` contains it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from framedex.index.file.values import storable
from framedex.path_resolution.moves import Move, Moves, project_of

PROJECT = "SELECT path FROM project_folders ORDER BY id DESC LIMIT 1"
"""The project's folder when the index was last written."""


def project_here(path: Path) -> str | None:
    """Return the project of the index file at `path`, with links resolved; None for an index stored elsewhere."""
    return project_of(os.path.realpath(path))


def has_moved(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the project of an index has moved since the index was last written."""
    here, known = project_here(path), connection.execute(PROJECT).fetchone()
    return here is not None and known is not None and known[0] != storable(here)


PLACES = "SELECT path FROM project_folders ORDER BY id"
"""All folders of the project, in order."""


def former_places(places: Sequence[str]) -> Moves:
    """Return the moves of a project from its former folders to the latest one."""
    *before, here = places or [""]
    return Moves(Move(path, here, is_whole=True) for path in dict.fromkeys(reversed(before)) if path != here)
