"""Addresses of repositories that git may be given.

git runs programs for some (`ext::sh -c ...`), and takes others for options. A folder on this machine is never given to
git as a place to fetch from: what it configures would count there. Its objects are read instead (`clones.py`).
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

REMOTE = ("https", "http", "ssh", "git")
"""The protocols by which git may talk to another machine."""

_REMEDY = (
    "write https://HOST/PATH (or http, ssh, git), file:///FOLDER, or a folder that begins with /, ./, ../ or ~/,"
    " without a password"
)


def address_problem(text: str) -> str | None:
    """What to write in place of an address that git is not given; None where it may be."""
    if not text.isprintable() or " " in text or "::" in text.partition("/")[0]:
        return _REMEDY
    if is_local(text):
        return None
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises where it is none
    except ValueError:
        return _REMEDY
    named = (parts.hostname, parts.username or "x")
    is_sound = all(name and re.match(r"[\w\[:]", name) for name in named) and parts.password is None
    return None if parts.scheme in REMOTE and text.startswith(f"{parts.scheme}://") and is_sound else _REMEDY


def is_local(text: str) -> bool:
    """Whether an address is a folder of this machine."""
    return text.startswith(("file:///", "/", "./", "../", "~/"))


def local_folder(address: str) -> str:
    """The folder that a local address is: `file:///src/xla.git` is `/src/xla.git`."""
    return unquote(urlsplit(address).path) if address.startswith("file:///") else address
