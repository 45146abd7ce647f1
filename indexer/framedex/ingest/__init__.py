"""From captures to an index: names by the binaries, lines by debug information and source trees, rows by the store."""

from framedex.ingest.naming import Namer
from framedex.ingest.rebuild import rebuild_index
from framedex.ingest.report import Report, TreeReport
from framedex.ingest.run import find_needed_sources, find_sources, ingest_captures, no_sources, refresh_files
from framedex.progress import Progress, Silence

__all__ = [
    "Namer",
    "Progress",
    "Report",
    "Silence",
    "TreeReport",
    "find_needed_sources",
    "find_sources",
    "ingest_captures",
    "no_sources",
    "rebuild_index",
    "refresh_files",
]
