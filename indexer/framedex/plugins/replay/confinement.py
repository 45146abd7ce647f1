"""Confine a child process with Landlock: it writes files only in given folders, and opens no TCP connection.

A recording is code for a compiler, which may have faults. Landlock is in Linux 5.13 and later. Truncation needs 6.2,
TCP connections 6.7, signals and abstract sockets 6.12. Permissions, times and attributes of files are not restricted.
Elsewhere nothing is confined. `build_confined_program` prepends this file to a program for another Python, so it
does not import framedex.
"""

from __future__ import annotations

import ctypes
import os
import struct
import tempfile
from collections.abc import Iterable
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the numbers of these system calls everywhere
_QUERY_VERSION, _PATH_BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38
_WRITES = 0x1FF2  # write, remove and create files of every kind
_CONNECTIONS = 3  # TCP: bind and connect
_OUTSIDE = 3  # signals and abstract sockets of other processes


def confine(folders: Iterable[str], *, allows_network: bool) -> bool:
    """Confine this thread and the threads and processes that it starts. Return whether the system can."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    version = call(_CREATE_RULESET, None, ctypes.c_size_t(0), _QUERY_VERSION)
    if version < 1:
        return False
    writes = _WRITES | (0x2000 if version >= 2 else 0) | (0x4000 if version >= 3 else 0)
    handled = [writes]
    handled += [0 if allows_network else _CONNECTIONS] if version >= 4 else []
    handled += [_OUTSIDE] if version >= 6 else []
    attributes = struct.pack(f"={len(handled)}Q", *handled)
    rules = call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if rules < 0:
        return False
    for folder in folders:
        opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", writes, opened), 0)
        os.close(opened)
    ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    is_confined: bool = call(_RESTRICT_SELF, rules, 0) == 0
    os.close(rules)
    return is_confined


def build_confined_program(program: str, *, allows_network: bool = False) -> str:
    """Return a program that confines itself to the temporary folder and devices before it begins."""
    folders = [each for each in (tempfile.gettempdir(), "/dev") if os.path.isdir(each)]  # noqa: PTH112
    call = f"confine({folders!r}, allows_network={allows_network})"
    return f"{Path(__file__).read_text('utf-8')}\n\n{call}\n{program}"
