"""The names of the plug-ins in captures with several."""

from __future__ import annotations

import json
from pathlib import PurePath

from framedex.index.read.rows import Reader
from framedex.programs.objects import PJRT_BOUNDARIES


def read_plugin_names(reader: Reader, capture: int) -> dict[str, str]:
    """Return the names of a capture's plug-ins by the boundary of their calls; empty for a single plug-in."""
    return reader.cache.get_or_compute(("plug-ins", capture), lambda: _read_plugin_names(reader, capture))


def _read_plugin_names(reader: Reader, capture: int) -> dict[str, str]:
    rows = reader.rows(
        "SELECT b.boundary, a.json FROM boundaries b CROSS JOIN call_kinds k ON k.capture = ? AND k.boundary = b.id"
        " CROSS JOIN call_rows c ON c.id = k.first_call CROSS JOIN arguments a ON a.id = c.arguments"
        " WHERE b.name = 'GetPjrtApi'",
        capture,
    )
    paths = {boundary: str(json.loads(text).get("plugin", "")) for boundary, text in rows}
    if PJRT_BOUNDARIES[1] not in paths:
        return {}
    names = {boundary: PurePath(path).name for boundary, path in paths.items()}
    return names if len(set(names.values())) == len(names) else paths
