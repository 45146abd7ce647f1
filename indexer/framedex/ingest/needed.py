"""Read the few source files first that are likely to define recorded functions.

A large tree takes seconds to read, but the lines of recorded frames should appear at once.
"""

from __future__ import annotations

from collections import Counter

from framedex.index import Store
from framedex.index.write.records import UnplacedFunction
from framedex.ingest.mapping import find_mapped, place_mapped
from framedex.ingest.placing import place_functions
from framedex.ingest.recorded import RecordedBinaries
from framedex.ingest.report import TreeReport
from framedex.ingest.trees import Trees, read_files
from framedex.path_resolution.tails import TreeFiles
from framedex.progress import Progress
from framedex.sources import likely_to_define

MOST = 60
"""The maximum number of files, which take about a quarter of a second."""

_MOST_FOR_ONE = 6  # the maximum number of files for a single function


def read_needed(store: Store, trees: Trees, progress: Progress, report: TreeReport, binaries: RecordedBinaries) -> None:
    """Read at most `MOST` of the new and changed files, and locate the functions found in them.

    The files for recorded paths come first.
    """
    mapped = find_mapped(store, trees)
    unread = {file.path for file in trees.changed(store)}
    likely = _most_wanted(store.sources.unlocated_functions(), TreeFiles(trees.files), unread)
    wanted = [*dict.fromkeys(here.path for here in mapped.values() if here.path in unread), *likely][:MOST]
    with progress.task("Reading the sources of recorded functions", len(wanted)) as advance:
        read_files(store, wanted, trees.roots, report, advance)
    with store.transaction():
        place_mapped(store, mapped)
        report.tell(place_functions(store.sources, progress, binaries))


def _most_wanted(functions: list[UnplacedFunction], files: TreeFiles, unread: set[str]) -> list[str]:
    votes: Counter[str] = Counter()
    for function in functions:
        likely = likely_to_define(files, function.record.symbol, function.record.unit)[:_MOST_FOR_ONE]
        for rank, path in enumerate(likely):
            votes[path] += 1 << (_MOST_FOR_ONE - rank)
    return [path for path, _ in votes.most_common() if path in unread][:MOST]
