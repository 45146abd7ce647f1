"""Shared code of verbs that write an index: the wait for other writers, and debuginfod servers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from framedex.commands.output.console import note

if TYPE_CHECKING:
    from framedex.binaries.debuginfod import Debuginfod
    from framedex.index.file.database import Patience
    from framedex.progress import Progress

_PATIENCE = 3600.0  # seconds: a rebuild of a large project may take many minutes, and Ctrl-C always works


def patience() -> Patience:
    """The time that a writing verb waits for another writer, and the note that it prints."""
    from framedex.index.file.database import Patience

    return Patience(_PATIENCE, lambda: note("Another process writes this index; waiting for it to finish."))


@contextmanager
def debuginfod_here(progress: Progress) -> Iterator[Debuginfod | None]:
    """The debuginfod client for the servers in DEBUGINFOD_URLS; None without servers.

    At the end it notes the debug files that were received, and problems.
    """
    if not os.environ.get("DEBUGINFOD_URLS"):
        yield None
        return
    from framedex.binaries.debuginfod import debuginfod_of

    debuginfod = debuginfod_of(os.environ, progress)
    yield debuginfod
    if debuginfod is not None:
        for server, names in debuginfod.given.items():
            note(f"{server} provided debug information for {', '.join(names)}.")
        for problem in debuginfod.problems:
            note(problem)
