"""Query results as lines of text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from framedex.commands.agents.model import Answer
from framedex.index.ask.sql import QueryRows, Value, query, readable_views
from framedex.plaintext import visible

_MOST_ROWS = 10_000


def rows_of_query(index: Path, text: str | None, when_begun: Callable[[], None]) -> Answer:
    """Return the rows of a query on an index, or its views with their columns if `text` is None.

    `when_begun` is passed to `query`. Raises FramedexError as `query` does.
    """
    found = readable_views(index) if text is None else query(index, text, _MOST_ROWS, when_begun)
    return Answer(
        tuple(_lines(found)),
        notes=("The query gives no rows.",) if not found.rows else (),
        is_cut=found.has_more,
    )


def _lines(found: QueryRows) -> list[str]:
    if not found.columns:
        return []
    return [" | ".join(map(_cell, row)) for row in (found.columns, *found.rows)]


def _cell(value: Value) -> str:
    if value is None:
        return "NULL"
    return f"x'{value.hex()}'" if isinstance(value, bytes) else visible(str(value))
