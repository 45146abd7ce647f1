"""The names of the plug-ins in captures with several."""

from __future__ import annotations

import json
from pathlib import PurePath

from framedex.index.read.rows import Reader
from framedex.programs.objects import PJRT_BOUNDARIES

_NUMBERED = {boundary: f"plug-in {number}" for number, boundary in enumerate(PJRT_BOUNDARIES, 1)}


def read_plugin_names(reader: Reader, capture: int) -> dict[str, str]:
    """Return the names of a capture's plug-ins by the boundary of their calls; empty for a single plug-in."""
    return reader.cache.get_or_compute(("plug-ins", capture), lambda: _read_plugin_names(reader, capture))


def _read_plugin_names(reader: Reader, capture: int) -> dict[str, str]:
    row = reader.row("SELECT plugins FROM captures WHERE id = ?", capture)
    paths: dict[str, str] = json.loads(row[0]) if row is not None and row[0] else {}
    if PJRT_BOUNDARIES[1] not in paths:
        return {} if paths else _number_plugins(reader, capture)
    for names in ({boundary: PurePath(path).name for boundary, path in paths.items()}, paths):
        if len(set(names.values())) == len(names):
            return names
    return _NUMBERED


def _number_plugins(reader: Reader, capture: int) -> dict[str, str]:
    """Return numbers as names of the plug-ins of a capture without their paths; empty for a single plug-in."""
    query = (
        "SELECT 1 FROM boundaries b CROSS JOIN call_kinds k ON k.capture = ? AND k.boundary = b.id"
        " WHERE b.boundary = ? LIMIT 1"
    )
    return _NUMBERED if reader.row(query, capture, PJRT_BOUNDARIES[1]) is not None else {}
