"""Rebuild an index: the recovery from a damaged file or an index of another version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.errors import FramedexError
from framedex.index.file.database import DamagedIndexError, Patience
from framedex.index.file.soundness import blaming_damage
from framedex.index.write.store import Store
from framedex.ingest.map_import import import_map
from framedex.ingest.report import GoneCapture, Report
from framedex.ingest.run import find_sources, ingest_captures
from framedex.path_resolution.rules import PathRule
from framedex.progress import Progress
from framedex.systemlimits import SystemLimitError

if TYPE_CHECKING:  # few runs need it
    from framedex.binaries.debuginfod import Debuginfod


def rebuild_index(
    path: Path,
    captures: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    patience: Patience | None = None,
    rules: Sequence[PathRule] = (),
    debuginfod: Debuginfod | None = None,
) -> Report:
    """Rebuild the index at `path` from its own and the given captures and roots, in one transaction.

    `rules` map recorded paths to local paths, and `debuginfod` provides debug files. Readers see the old content until
    the end, and an interruption leaves it unchanged. A damaged file is renamed to `NAME.damaged`. Raises FramedexError
    if the file cannot be written or belongs to another program.
    """
    patience = patience or Patience()
    try:
        with Store.of_any_version(path, patience) as store, blaming_damage(path):
            with store.transaction():
                report = refill(store, captures, roots, progress, rules, debuginfod)
                if store.is_doubtful:
                    store.check_structure()
            store.is_made_anew()
            store.seal()
            return report
    except DamagedIndexError:
        _set_aside(path)
    with Store(path, patience) as store:
        with store.transaction():
            report = refill(store, captures, roots, progress, rules, debuginfod)
        store.seal()
        return report


def refill(
    store: Store,
    captures: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    rules: Sequence[PathRule],
    debuginfod: Debuginfod | None,
) -> Report:
    """Rebuild an index of any version from its own content and from the arguments, in a transaction."""
    maps = store.map_files()
    old_roots, known = store.clear()
    missing = [capture for capture in known if is_missing(capture.path)]
    there = [capture.path for capture in known if capture not in missing]
    captures, roots = [*there, *captures], [*map(Path, old_roots), *roots]
    report = ingest_captures(store, captures, roots, progress, find_sources, rules, debuginfod)
    report.sources.problems.extend(_import_again(store, maps, progress))
    # A moved capture is found again among the given captures.
    gone = [capture for capture in missing if store.known_capture(capture.identity) is None]
    gone_captures = tuple(GoneCapture(capture.path, capture.calls) for capture in gone)
    return replace(report, gone=gone_captures, totals=store.totals())


def _import_again(store: Store, maps: Sequence[Path], progress: Progress) -> Iterator[str]:
    """Import the existing source maps again; yield the problems of the others, as sentences."""
    for path in maps:
        try:
            import_map(store, path, progress)
        except SystemLimitError:
            raise
        except FramedexError as error:
            yield f"{error.message} What the index had of this source map is gone."


def is_missing(folder: Path) -> bool:
    """Return whether a folder is surely missing. An unreadable one is reported later, with the reason."""
    try:
        folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _set_aside(path: Path) -> None:
    # A write-ahead log left beside a new database would be replayed into it.
    for companion in ("-wal", "-shm", ".seal"):
        path.with_name(path.name + companion).unlink(missing_ok=True)
    path.replace(path.with_name(path.name + ".damaged"))
