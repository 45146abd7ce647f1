"""What verbs that write an index have in common: how long they wait for others, and whom they ask for debug files."""

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

_PATIENCE = 3600.0  # seconds: a rebuild of a large project may take many minutes, and Ctrl-C is always there


def patience() -> Patience:
    """How long a verb that writes waits for another one, of which it tells."""
    from framedex.index.file.database import Patience

    return Patience(_PATIENCE, lambda: note("Another process writes this index; waiting for it to finish."))


@contextmanager
def debuginfod_here(progress: Progress) -> Iterator[Debuginfod | None]:
    """The servers that the environment names for debug files, None for none. What they gave is told at the end."""
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
