"""The project that an index is of: the folder in whose `.framedex` it lies."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from framedex.index.file.values import storable
from framedex.whereabouts.moves import project_of

PROJECT = "SELECT path FROM project_folders ORDER BY id DESC LIMIT 1"
"""Where the project was when the index was last written."""


def project_here(path: Path) -> str | None:
    """The project of the index file at `path`, as symbolic links lead; None for an index that is kept elsewhere."""
    return project_of(os.path.realpath(path))


def has_moved(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the project of an index was elsewhere when it was last written."""
    here, known = project_here(path), connection.execute(PROJECT).fetchone()
    return here is not None and known is not None and known[0] != storable(here)
