"""Programs by their names: those of the PATH's absolute folders only.

An empty or relative entry of the PATH stands for the working folder, which may be anybody's: no program is taken from
there unless whoever runs it names its path. A PATH of nothing else counts as none: programs are where the system has
its own.
"""

from __future__ import annotations

import os


def absolute_folders(search_path: str) -> list[str]:
    """The entries of a search path (PATH, PYTHONPATH) that mean the same folder everywhere."""
    return [folder for folder in search_path.split(os.pathsep) if os.path.isabs(folder)]  # noqa: PTH117


def absolute_search_path(search_path: str | None = None) -> str:
    """A search path of absolute folders, at least one: this process's PATH if no other is given.

    Commands that look for others by themselves, as git and the launchers of pyenv do, get it as their PATH.
    """
    folders = absolute_folders(os.environ.get("PATH", "") if search_path is None else search_path)
    return os.pathsep.join(folders) or os.defpath


def program_on_path(name: str, search_path: str | None = None) -> str | None:
    """The absolute path of the program that a name stands for; None where there is none. A path stays as it is."""
    if os.path.dirname(name):  # noqa: PTH120 - no Path: a trailing slash counts
        return name
    import shutil  # with every format of archives: most who import this start nothing

    return shutil.which(name, path=absolute_search_path(search_path))  # noqa: TID251
