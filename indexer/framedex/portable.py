"""Replacements for features that systems other than Linux lack, as needed to read an index."""

from __future__ import annotations

import os
from functools import cache

# Systems without such a flag do not need it to open a file. O_BINARY exists only on Windows.
READ_ONLY = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""The flags to open a file for reading bytes."""

NEVER_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""The flags to open a pipe or a terminal without waiting, and without making it the controlling terminal."""


@cache
def host_name() -> str:
    """The name of this machine."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    import platform

    return platform.node()


def is_mine(status: os.stat_result) -> bool:
    """Whether a file belongs to the user of this process; False on systems without user ids."""
    return status.st_uid == user_id()


def user_id() -> int:
    """The id of this process's user; -1 on systems without user ids."""
    return os.getuid() if hasattr(os, "getuid") else -1
