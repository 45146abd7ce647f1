"""Index real captures without the sources of XLA, which take most of the time, for tests that do not read them."""

from __future__ import annotations

from pathlib import Path

from framedex.index import Store
from framedex.ingest import SilentProgress, ingest_captures, skip_sources


def index_without_sources(path: Path, *captures: Path) -> Path:
    """Add captures to the index at `path`; native functions have names and, without debug information, no lines."""
    with Store(path) as store:
        ingest_captures(store, captures, [], SilentProgress(), skip_sources)
    return path
