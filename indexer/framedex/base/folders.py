"""Folders of the user, of the PATH, of a project and of a capture.

- The user's own folders follow the XDG Base Directory Specification.
- An empty or relative entry of the PATH means the working folder, which may be untrusted. So programs are found only in
  absolute folders. A PATH without absolute entries counts as unset: the system's default folders are searched.
- A project's settings and links may be untrusted. An editor indexes an opened folder automatically, so a link in it
  could make the database overwrite any file of the user. So only a few paths are allowed, unless the command line names
  the index.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.plaintext import quote_shell_word

_DEFAULTS = {"XDG_CACHE_HOME": ".cache", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state"}


def user_folder(variable: str) -> Path | None:
    """The folder in `XDG_CACHE_HOME`, `XDG_DATA_HOME` or `XDG_STATE_HOME`, else its default.

    The specification ignores relative values. None if the home folder is unknown, as in a container whose user is not
    listed in its user database.
    """
    named = os.environ.get(variable, "")
    if os.path.isabs(named):  # noqa: PTH117 - a text of the environment
        return Path(named)
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.expanduser raises without a home
    return Path(home, _DEFAULTS[variable]) if os.path.isabs(home) else None  # noqa: PTH117


def iterate_folders_upwards(folder: str) -> Iterator[str]:
    """A folder (absolute path) and the folders above it, nearest first.

    The root folder counts only if it is the given folder: a stray file in it would apply to every project.
    """
    yield folder
    while (folder := os.path.dirname(folder)) != os.path.dirname(folder):  # noqa: PTH120 - for every question
        yield folder


_USER_FOLDER_VARIABLES = ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


def is_allowed_index_path(path: Path, project: Path) -> bool:
    """Whether a project's index may be at a path: in the project, or a `.db` in the user's data folders.

    Links are resolved.
    """
    folders = filter(None, map(user_folder, _USER_FOLDER_VARIABLES))
    return leads_inside(path, project) or (
        os.path.realpath(path).endswith(".db") and any(leads_inside(path, Path(folder)) for folder in folders)
    )


def leads_inside(path: Path, folder: Path) -> bool:
    """Whether a path is inside a folder, with links in both resolved."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def check_index_path(path: Path) -> None:
    """Raise FramedexError unless a project's index, `PROJECT/.framedex/index.db`, is at an allowed path."""
    project = path.parent.parent
    if not is_allowed_index_path(path, project):
        raise FramedexError(
            f"{path} leads to {os.path.realpath(path)}, outside {project}, so no index is written there.",
            f"To write it there: `framedex --index {quote_shell_word(os.path.realpath(path))} index`.",
        )


def absolute_folders(search_path: str) -> list[str]:
    """The absolute entries of a search path (PATH, PYTHONPATH)."""
    return [folder for folder in search_path.split(os.pathsep) if os.path.isabs(folder)]  # noqa: PTH117


def make_search_path_absolute(search_path: str | None = None) -> str:
    """A search path with only absolute folders, at least one; default: this process's PATH.

    It becomes the PATH of commands that search for others, such as git and the launchers of pyenv.
    """
    folders = absolute_folders(os.environ.get("PATH", "") if search_path is None else search_path)
    return os.pathsep.join(folders) or os.defpath


def find_program(name: str, search_path: str | None = None) -> str | None:
    """The absolute path of a program by name; None if not found. A path is returned unchanged."""
    if os.path.dirname(name):  # noqa: PTH120 - no Path: a trailing slash counts
        return name
    import shutil

    return shutil.which(name, path=make_search_path_absolute(search_path))  # noqa: TID251


CAPTURES = Path(".framedex", "captures")
"""The folder of captures, below a project's folder."""

REMOVAL_SUFFIX = ".removed"
"""The suffix of a capture's folder that is being removed."""

_KEPT = "kept"
"""The name of a file, of any content, that marks a capture as kept: removal by age or number skips the capture.
"""


@dataclass(frozen=True, slots=True)
class CaptureFolder:
    """The state of a capture's folder; `size` is its disk usage in bytes."""

    is_here: bool
    size: int = 0
    is_kept: bool = False


def read_capture_folder(path: str) -> CaptureFolder:
    """The state of the folder at a path; a symbolic link or unreadable folder counts as missing."""
    try:
        if os.path.islink(path):  # noqa: PTH114 - a path of an index may have any bytes
            return CaptureFolder(is_here=False)
        with os.scandir(path) as entries:
            files = list(entries)
    except (OSError, ValueError):
        return CaptureFolder(is_here=False)
    return CaptureFolder(True, sum(map(_measure_size, files)), any(file.name == _KEPT for file in files))


def mark_kept(path: Path, *, is_kept: bool) -> None:
    """Mark the capture in a folder as kept, or remove the mark. Raises OSError."""
    mark = path / _KEPT
    if is_kept:
        mark.touch()
    else:
        mark.unlink(missing_ok=True)


def _measure_size(entry: os.DirEntry[str], folders_below: int = 1) -> int:
    """The disk usage in bytes of an entry in a capture's folder. A subfolder (stored programs) includes its files."""
    size = 0
    with suppress(OSError):
        size += entry.stat(follow_symlinks=False).st_blocks * 512
        if folders_below and entry.is_dir(follow_symlinks=False):
            with os.scandir(entry) as entries:
                size += sum(_measure_size(each, folders_below - 1) for each in entries)
    return size
