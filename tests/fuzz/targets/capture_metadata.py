"""A capture's metadata: any file is parsed, or refused with a message."""

from __future__ import annotations

import json
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.captures import read_capture
from framedex.captures.state import is_complete, read_capture_state
from framedex.sources.releases import find_builds
from framedex_native import _native
from tests.fuzz.inputs import scratch

MAX_SIZE = 4096


def run(data: bytes) -> None:
    """Parse the file unchanged, and its values as those of a capture of this version."""
    folder = scratch() / "capture"
    folder.mkdir(exist_ok=True)
    _read(folder, data)
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(values, dict):
        values |= {"format": "framedex-capture", "version": _native.FORMAT_VERSIONS[-1]}
        _read(folder, json.dumps(values).encode())


def _read(folder: Path, data: bytes) -> None:
    (folder / "capture.json").write_bytes(data)
    try:
        capture = read_capture(folder)
        read_capture_state(folder), is_complete(folder)
    except FramedexError as error:
        assert str(error)
        return
    find_builds(capture)
