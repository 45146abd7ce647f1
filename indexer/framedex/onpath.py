"""Programs by name, found only in absolute folders of the PATH.

An empty or relative entry of the PATH means the working folder, which may be untrusted. So a program there needs an
explicit path. A PATH without absolute entries counts as unset: the system's default folders are searched.
"""

from __future__ import annotations

import os


def absolute_folders(search_path: str) -> list[str]:
    """The absolute entries of a search path (PATH, PYTHONPATH)."""
    return [folder for folder in search_path.split(os.pathsep) if os.path.isabs(folder)]  # noqa: PTH117


def absolute_search_path(search_path: str | None = None) -> str:
    """A search path with only absolute folders, at least one; default: this process's PATH.

    It becomes the PATH of commands that search for others, such as git and the launchers of pyenv.
    """
    folders = absolute_folders(os.environ.get("PATH", "") if search_path is None else search_path)
    return os.pathsep.join(folders) or os.defpath


def program_on_path(name: str, search_path: str | None = None) -> str | None:
    """The absolute path of a program by name; None if not found. A path is returned unchanged."""
    if os.path.dirname(name):  # noqa: PTH120 - no Path: a trailing slash counts
        return name
    import shutil  # it imports every archive format, and most importers of this module start no program

    return shutil.which(name, path=absolute_search_path(search_path))  # noqa: TID251
