"""The user's own folders, from the XDG Base Directory Specification."""

from __future__ import annotations

import os
from pathlib import Path

_USUAL = {"XDG_CACHE_HOME": ".cache", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state"}


def user_folder(variable: str) -> Path | None:
    """The folder in `XDG_CACHE_HOME`, `XDG_DATA_HOME` or `XDG_STATE_HOME`, else its default.

    The specification ignores relative values. None if the home folder is unknown, as in a container whose user is not
    listed in its user database.
    """
    named = os.environ.get(variable, "")
    if os.path.isabs(named):  # noqa: PTH117 - a text of the environment
        return Path(named)
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.expanduser raises without a home
    return Path(home, _USUAL[variable]) if os.path.isabs(home) else None  # noqa: PTH117
