"""Source maps: accepted completely and writable again, or refused."""

from __future__ import annotations

import lzma

from framedex.sources.source_map import SourceMapError, read_map, write_map
from tests.fuzz.inputs import scratch

MAX_SIZE = 1 << 14


def run(data: bytes) -> None:
    """The first byte selects whether the rest is a file, or its lines."""
    path = scratch() / "map.fdmap"
    path.write_bytes(data[1:] if data[:1] == b"\xfd" else lzma.compress(data[1:], preset=0))
    try:
        with read_map(path) as (info, files):
            found = list(files)
    except SourceMapError as error:
        assert str(error).isprintable() or str(path) in str(error)
        return
    with path.open("wb") as stream:
        write_map(stream, info, found)
    with read_map(path) as (info_again, files):
        assert (info_again, list(files)) == (info, found)
