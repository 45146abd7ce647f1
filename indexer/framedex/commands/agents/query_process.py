"""Run one SQL query for an agent in a process of its own, because some SQLite functions cannot be interrupted.

stdin is the request as JSON: {"index": FILE, "query": SQL or null for the views, "seconds": NUMBER}. stdout is JSON,
one value per line: each line of the answer as a string, then an object with the other fields of `Answer`.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

from framedex.commands.agents.model import Answer
from framedex.commands.agents.tables import rows_of_query
from framedex.errors import FramedexError
from framedex.index.ask.sql import MOST_MEMORY
from framedex.index.file.soundness import blaming_damage

TIMED_OUT = 3
"""The exit status after a timeout."""

FEWER = "Select fewer rows or columns."
"""The remedy for a query that needs too much memory."""

_MOST_OF_PROCESS = 2 * MOST_MEMORY  # bytes: the limit of SQLite, and the same for the rows in Python


def main() -> None:
    """Answer the request on stdin."""
    _limit_memory()
    request = json.loads(sys.stdin.buffer.read())
    answer = _answer(request)
    for line in answer.lines:
        print(json.dumps(line))
    print(json.dumps({"notes": answer.notes, "is_failure": answer.is_failure, "is_cut": answer.is_cut}))


def _answer(request: dict[str, Any]) -> Answer:
    path = Path(request["index"])
    try:
        with blaming_damage(path):
            return rows_of_query(path, request["query"], partial(_end_after, request["seconds"]))
    except FramedexError as error:
        return Answer(notes=(str(error),), is_failure=True)
    except MemoryError:
        return Answer(notes=(f"The query needed too much memory. {FEWER}",), is_failure=True)


def _end_after(seconds: float) -> None:
    """Exit this process after `seconds`. This works while SQLite computes, because SQLite releases the GIL."""
    timer = Timer(seconds, os._exit, [TIMED_OUT])
    timer.daemon = True
    timer.start()


def _limit_memory() -> None:
    with suppress(ImportError, OSError, ValueError):  # Windows has no resource limits
        import resource

        current, most = resource.getrlimit(resource.RLIMIT_DATA)
        lower = _MOST_OF_PROCESS if current == resource.RLIM_INFINITY else min(current, _MOST_OF_PROCESS)
        resource.setrlimit(resource.RLIMIT_DATA, (lower, most))


if __name__ == "__main__":
    main()
