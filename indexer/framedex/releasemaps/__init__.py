"""Release maps: definitions and calls in the sources of every jaxlib release, shipped with framedex.

Start at `reader.py`; `scripts/make_release_maps.py` writes the maps. docs/reference/source-maps.md explains their
content.
"""

from typing import TYPE_CHECKING

from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.releasemaps.encoding import ReleasedFile, released_file
    from framedex.releasemaps.reader import ReleaseMap, ReleaseMaps, open_release_maps
    from framedex.releasemaps.writer import ReleaseSources, write_release_maps

__all__ = [
    "ReleaseMap",
    "ReleaseMaps",
    "ReleaseSources",
    "ReleasedFile",
    "open_release_maps",
    "released_file",
    "write_release_maps",
]

__getattr__ = exports(
    __name__,
    {
        "encoding": ("ReleasedFile", "released_file"),
        "reader": ("ReleaseMap", "ReleaseMaps", "open_release_maps"),
        "writer": ("ReleaseSources", "write_release_maps"),
    },
)
