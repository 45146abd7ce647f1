"""Find captures to read again because better names are available: a binary was restored, or has a debug file now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from framedex.captures import recorded_modules
from framedex.index import Store
from framedex.index.file.values import storable
from framedex.index.write.records import NamesFrom
from framedex.ingest.marks import is_followed
from framedex.ingest.recorded import RecordedBinaries
from framedex.model import BinaryId


def owe_better_names(store: Store, binaries: RecordedBinaries) -> Sequence[Path]:
    """Mark the captures stale whose frames would get better names now; return their paths.

    A capture with a missing folder keeps its names.
    """
    lacking = [known for known in store.binaries() if known.named_from is not NamesFrom.DEBUG_INFORMATION]
    binaries.fetch_debug_files(binaries.module(known.id) for known in lacking)
    better = {known.id for known in lacking if binaries.named_from(binaries.module(known.id)) > known.named_from}
    owed = []
    for capture in store.captures() if better else ():
        if capture.signature and not is_followed(capture.reading) and _has_any(capture.path, better):
            store.owe_capture(capture.id)
            owed.append(capture.path)
    return owed


def _has_any(capture: Path, wanted: set[BinaryId]) -> bool:
    return any(module.id._replace(path=storable(module.path)) in wanted for module in recorded_modules(capture))
