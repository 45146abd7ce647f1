"""Rebuild an index: a damaged file, or an index of another version.

`rebuild_index` recovers as much as possible. `renew_index` rebuilds only if nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.errors import FramedexError, SystemLimitError
from framedex.base.progress import Progress
from framedex.captures import compute_capture_identity, read_metadata
from framedex.index.file.database import DamagedIndexError, LockTimeout
from framedex.index.file.soundness import report_damage
from framedex.index.write.store import Store
from framedex.ingest.pipeline import find_sources, ingest_captures
from framedex.ingest.report import IndexingReport, UnreadableCapture
from framedex.ingest.source_maps import import_map
from framedex.path_resolution.files import PathRule

if TYPE_CHECKING:  # rarely needed
    from framedex.binaries.debuginfod import Debuginfod


def rebuild_index(
    path: Path,
    captures: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    patience: LockTimeout | None = None,
    rules: Sequence[PathRule] = (),
    debuginfod: Debuginfod | None = None,
) -> IndexingReport:
    """Rebuild the index at `path` from its own and the given captures and roots, in one transaction.

    `rules` map recorded paths to local paths, and `debuginfod` provides debug files. Readers see the old content until
    the end, and an interruption leaves it unchanged. A damaged file is renamed to `NAME.damaged`. Raises FramedexError
    if the file cannot be written or belongs to another program.
    """
    patience = patience or LockTimeout()
    try:
        with Store.open_any_version(path, patience) as store, report_damage(path):
            with store.transaction():
                report = rebuild_contents(store, captures, roots, progress, rules, debuginfod)
                if store.was_changed_outside:
                    store.check_structure()
            store.mark_rebuilt()
            store.seal()
            return report
    except DamagedIndexError:
        _rename_damaged(path)
    with Store(path, patience) as store:
        with store.transaction():
            report = rebuild_contents(store, captures, roots, progress, rules, debuginfod)
        store.seal()
        return report


def rebuild_contents(
    store: Store,
    captures: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    rules: Sequence[PathRule],
    debuginfod: Debuginfod | None,
) -> IndexingReport:
    """Rebuild an index of any version from its own content and from the arguments, in a transaction."""
    maps = store.map_files()
    old_roots, known = store.clear()
    missing = [capture for capture in known if is_missing(capture.path)]
    existing = [capture.path for capture in known if capture not in missing]
    captures, roots = [*existing, *captures], [*map(Path, old_roots), *roots]
    report = ingest_captures(store, captures, roots, progress, find_sources, rules, debuginfod)
    report.sources.problems.extend(_reimport_maps(store, maps, progress))
    # A moved capture is found again among the given captures.
    gone = [capture for capture in missing if store.known_capture(capture.identity) is None]
    gone_captures = tuple(UnreadableCapture(capture.path, capture.calls) for capture in gone)
    return replace(report, gone=gone_captures, totals=store.totals())


def _reimport_maps(store: Store, maps: Sequence[Path], progress: Progress) -> Iterator[str]:
    """Import the existing source maps again; yield the problems of the others, as sentences."""
    for path in maps:
        try:
            import_map(store, path, progress)
        except SystemLimitError:
            raise
        except FramedexError as error:
            yield f"{error.message} The index no longer contains this source map."


def is_missing(folder: Path) -> bool:
    """Return whether a folder is surely missing. An unreadable one is reported later, with the reason."""
    try:
        folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _rename_damaged(path: Path) -> None:
    # A write-ahead log left beside a new database would be replayed into it.
    for companion in ("-wal", "-shm", ".seal"):
        path.with_name(path.name + companion).unlink(missing_ok=True)
    path.replace(path.with_name(path.name + ".damaged"))


_MISSING_CONTENT_REMEDY = (
    "The index is unchanged; the framedex that wrote it can still read it. Restore the missing files, or run"
    " `framedex index --rebuild` to rebuild the index without them."
)


def renew_index(
    path: Path,
    project_captures: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    on_begin: Callable[[], object],
    patience: LockTimeout,
    rules: Sequence[PathRule] = (),
    debuginfod: Debuginfod | None = None,
) -> None:
    """Rebuild an index of an earlier version from its captures, source maps and roots, in one transaction.

    Its captures are found at their stored paths, or among `project_captures`. `on_begin` is called once all captures
    are found, unless another process has rebuilt the index meanwhile. Raises FramedexError without any change if
    something is missing or the file cannot be written.
    """
    try:
        with Store.open_any_version(path, patience) as store, report_damage(path):
            with store.transaction():
                if store.has_current_version():
                    return
                moved = _find_moved_captures(store, project_captures)
                on_begin()
                report = rebuild_contents(store, moved, roots, progress, rules, debuginfod)
                for capture, error in report.refused:
                    raise FramedexError(f"{capture} cannot be read now: {error.message}", _MISSING_CONTENT_REMEDY)
            store.mark_rebuilt()
            store.seal()
    except FramedexError as error:
        raise FramedexError(
            f"The index {path} is from an earlier framedex and cannot be rebuilt: {error.message}", error.remedy
        ) from error


def _find_moved_captures(store: Store, project_captures: Sequence[Path]) -> list[Path]:
    """Return the new paths of moved captures. Raises FramedexError if a capture or a source map is missing."""
    missing_captures = {
        capture.identity: capture.path for capture in store.read_roots_and_captures()[1] if is_missing(capture.path)
    }
    found = (
        {identity: path for path, identity in _read_identities(project_captures) if identity in missing_captures}
        if missing_captures
        else {}
    )
    gone = [path for identity, path in missing_captures.items() if identity not in found]
    missing = [*gone, *filter(is_missing, store.map_files())]
    if missing:
        missing_text = ", ".join(map(str, missing[:3])) + (f" and {len(missing) - 3} more" if missing[3:] else "")
        raise FramedexError(
            f"Some of its captures or source maps are missing: {missing_text}.", _MISSING_CONTENT_REMEDY
        )
    return list(found.values())


def _read_identities(captures: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    for path in captures:
        try:
            yield path, compute_capture_identity(path, read_metadata(path))
        except SystemLimitError:
            raise
        except FramedexError:
            continue
