"""Files that are known by their paths on another machine or in a build, found below the source folders here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from framedex.commands.console import known_index
from framedex.errors import FramedexError
from framedex.settings import Settings


def source_folders(settings: Settings, index_path: Path | None) -> list[str]:
    """The source folders of the settings and of the index, if there is one; real paths."""
    from framedex.index import Index

    known = [str(folder) for folder in settings.sources]
    path = known_index(index_path, settings)
    if path is not None:
        try:
            with Index.open(path) as index:
                known += [root.path for root in index.source_roots()]
        except FramedexError:
            pass  # What was clicked may be found without it.
    return list(dict.fromkeys(map(os.path.realpath, known)))


def find_elsewhere(recorded: str, settings: Settings, folders: Sequence[str]) -> str | None:
    """The file here that is meant by a path which is no file here; None where none is, or several may be.

    A rule of the settings decides, else the longest end of the path that is a file below a source folder: of
    `external/xla/xla/shape.cc`, `xla/shape.cc`. A name alone proves nothing, unless it is all there is.
    """
    from framedex.sources import BUILD_FOLDER, PathMap

    path = os.path.normpath(recorded)
    if by_rule := PathMap(settings.path_map).there(os.path.join(BUILD_FOLDER, path)):  # noqa: PTH118
        return by_rule
    parts = [part for part in path.split("/") if part not in {"", ".."}]
    for start in range(max(len(parts) - 1, 1)):
        end = "/".join(parts[start:])
        found = {os.path.realpath(file) for folder in folders if os.path.isfile(file := f"{folder}/{end}")}  # noqa: PTH113
        if found:
            return found.pop() if len(found) == 1 else None
    return None
