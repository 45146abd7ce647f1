"""The git data of a source tree to export: tracked files and public address."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from framedex.git import Git

_SHORT_SSH = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w.-]+):(?!//)(?P<path>[^:]+)")
_SCHEMES = ("http", "https", "ssh", "git", "git+ssh")


def tracked_files(folder: Path) -> frozenset[str] | None:
    """The tracked files below a folder, relative to the root of the checkout; None if git fails."""
    names = Git(folder).text("ls-files", "-z", "--full-name", "--", ".")
    return None if names is None else frozenset(filter(None, names.split("\0")))


def repository_of(folder: Path) -> str | None:
    """The public address of a checkout's `origin`; None if it has none."""
    remote = Git(folder).text("remote", "get-url", "origin")
    return public_address(remote.strip()) if remote else None


def public_address(remote: str) -> str | None:
    """The public address of a remote, without user names and passwords; None for a local one."""
    if match := _SHORT_SSH.fullmatch(remote):
        remote = f"ssh://{match['host']}/{match['path']}"
    try:
        parts = urlsplit(remote)
        number = parts.port
    except ValueError:
        return None
    if parts.scheme not in _SCHEMES or not parts.hostname:
        return None
    port = f":{number}" if number and parts.scheme in ("http", "https") else ""
    scheme = "http" if parts.scheme == "http" else "https"
    return f"{scheme}://{parts.hostname}{port}/{parts.path.strip('/').removesuffix('.git')}"
