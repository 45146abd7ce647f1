"""Recorded lines of a file with the calls through each, if the client shows the line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex_server.answers.session import Session

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import LineMark

LAST_LINE = 2**31 - 1


def shown_marks(session: Session, path: str, index: Index, first: int = 1, last: int = LAST_LINE) -> list[LineMark]:
    """Return the recorded lines between two 1-based lines of a file that are still in the document."""
    marks = [mark for mark in index.file(path).marks(first, last) if mark.calls]
    return [
        mark for mark in marks[: session.settings_at(path).limit] if session.documents.edits.is_shown(path, mark.line)
    ]
