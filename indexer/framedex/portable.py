"""What systems other than Linux may lack, as far as those who only read an index have to do with it."""

from __future__ import annotations

import os
from functools import cache

# Where a system has no such flag, opening a file does not need it. O_BINARY is Windows' own.
READ_ONLY = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""The flags with which bytes are read."""

NEVER_WAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""The flags with which opening a pipe or a terminal does not wait, nor take it over."""


@cache
def host_name() -> str:
    """The name of this machine."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    import platform

    return platform.node()


def is_mine(status: os.stat_result) -> bool:
    """Whether a file belongs to the user of this process; where files have no such owners, it is said of none."""
    return status.st_uid == user_id()


def user_id() -> int:
    """The number of the user of this process; -1 where users have none."""
    return os.getuid() if hasattr(os, "getuid") else -1
