"""Imported captures: folders with the unchanged file of another recorder, and generated metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from framedex.model import Foreign
from framedex.nativepart import _native

_FILE = "foreign"
"""The fixed name of the imported file: its original name could have a meaning to the system."""


def foreign_file(folder: Path) -> Path:
    """The path of the imported file in a capture's folder."""
    return folder / _FILE


def write_foreign(folder: Path, foreign: Foreign, started_unix_ns: int) -> None:
    """Turn a folder with `foreign_file` into a capture that starts at `started_unix_ns`. Raises OSError.

    The program's command is `imported FORMAT FILE`, which marks the capture as imported wherever the command is shown.
    """
    metadata = {
        "started_unix_ns": started_unix_ns,
        "argv": ["imported", foreign.format, foreign.origin.rpartition("/")[2]],
        "foreign": asdict(foreign),
    }
    write_foreign_metadata(folder, metadata)


def write_foreign_metadata(folder: Path, told: Mapping[str, object]) -> None:
    """Turn a folder into a capture with this metadata, in the current version of the format. Raises OSError."""
    metadata = {**told, "format": _native.FORMAT, "version": _native.FORMAT_VERSIONS[-1]}
    (folder / _native.METADATA_FILE).write_text(json.dumps(metadata, indent=1), "utf-8")
