"""From captures to an index: names from binaries, lines from debug information and source trees.

Start at:

- `captures.py`: one capture; `follow.py`: a capture that is still being written
- `run.py`: names and lines of frames; `renaming.py`: better names for indexed frames
- `placing.py`, then `released.py`: locations of jaxlib's frames without sources
- `recorded.py`: whether a binary is the recorded one; `mapping.py`: recorded paths
- `importing.py`, then `told.py`: recordings of other tools; `shared.py`: shared files
- `removal.py`: remove captures; `renewal.py`: an index of an earlier version

Invariants:

- A known name is never removed. A nameless function gets its name once its binary or debug file is here.
- A function is looked up in release maps only for the release of its binary. Other binaries use the nearest release,
  for XLA's own namespaces, and the location is marked.
- A recorded path is stored beside its local path. A mapped line is exact only if the file confirms it.
"""

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
