"""The project of an index (the folder whose `.framedex` contains it), and its user's own files."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from framedex.index.file.values import to_storable
from framedex.model.locations import is_library_file
from framedex.path_resolution.moved_files import FolderMove, FolderMoves, find_project

LATEST_PROJECT_FOLDER = "SELECT path FROM project_folders ORDER BY id DESC LIMIT 1"
"""The project's folder when the index was last written."""

PROJECT_FOLDERS = "SELECT path FROM project_folders ORDER BY id"
"""All folders of the project, in order."""

_SYSTEM = re.compile(r"^/(?:usr/)?(?:bin|include|lib|lib64|share)/")  # binaries; `/usr/local` has user-built ones


def find_project_folder(path: Path) -> str | None:
    """Return the project of the index file at `path`, with links resolved; None for an index stored elsewhere."""
    return find_project(os.path.realpath(path))


def has_project_moved(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the project of an index has moved since the index was last written."""
    here, known = find_project_folder(path), connection.execute(LATEST_PROJECT_FOLDER).fetchone()
    return here is not None and known is not None and known[0] != to_storable(here)


def build_project_moves(folders: Sequence[str]) -> FolderMoves:
    """Return the moves of a project from its former folders to the latest one."""
    *before, here = folders or [""]
    return FolderMoves(
        FolderMove(path, here, is_whole=True) for path in dict.fromkeys(reversed(before)) if path != here
    )


def is_installed(path: str) -> bool:
    """Whether a Python file belongs to an installed package or the standard library, or is not a file."""
    return path.startswith("<") or is_library_file(path)


def is_framedex_hook(path: str) -> bool:
    """Whether a Python file is framedex's own hook between JAX and the runtime of a recorded program."""
    return "/framedex_native/ffi/" in path


def is_user_file(module: str) -> bool:
    """Whether a Python file or a binary is the user's own: neither installed nor part of the system."""
    return module.startswith("/") and not is_installed(module) and _SYSTEM.search(module) is None
