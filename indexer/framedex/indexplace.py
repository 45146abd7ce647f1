"""Allowed paths for an index that no command line named: inside its project, or in the user's data folders.

A project's settings and links may be untrusted. An editor indexes an opened folder automatically, so a link in it could
make the database overwrite any file of the user.
"""

from __future__ import annotations

import os
from pathlib import Path

from framedex.errors import FramedexError
from framedex.plaintext import shell_word
from framedex.userfolders import user_folder

_USERS_OWN = ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


def may_be_index(path: Path, project: Path) -> bool:
    """Whether a project may have its index at a path: inside (links resolved) or a `.db` in the user's data folders."""
    folders = filter(None, map(user_folder, _USERS_OWN))
    return leads_inside(path, project) or (
        os.path.realpath(path).endswith(".db") and any(leads_inside(path, Path(folder)) for folder in folders)
    )


def leads_inside(path: Path, folder: Path) -> bool:
    """Whether a path is inside a folder, with links in both resolved."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def check_index_place(path: Path) -> None:
    """Raise FramedexError unless a project's index, `PROJECT/.framedex/index.db`, is at an allowed path."""
    project = path.parent.parent
    if not may_be_index(path, project):
        raise FramedexError(
            f"{path} leads to {os.path.realpath(path)}, outside {project}, so no index is written there.",
            f"To write it there: `framedex --index {shell_word(os.path.realpath(path))} index`.",
        )
