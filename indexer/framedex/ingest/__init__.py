"""From captures to an index: names from binaries, lines from debug information and source trees.

Start at:

- `pipeline.py`: all steps of `framedex index`
- `captures.py`: one capture; `follow.py`: a capture that is still being written
- `naming.py`: names of frames; `recorded_files.py`: recorded paths and stored files of a capture
- `recorded_binaries.py`: whether a binary is the recorded one; `path_mapping.py`: paths of other machines
- `trees.py`: source files; `locations.py`, then `release_maps.py`: locations of functions and calls
- `source_maps.py`: export and import of maps; `imports.py`: recordings of other tools
- `removal.py`: remove captures; `rebuild.py`: a damaged index, or one of an earlier version
- `temporary.py`: a temporary index for one answer

Invariants:

- A known name is never removed. A function without a name gets one once its binary or debug file is on this machine.
- A function is looked up in release maps only for the release of its binary. Other binaries use the nearest release,
  for XLA's own namespaces, and the location is marked.
- A recorded path is stored beside its local path. A mapped line is exact only if the file confirms it.
"""

from framedex.base.progress import Progress, SilentProgress
from framedex.ingest.naming import CaptureFrameNamer
from framedex.ingest.pipeline import find_needed_sources, find_sources, ingest_captures, refresh_files, skip_sources
from framedex.ingest.rebuild import rebuild_index
from framedex.ingest.report import IndexingReport, TreeReport

__all__ = [
    "CaptureFrameNamer",
    "IndexingReport",
    "Progress",
    "SilentProgress",
    "TreeReport",
    "find_needed_sources",
    "find_sources",
    "ingest_captures",
    "rebuild_index",
    "refresh_files",
    "skip_sources",
]
