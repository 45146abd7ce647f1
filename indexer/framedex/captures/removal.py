"""Remove a capture's folder in two steps: rename it, then delete it. Removal may stop after either step."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from framedex.captures.folders import ASIDE

_OF_CAPTURE = re.compile(r"\d{8}-\d{6}-[\d-]+" + re.escape(ASIDE))  # as the recorder names captures, plus suffix


def aside_of(folder: Path) -> Path:
    """The new path of a capture's folder during removal."""
    return folder.with_name(folder.name + ASIDE)


def put_aside(folder: Path) -> Path:
    """Rename a capture's folder for removal, unless already renamed; return the new path. Raises OSError."""
    if folder.name.endswith(ASIDE):
        return folder
    aside = aside_of(folder)
    if aside.is_dir() and not aside.is_symlink():
        shutil.rmtree(aside)
    return folder.rename(aside)


def put_back(aside: Path) -> None:
    """Undo `put_aside`. Ignores OSError."""
    with suppress(OSError):
        aside.rename(aside.with_name(aside.name.removesuffix(ASIDE)))


def left_aside(folder: Path) -> Iterator[Path]:
    """The captures that other processes renamed for removal, if named by the recorder and not links."""
    for aside in folder.glob(f"*{ASIDE}"):
        if _OF_CAPTURE.fullmatch(aside.name) and aside.is_dir() and not aside.is_symlink():
            yield aside
