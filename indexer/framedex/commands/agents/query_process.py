"""Run one SQL query for an agent, as a separate process: some SQLite functions cannot be interrupted.

stdin is the request as JSON: {"index": FILE, "query": SQL or null for the views, "seconds": NUMBER}. stdout is JSON,
one value per line: each line of the answer as a string, then an object with the other fields of `ToolAnswer`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_visible
from framedex.commands.agents.tools import ToolAnswer
from framedex.index.ask.sql import MAX_MEMORY_BYTES, QueryRows, Value, read_views, run_query
from framedex.index.file.soundness import report_damage

TIMEOUT_STATUS = 3
"""The exit status after a timeout."""

FEWER_ROWS = "Select fewer rows or columns."
"""The remedy for a query that needs too much memory."""

_MAX_PROCESS_BYTES = 2 * MAX_MEMORY_BYTES  # SQLite's limit, and the same amount for the rows in Python


def main() -> None:
    """Answer the request on stdin."""
    _limit_memory()
    request = json.loads(sys.stdin.buffer.read())
    answer = _run_request(request)
    for line in answer.lines:
        print(json.dumps(line))
    print(json.dumps({"notes": answer.notes, "is_failure": answer.is_failure, "is_cut": answer.is_cut}))


def _run_request(request: dict[str, Any]) -> ToolAnswer:
    path = Path(request["index"])
    try:
        with report_damage(path):
            return format_query_rows(path, request["query"], partial(_exit_after, request["seconds"]))
    except FramedexError as error:
        return ToolAnswer(notes=(str(error),), is_failure=True)
    except MemoryError:
        return ToolAnswer(notes=(f"The query needed too much memory. {FEWER_ROWS}",), is_failure=True)


def _exit_after(seconds: float) -> None:
    """Exit this process after `seconds`, also while SQLite computes: it releases the GIL."""
    timer = Timer(seconds, os._exit, [TIMEOUT_STATUS])
    timer.daemon = True
    timer.start()


def _limit_memory() -> None:
    with suppress(ImportError, OSError, ValueError):  # Windows has no resource limits
        import resource

        current, most = resource.getrlimit(resource.RLIMIT_DATA)
        lower = _MAX_PROCESS_BYTES if current == resource.RLIM_INFINITY else min(current, _MAX_PROCESS_BYTES)
        resource.setrlimit(resource.RLIMIT_DATA, (lower, most))


_MAX_ROWS = 10_000


def format_query_rows(index: Path, text: str | None, when_begun: Callable[[], None]) -> ToolAnswer:
    """Return the rows of a query on an index, or its views with their columns if `text` is None.

    `when_begun` is passed to `query`. Raises FramedexError as `query` does.
    """
    found = read_views(index) if text is None else run_query(index, text, _MAX_ROWS, when_begun)
    return ToolAnswer(
        tuple(_format_rows(found)),
        notes=("The query returned no rows.",) if not found.rows else (),
        is_cut=found.has_more,
    )


def _format_rows(found: QueryRows) -> list[str]:
    if not found.columns:
        return []
    return [" | ".join(map(_format_value, row)) for row in (found.columns, *found.rows)]


def _format_value(value: Value) -> str:
    if value is None:
        return "NULL"
    return f"x'{value.hex()}'" if isinstance(value, bytes) else make_visible(str(value))


if __name__ == "__main__":
    main()
