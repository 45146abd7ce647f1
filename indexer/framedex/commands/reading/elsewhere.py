"""Files that are known by their paths on another machine or in a build, found below the source folders here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from framedex.settings import Settings
from framedex.sources import BUILD_FOLDER, PathMap, files_below

if TYPE_CHECKING:
    from framedex.index import Index


def source_folders(settings: Settings, index: Index | None) -> list[str]:
    """The source folders of the settings and of the index, if there is one; real paths."""
    known = [str(folder) for folder in settings.sources]
    if index is not None:
        known += [root.path for root in index.sources.roots()]
    return list(dict.fromkeys(map(os.path.realpath, known)))


def files_elsewhere(recorded: str, settings: Settings, folders: Sequence[str]) -> list[str]:
    """The files here that may be meant by a path which is no file here: one if that is certain, else several, or none.

    A rule of the settings decides, else the longest end of the path that is a file below a source folder: of
    `external/xla/xla/shape.cc`, `xla/shape.cc`. A name alone proves nothing, unless it is all there is.
    """
    path = os.path.normpath(recorded)
    if by_rule := PathMap(settings.path_map).there(os.path.join(BUILD_FOLDER, path)):  # noqa: PTH118
        return [by_rule]
    return files_below(path, folders)
