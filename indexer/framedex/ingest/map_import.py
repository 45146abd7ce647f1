"""Import a source map into the index, as a source of definitions beside the source trees."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from framedex.binaries import KeptBinaries
from framedex.index import Store
from framedex.ingest.placing import place_functions
from framedex.ingest.recorded import RecordedBinaries
from framedex.model import SourceMapInfo
from framedex.progress import Progress
from framedex.sourcemap import ENDING, SourceMapError, read_map

_BATCH = 100  # files in memory


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported map; `replaced` is the previous map of the same component."""

    info: SourceMapInfo
    files: int
    definitions: int
    replaced: SourceMapInfo | None


def import_map(store: Store, path: Path, progress: Progress) -> Imported:
    """Import a map, replacing one of the same component, and locate the recorded functions that it defines.

    Runs in one transaction: if the map is damaged, the index stays unchanged. Raises SourceMapError.
    """
    with store.transaction():
        imported = _store_map(store, path, progress)
        place_functions(store.sources, progress, RecordedBinaries(kept=KeptBinaries()))
    return imported


def import_maps_of_wheels(store: Store, progress: Progress) -> Iterator[str]:
    """Import the maps beside recorded binaries, as a wheel may ship them; yield the errors.

    A map is skipped if another map of its component is stored. No function is located yet.
    """
    for path in _maps_in(store.sources.module_folders()):
        try:
            if _is_wanted(store, path):
                with store.transaction():
                    _store_map(store, path, progress)
        except SourceMapError as error:
            yield error.message


def _store_map(store: Store, path: Path, progress: Progress) -> Imported:
    modified, size = _state(path)
    with read_map(path) as (info, files), progress.task(f"Importing {info.prefix[:-1]}", None) as advance:
        replaced, identifier = store.sources.replace_map(info, os.path.realpath(path), modified, size)
        count = definitions = 0
        remaining = (replace(file, path=info.prefix + file.path) for file in files)
        while batch := list(islice(remaining, _BATCH)):
            definitions += store.sources.replace_files(batch, {}, identifier)
            count += len(batch)
            advance(len(batch))
    return Imported(info, count, definitions, replaced)


def _maps_in(folders: Iterable[str]) -> Iterator[Path]:
    for folder in sorted(folders):
        try:
            yield from sorted(Path(entry.path) for entry in os.scandir(folder) if entry.name.endswith(ENDING))
        except OSError:
            continue


def _is_wanted(store: Store, path: Path) -> bool:
    """Return whether a map's component is unknown, or known from an older state of this file."""
    origin = os.path.realpath(path)
    if store.sources.is_map_known(origin, *_state(path)):
        return False
    with read_map(path) as (info, _):
        known = store.sources.map_origin(info.component)
    return known is None or known == origin


def _state(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError as error:
        raise SourceMapError(
            f"{path} cannot be read: {error.strerror or error}.", "Check the path and its permissions."
        ) from error
    return status.st_mtime_ns, status.st_size
