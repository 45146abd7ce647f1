"""Indexes without the data for following lines through an edit."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def forget_texts(index: Path) -> None:
    """Remove the stored texts; an index has none for installed packages."""
    _change(index, "text = NULL")


def forget_states(index: Path) -> None:
    """Make the states of files unknown, like those of files that were changed before they were indexed."""
    _change(index, "text = NULL, blob = '', modified = 0, size = 0")


def _change(index: Path, values: str) -> None:
    with closing(sqlite3.connect(index)) as connection:
        connection.execute(f"UPDATE file_versions SET {values}")
        connection.commit()
