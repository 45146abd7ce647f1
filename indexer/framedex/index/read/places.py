"""Locations mapped to the current state of their files; the index stores lines of recorded states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from framedex.model import FileState, Stale

if TYPE_CHECKING:  # imports the extractor, which most queries do not need
    from framedex.model import Location
    from framedex.sources.changes import Change, Changes


def state_of(modified: int | None, size: int | None, blob: str | None) -> FileState | None:
    """Return the state of a file from its columns, or None if they are NULL."""
    return None if modified is None or size is None or blob is None else FileState(modified, size, blob)


class Places:
    """Maps recorded locations to current ones."""

    def __init__(self, stored_text: Callable[[str], bytes | None]) -> None:
        """`stored_text` returns the content of a blob stored in the index, or None."""
        self._stored_text = stored_text
        self._changes: Changes | None = None

    def now(self, place: Location, then: FileState) -> Location:
        """Return the current location; `then` is the recorded state of its file."""
        change = self.change_since(place.path, then)
        if change is None:
            return place
        if change.lines is None:
            return replace(place, stale=Stale.UNKNOWN)
        moved = change.lines.forward(place.line)
        if not moved.is_gone and moved.line == place.line:
            return place
        if not moved.is_gone:
            return replace(place, line=moved.line, stale=Stale.MOVED, moved_from=place.line)
        text = change.line_then(place.line)
        return replace(place, line=moved.line, stale=Stale.GONE, moved_from=place.line, recorded_text=text)

    def change_since(self, path: str, then: FileState) -> Change | None:
        """Return the change of a file since a state, or None if unchanged."""
        if self._changes is None:
            from framedex.sources.changes import Changes

            self._changes = Changes(self._stored_text)
        return self._changes.since(path, then)
