"""Write a source map of an indexed source tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from framedex.index import Store
from framedex.ingest.report import TreeReport
from framedex.ingest.trees import read_files
from framedex.model import ExtractedFile, SourceMapInfo
from framedex.progress import Progress
from framedex.sourcemap import is_inside, write_map
from framedex.sources import find_files


@dataclass(frozen=True, slots=True)
class Exported:
    """The contents of a written map, and the number of files that had to be read first."""

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
) -> Exported:
    """Write the map of the sources below `root` from the index, with paths relative to `top`.

    Files that are not indexed in their present state are first read into the index. Only paths in `tracked` are
    written. A map without calls has less than half the size: it has definitions but no lines of calls.
    """
    folder = os.path.realpath(root)
    found = [file for file in find_files(Path(folder)) if tracked is None or _inside(file.path, top) in tracked]
    known = store.sources.known_files()
    unread = [file.path for file in found if known.get(file.path) != (file.modified, file.size)]
    roots = store.sources.roots()
    belonging = {path: above for path in unread for above in roots if path.startswith(f"{above}/")}
    with progress.task("Reading sources", len(unread)) as advance:
        read_files(store, unread, belonging, TreeReport(), advance)
    paths = sorted((file.path for file in found), key=lambda path: _inside(path, top).encode("utf-8", "replace"))
    with progress.task("Writing the map", len(paths)) as advance:
        files = _files(store, paths, top, with_calls)
        counts = write_map(stream, info, _counted(files, advance))
    return Exported(info, *counts, len(unread))


def _files(store: Store, paths: list[str], top: str, with_calls: bool) -> Iterator[ExtractedFile]:
    for path in paths:
        file = store.sources.extracted_file(path)
        inside = _inside(path, top)
        if file is not None and is_inside(inside):
            rows = file.definitions if with_calls else [(*row[:8], None) for row in file.definitions]
            yield replace(file, path=inside, definitions=rows)


def _counted(files: Iterator[ExtractedFile], advance: Callable[[int], None]) -> Iterator[ExtractedFile]:
    for file in files:
        yield file
        advance(1)


def _inside(path: str, top: str) -> str:
    return path[len(top) + 1 :]
