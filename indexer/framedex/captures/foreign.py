"""Folders of captures that hold what another recorder wrote: its file as it was, and what makes a capture of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from framedex.model import Foreign
from framedex.nativepart import _native

_FILE = "foreign"
"""The file of another recorder in its folder, whatever its name was: that may mean something to a system."""


def foreign_file(folder: Path) -> Path:
    """Where the file of another recorder is in the folder of a capture."""
    return folder / _FILE


def write_foreign(folder: Path, foreign: Foreign, started_unix_ns: int) -> None:
    """Make a folder that has `foreign_file` a capture, of which the time is that of the file. Raises OSError.

    What a capture says to be the program's command tells wherever it is shown that this one was imported.
    """
    metadata = {
        "started_unix_ns": started_unix_ns,
        "argv": ["imported", foreign.format, foreign.origin.rpartition("/")[2]],
        "foreign": asdict(foreign),
    }
    write_foreign_metadata(folder, metadata)


def write_foreign_metadata(folder: Path, told: Mapping[str, object]) -> None:
    """Make a folder a capture that says this of itself, in this version of the format. Raises OSError."""
    metadata = {**told, "format": _native.FORMAT, "version": _native.FORMAT_VERSIONS[-1]}
    (folder / _native.METADATA_FILE).write_text(json.dumps(metadata, indent=1), "utf-8")
