"""Export and import of source maps. The index uses an imported map like a source tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO

from framedex.base.progress import Progress
from framedex.binaries import BinaryStore
from framedex.index import Store
from framedex.ingest.locations import locate_functions
from framedex.ingest.recorded_binaries import RecordedBinaries
from framedex.ingest.report import TreeReport
from framedex.ingest.trees import read_files
from framedex.model import ExtractedFile, SourceMapInfo
from framedex.sources import find_files
from framedex.sources.source_map import ENDING, SourceMapError, is_path_in_repository, read_map, write_map

_BATCH_FILES = 100  # files in memory


@dataclass(frozen=True, slots=True)
class ImportedMap:
    """An imported map; `replaced` is the previous map of the same component."""

    info: SourceMapInfo
    files: int
    definitions: int
    replaced: SourceMapInfo | None


def import_map(store: Store, path: Path, progress: Progress) -> ImportedMap:
    """Import a map, replacing one of the same component, and locate the recorded functions that it defines.

    Runs in one transaction: if the map is damaged, the index stays unchanged. Raises SourceMapError.
    """
    with store.transaction():
        imported = _store_map(store, path, progress)
        locate_functions(store.sources, progress, RecordedBinaries(kept=BinaryStore()))
    return imported


def import_wheel_maps(store: Store, progress: Progress) -> Iterator[str]:
    """Import the maps beside recorded binaries, which a wheel may ship; yield the errors.

    A map is skipped if another map of its component is stored. Functions are located later.
    """
    for path in _find_maps(store.sources.module_folders()):
        try:
            if _needs_import(store, path):
                with store.transaction():
                    _store_map(store, path, progress)
        except SourceMapError as error:
            yield error.message


def _store_map(store: Store, path: Path, progress: Progress) -> ImportedMap:
    modified, size = _file_state(path)
    with read_map(path) as (info, files), progress.task(f"Importing {info.prefix[:-1]}", None) as advance:
        replaced, identifier = store.sources.replace_map(info, os.path.realpath(path), modified, size)
        count = definitions = 0
        remaining = (replace(file, path=info.prefix + file.path) for file in files)
        while batch := list(islice(remaining, _BATCH_FILES)):
            definitions += store.sources.replace_files(batch, {}, identifier)
            count += len(batch)
            advance(len(batch))
    return ImportedMap(info, count, definitions, replaced)


def _find_maps(folders: Iterable[str]) -> Iterator[Path]:
    for folder in sorted(folders):
        try:
            yield from sorted(Path(entry.path) for entry in os.scandir(folder) if entry.name.endswith(ENDING))
        except OSError:
            continue


def _needs_import(store: Store, path: Path) -> bool:
    """Return whether a map's component is unknown, or known from an older state of this file."""
    origin = os.path.realpath(path)
    if store.sources.is_map_known(origin, *_file_state(path)):
        return False
    with read_map(path) as (info, _):
        known = store.sources.map_origin(info.component)
    return known is None or known == origin


def _file_state(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError as error:
        raise SourceMapError(
            f"{path} cannot be read: {error.strerror or error}.", "Check the path and its permissions."
        ) from error
    return status.st_mtime_ns, status.st_size


@dataclass(frozen=True, slots=True)
class ExportedMap:
    """The information and the totals of a written map; `read` is the number of files that had to be read first."""

    info: SourceMapInfo
    files: int
    definitions: int
    read: int


def export_map(
    store: Store,
    root: Path,
    top: str,
    info: SourceMapInfo,
    stream: IO[bytes],
    progress: Progress,
    *,
    tracked: frozenset[str] | None = None,
    with_calls: bool = True,
) -> ExportedMap:
    """Write the map of the sources below `root` from the index, with paths relative to `top`.

    Files that are not indexed in their current state are first read into the index. Only paths in `tracked` are
    written. A map without calls has less than half the size: it has definitions but no lines of calls.
    """
    folder = os.path.realpath(root)
    found = [file for file in find_files(Path(folder)) if tracked is None or _relative_path(file.path, top) in tracked]
    known = store.sources.known_files()
    unread = [file.path for file in found if known.get(file.path) != (file.modified, file.size)]
    roots = store.sources.roots()
    belonging = {path: above for path in unread for above in roots if path.startswith(f"{above}/")}
    with progress.task("Reading sources", len(unread)) as advance:
        read_files(store, unread, belonging, TreeReport(), advance)
    paths = sorted((file.path for file in found), key=lambda path: _relative_path(path, top).encode("utf-8", "replace"))
    with progress.task("Writing the map", len(paths)) as advance:
        files = _read_extracted_files(store, paths, top, with_calls)
        counts = write_map(stream, info, _report_progress(files, advance))
    return ExportedMap(info, *counts, len(unread))


def _read_extracted_files(store: Store, paths: list[str], top: str, with_calls: bool) -> Iterator[ExtractedFile]:
    for path in paths:
        file = store.sources.extracted_file(path)
        relative = _relative_path(path, top)
        if file is not None and is_path_in_repository(relative):
            rows = file.definitions if with_calls else [(*row[:8], None) for row in file.definitions]
            yield replace(file, path=relative, definitions=rows)


def _report_progress(files: Iterator[ExtractedFile], advance: Callable[[int], None]) -> Iterator[ExtractedFile]:
    for file in files:
        yield file
        advance(1)


def _relative_path(path: str, top: str) -> str:
    return path[len(top) + 1 :]
