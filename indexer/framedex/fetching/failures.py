"""Translate git's failures into error messages with a remedy."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from framedex.errors import FramedexError
from framedex.fetching.running import NOT_GIVEN
from framedex.fetching.wanted import Wanted
from framedex.plaintext import printable, shell_word

_NO_GIT = re.compile(r"there is no git")
_TOO_OLD = re.compile(r"unknown option|framedex-origin' does not appear")
_FULL = re.compile(r"No space left|[Dd]isk quota|File too large|file write error|unable to write file")
_NOT_WRITABLE = re.compile(r"Permission denied(?! \()|Read-only file system|insufficient permission")
_NOT_ALLOWED = re.compile(
    r"[Aa]uthentication|could not read (?:Username|Password)|Permission denied \(|error: 40[13]|Host key"
)
_DAMAGED = re.compile(
    r"too short to be a packfile|packfile .* (?:cannot be|is truncated|does not match)|corrupt|inflate|bad object"
    r"|unable to read|loose object|not a tree|not a git repository|bad config|invalid sha1 pointer"
)
_LONGEST = 400  # maximum characters of quoted git output


def failed(wanted: Wanted, address: str | None, said: str, store: Path) -> FramedexError:
    """Return the error for a failed git command with the output `said`; `address` is that of the remote, if any."""
    where = f" from {address}" if address else ""
    quoted = printable(said if len(said) <= _LONGEST else f"{said[:_LONGEST]}...").rstrip(".")
    what = f"{wanted.title} could not be fetched{where}: {quoted}."
    if _NO_GIT.search(said):
        return FramedexError(what, f"Install git, or bring the sources yourself.\n{by_hand(wanted)}")
    if _TOO_OLD.search(said):
        return FramedexError(what, f"git 2.31 or later is needed.\n{by_hand(wanted)}")
    if _FULL.search(said):
        return FramedexError(
            what,
            f"Make room on the disk of {store.parent}, or set XDG_CACHE_HOME to another folder;"
            " then run it again, and it goes on.",
        )
    if address is None and _NOT_WRITABLE.search(said):
        return FramedexError(what, f"Check the permissions of {store.parent}, or set XDG_CACHE_HOME to another folder.")
    if _DAMAGED.search(said) and (address is None or " ./objects/" in said):
        return FramedexError(
            what,
            f"What is kept in {store.parent} is damaged. `framedex sources fetch --remove {wanted.component}` takes it"
            " away; then fetch again.",
        )
    if NOT_GIVEN.search(said):
        return FramedexError(
            what,
            "That repository does not have the commit, does not give commits by their ids, or is served as plain files."
            f" Fetch it where that is possible.\n{by_hand(wanted)}",
        )
    if _NOT_ALLOWED.search(said):
        return FramedexError(what, "git cannot ask for a password here: set up a credential helper or an ssh agent.")
    return FramedexError(what, f"The download is kept: run the command again to continue.\n{by_hand(wanted)}")


def other_commit(wanted: Wanted, address: str, said: str) -> FramedexError:
    """Return the error for a repository that returned another commit."""
    return FramedexError(
        f"{address} returned another commit than {wanted.commit or wanted.tag}: {said}. It was rejected.",
        f"Fetch it from its origin: {wanted.repository}.",
    )


def by_hand(wanted: Wanted) -> str:
    """Return instructions to fetch the sources on another machine and to add them here."""
    name = wanted.repository.rpartition("/")[2]
    clone = f"git clone {wanted.repository}"
    checkout = f"git -C {name} checkout {shlex.quote(wanted.commit or wanted.tag)}"
    return (
        f"On a machine with a network: `{clone}`, then `{checkout}`.\n"
        f"Bring the folder here; then `framedex sources add {shell_word(name)}` and `framedex index`."
    )
