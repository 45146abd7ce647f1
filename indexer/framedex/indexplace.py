"""Where an index may be written that nobody has named on a command line: inside its project, or among the user's data.

A project's settings and links may be a stranger's work. A folder that is opened in an editor is indexed without being
asked for, so a link in it could have a database written over any file of the user's.
"""

from __future__ import annotations

import os
from pathlib import Path

from framedex.errors import FramedexError
from framedex.plaintext import shell_word
from framedex.userfolders import user_folder

_USERS_OWN = ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


def may_be_index(path: Path, project: Path) -> bool:
    """Whether a project may have its index at a path: inside, links followed, or in a `.db` among the user's data."""
    folders = filter(None, map(user_folder, _USERS_OWN))
    return leads_inside(path, project) or (
        os.path.realpath(path).endswith(".db") and any(leads_inside(path, Path(folder)) for folder in folders)
    )


def leads_inside(path: Path, folder: Path) -> bool:
    """Whether a path is inside a folder, links of both followed."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def check_index_place(path: Path) -> None:
    """Raise FramedexError unless the index of a project, `PROJECT/.framedex/index.db`, is where that may have it."""
    project = path.parent.parent
    if not may_be_index(path, project):
        raise FramedexError(
            f"{path} leads to {os.path.realpath(path)}, outside {project}, so no index is written there.",
            f"To write it there: `framedex --index {shell_word(os.path.realpath(path))} index`.",
        )
