"""The answers of the index for the captures of one cell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.errors import FramedexError
from framedex.index import Index
from framedex.index.answered import Answered

if TYPE_CHECKING:
    from framedex.index import Store
    from framedex.index.ask.call.calls import Calls


class Recorded(Answered):
    """The recording of a cell, with the queries of `framedex.open_index()`. Durations are in ns, sizes in bytes.

    In a notebook it displays itself.
    """

    def __init__(self, index_path: Path, captures: Sequence[Path]) -> None:
        self.index_path = index_path
        self._captures = tuple(captures)

    @cached_property
    def index(self) -> Index:
        """The index of these captures alone. Raises FramedexError if they were removed from it."""
        wanted = {str(path.resolve()) for path in self._captures}
        with Index.open(self.index_path) as index:
            found = [row.id for row in index.captures() if row.path in wanted]
            if not found:
                raise FramedexError("The capture of this cell was removed.", "Run the cell again.")
            return index.within(found)

    @cached_property
    def calls(self) -> Calls:
        """The recorded calls and their stacks. The sources are indexed at the first access."""
        from framedex.ingest import Silence, find_needed_sources

        with _opened(self.index_path) as store:
            find_needed_sources(store, Silence())
            store.seal()
        return self.index.calls


def indexed(captures: Sequence[Path]) -> Recorded:
    """Index captures in the project's index, which is created if it is missing, and return their answers.

    Raises FramedexError if a capture cannot be read.
    """
    from framedex.commands.inputs.known import index_path_here, settings_here
    from framedex.commands.inputs.renewal import with_current_index
    from framedex.ingest import Silence, ingest_captures, no_sources

    settings, _ = settings_here()
    path = index_path_here(None, settings)
    with with_current_index(path, None, settings, lambda: _opened(path)) as store:
        report = ingest_captures(store, captures, settings.sources, Silence(), no_sources, settings.path_map)
        store.seal()
    for capture, error in report.refused:
        raise FramedexError(f"{capture} cannot be read: {error.message}", error.remedy)
    return Recorded(path, captures)


def _opened(path: Path) -> Store:
    from framedex.commands.inputs.indexing import patience
    from framedex.index import Store

    return Store(path, patience())
