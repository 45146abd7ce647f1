"""Release maps: definitions and calls in the sources of every jaxlib release, shipped with framedex.

Start at `reader.py`; `scripts/make_release_maps.py` writes the maps. docs/reference/source-maps.md explains their
content.
"""

from typing import TYPE_CHECKING

from framedex.base.lazy import export_lazily

if TYPE_CHECKING:
    from framedex.sources.release_maps.reader import ReleaseMap, ReleaseMaps, open_release_maps
    from framedex.sources.release_maps.writer import (
        ReleasedFile,
        ReleaseSources,
        build_released_file,
        write_release_maps,
    )

__all__ = [
    "ReleaseMap",
    "ReleaseMaps",
    "ReleaseSources",
    "ReleasedFile",
    "build_released_file",
    "open_release_maps",
    "write_release_maps",
]

__getattr__ = export_lazily(
    __name__,
    {
        "reader": ("ReleaseMap", "ReleaseMaps", "open_release_maps"),
        "writer": ("ReleaseSources", "ReleasedFile", "build_released_file", "write_release_maps"),
    },
)
