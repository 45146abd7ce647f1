"""Telling a damaged index from a mistake of ours, when an answer could not be made of what its rows say."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from framedex.errors import FramedexError
from framedex.index.database import damaged
from framedex.index.seal import was_changed


@contextmanager
def blaming_damage(path: Path) -> Iterator[None]:
    """Inside, an unexpected exception is a DamagedIndexError if the index at `path` is damaged; else it stays.

    Rows refer to others, and texts to enumerations, by whatever bytes there are. Every place that decodes one would
    have to doubt it; here the question is asked once, when there is a reason.
    """
    try:
        yield
    except (FramedexError, OSError):
        raise
    except Exception as error:
        if was_changed(path) or _is_broken(path):
            raise damaged(path, f"{type(error).__name__}: {error}") from error
        raise


def _is_broken(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            is_whole = connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            return not is_whole or connection.execute("PRAGMA foreign_key_check").fetchone() is not None
    except sqlite3.DatabaseError:
        return True
