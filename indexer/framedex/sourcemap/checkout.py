"""What git says of a source tree that is to be exported."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from framedex.sources.git import git

_SHORT_SSH = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w.-]+):(?!//)(?P<path>[^:]+)")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A git work tree: its top folder (a real path), its commit, and the public address of its `origin`, if it has one.

    `is_dirty`: tracked files below the folder asked for are not as they are in the commit. `tracked` are the paths of
    its files below that folder, relative to `top`.
    """

    top: str
    commit: str
    repository: str | None
    is_dirty: bool
    tracked: frozenset[str]


def checkout_of(folder: Path) -> Checkout | None:
    """The checkout that a folder is, or is in; None where it is none or has no commit."""
    top = git(folder, "rev-parse", "--show-toplevel")
    commit = git(folder, "rev-parse", "--verify", "HEAD^{commit}")
    tracked = git(folder, "ls-files", "-z", "--full-name", "--", ".")
    status = git(folder, "status", "--porcelain", "--untracked-files=no", "--", ".")
    if top is None or commit is None or tracked is None or status is None:
        return None
    origin = git(folder, "remote", "get-url", "origin")
    return Checkout(
        top=os.path.realpath(os.fsdecode(top).removesuffix("\n")),
        commit=commit.decode().strip(),
        repository=public_address(os.fsdecode(origin).strip()) if origin else None,
        is_dirty=bool(status.strip()),
        tracked=frozenset(os.fsdecode(name) for name in tracked.split(b"\0") if name),
    )


def public_address(remote: str) -> str | None:
    """The address under which people find a remote, without user names and passwords; None for one on this machine."""
    if match := _SHORT_SSH.fullmatch(remote):
        remote = f"ssh://{match['host']}/{match['path']}"
    try:
        parts = urlsplit(remote)
        number = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https", "ssh", "git", "git+ssh") or not parts.hostname:
        return None
    port = f":{number}" if number and parts.scheme in ("http", "https") else ""
    scheme = parts.scheme if parts.scheme == "http" else "https"
    return f"{scheme}://{parts.hostname}{port}/{parts.path.strip('/').removesuffix('.git')}"
