"""The message about a stripped binary: the number of its unnamed frames, and the remedy."""

from __future__ import annotations

import re

from framedex.binaries import Binary, role_of
from framedex.missing import UNNAMED
from framedex.model import Role
from framedex.words import count

_DEBUG_FILES = "/usr/lib/debug/.build-id"
_OF_THE_SYSTEM = re.compile(r"(?:/usr)?/lib(?:32|64)?/(?:[\w-]+-linux-gnu\w*/)?[^/]+")


def why_unnamed(binary: Binary, path: str, frames: int, unnamed: int) -> str | None:
    """Return why a binary's recorded frames have no name; None if missing symbols are not the reason.

    The interpreter and the system's own libraries are not reported. Every system strips them, and their unnamed frames
    are internal steps on the way in.
    """
    is_of_others = role_of(path, "") is Role.CODE and not _OF_THE_SYSTEM.fullmatch(path)
    if not unnamed or not is_of_others or not binary.is_stripped:
        return None
    of_all = f"{unnamed:,} of its {count(frames, 'recorded frame')}"
    return f"{path} is stripped: {of_all} {'has' if unnamed == 1 else 'have'} no name. {_remedy(binary)} {UNNAMED}"


def _remedy(binary: Binary) -> str:
    then = "and run `framedex index`; until then"
    if binary.build_id:
        place = f"{_DEBUG_FILES}/{binary.build_id[:2]}/{binary.build_id[2:]}.debug"
        return f"Put its debug file at {place}, or name a server that has it in DEBUGINFOD_URLS, {then}"
    if binary.debug_link:
        return f"Put its debug file {binary.debug_link} beside it {then}"
    return (
        "No debug file can be found for it, as it has neither a build-id nor a debug link: record with a build that has"
        " symbols; until then"
    )
