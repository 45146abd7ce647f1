"""The user's own folders: those of the XDG Base Directory Specification."""

from __future__ import annotations

import os
from pathlib import Path

_USUAL = {"XDG_CACHE_HOME": ".cache", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state"}


def user_folder(variable: str) -> Path | None:
    """The folder that `XDG_CACHE_HOME`, `XDG_DATA_HOME` or `XDG_STATE_HOME` names, else the usual one.

    A relative value does not count, says the specification. None where no home is known, as in a container whose user
    has no entry among its users.
    """
    named = os.environ.get(variable, "")
    if os.path.isabs(named):  # noqa: PTH117 - a text of the environment
        return Path(named)
    home = os.path.expanduser("~")  # noqa: PTH111 - that of Path raises without a home
    return Path(home, _USUAL[variable]) if os.path.isabs(home) else None  # noqa: PTH117
