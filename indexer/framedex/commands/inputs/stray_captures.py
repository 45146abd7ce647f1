"""Captures near the working folder that `framedex index` finds only by name: those of `run -o`."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from framedex.commands.inputs.files import working_folder
from framedex.errors import FramedexError
from framedex.plaintext import shell_word

_MOST = 3  # folders in one proposed command


def proposed_strays(known: Collection[str]) -> str:
    """A sentence with the command that indexes such captures; empty if there are none.

    `known` are the real paths of captures that the index has or has rejected.
    """
    from framedex.captures import captures_within

    try:
        here = working_folder()
        found = [capture for capture in captures_within(here) if os.path.realpath(capture) not in known]
    except FramedexError:
        return ""
    folders = dict.fromkeys(_named(here if capture == here else capture.parent, here) for capture in found)
    if not folders:
        return ""
    words = " ".join(map(shell_word, list(folders)[:_MOST]))
    return f"Captures that are not in the index are here. Next: `framedex index {words}`."


def _named(folder: Path, here: Path) -> str:
    """A folder below the working folder, as an argument of a command."""
    name = os.fspath(folder.relative_to(here))
    return f"./{name}" if name.startswith("-") else name
