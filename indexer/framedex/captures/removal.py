"""Removing the folder of a capture in two steps, of which each can be the last: put aside, gone."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from framedex.captures.folders import ASIDE

_OF_CAPTURE = re.compile(r"\d{8}-\d{6}-[\d-]+" + re.escape(ASIDE))  # as the recorder names captures, put aside


def aside_of(folder: Path) -> Path:
    """Where a capture's folder is put aside."""
    return folder.with_name(folder.name + ASIDE)


def put_aside(folder: Path) -> Path:
    """Rename a capture's folder, unless that was done before; returns the new path. Raises OSError."""
    if folder.name.endswith(ASIDE):
        return folder
    aside = aside_of(folder)
    if aside.is_dir() and not aside.is_symlink():
        shutil.rmtree(aside)
    return folder.rename(aside)


def put_back(aside: Path) -> None:
    """Undo `put_aside`."""
    with suppress(OSError):
        aside.rename(aside.with_name(aside.name.removesuffix(ASIDE)))


def left_aside(folder: Path) -> Iterator[Path]:
    """What others have put aside in a folder of captures, under names as the recorder gives them; no links."""
    for aside in folder.glob(f"*{ASIDE}"):
        if _OF_CAPTURE.fullmatch(aside.name) and aside.is_dir() and not aside.is_symlink():
            yield aside
