"""Repository addresses that are safe to pass to git.

git runs programs for some addresses (`ext::sh -c ...`), and parses others as options. A local folder is never passed to
git as a remote, because its configuration would take effect. Its objects are read instead (`suppliers.py`).
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

REMOTE = ("https", "http", "ssh", "git")
"""The protocols that git may use to reach another machine."""

_REMEDY = (
    "write https://HOST/PATH (or http, ssh, git), file:///FOLDER, or a folder that begins with /, ./, ../ or ~/,"
    " without a password"
)


def find_address_problem(text: str) -> str | None:
    """Return the remedy for an address that must not be passed to git; None if it is safe."""
    if not text.isprintable() or " " in text or "::" in text.partition("/")[0]:
        return _REMEDY
    if is_local(text):
        return None
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises ValueError if malformed
    except ValueError:
        return _REMEDY
    named = (parts.hostname, parts.username or "x")
    is_sound = all(name and re.match(r"[\w\[:]", name) for name in named) and parts.password is None
    return None if parts.scheme in REMOTE and text.startswith(f"{parts.scheme}://") and is_sound else _REMEDY


def is_local(text: str) -> bool:
    """Whether an address is a local folder."""
    return text.startswith(("file:///", "/", "./", "../", "~/"))


def local_folder(address: str) -> str:
    """Return the folder of a local address: `file:///src/xla.git` is `/src/xla.git`."""
    return unquote(urlsplit(address).path) if address.startswith("file:///") else address
