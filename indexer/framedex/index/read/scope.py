"""The captures whose totals a query reads: all, or the latest run that passed its subject.

Every table of totals has both (see `schema.sql`). Rows below a line, frame or function never have a later run than
their subject. A query thus reads the rows of exactly that run in place of the table.
"""

from __future__ import annotations

from dataclasses import dataclass

ALL = 0

_OF_LINE = "file, line, version, boundary, run_calls AS calls, run_duration AS duration, latest_call"
_STEP = "origin, target, run_calls AS calls"
_EDGE = "caller, callee, run_calls AS calls"
_COLUMNS = {
    "nodes": "id, parent, frame, depth, run_calls AS calls, run_longest AS longest, makes_client",
    "stack_calls": "stack, boundary, run_calls AS calls, run_duration AS duration, latest_call",
    "line_calls": _OF_LINE,
    "line_links": f"{_OF_LINE}, how",
    "steps": _STEP,
    "code_steps": _STEP,
    "readable_steps": _STEP,
    "edges": _EDGE,
    "code_edges": _EDGE,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """The counted captures: with `is_latest` the latest run of a query's subject, otherwise all.

    `run` is that run once it is known. `is_within` marks an index restricted to chosen captures (`within.py`).
    """

    is_latest: bool = False
    run: int = ALL
    is_within: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether some captures are excluded."""
        return self.run != ALL or self.is_within

    def counted(self, table: str, capture: int | None = None) -> str:
        """Return a condition (" AND ...") for rows with captures: of this capture, otherwise of the counted ones."""
        if capture is not None:
            return f" AND {table}.capture = {capture}"
        return f" AND {table}.capture IN (SELECT id FROM captures WHERE run = {self.run})" if self.run else ""

    def totals(self, table: str) -> str:
        """Return the table of totals, or a subquery with the run's rows under the same column names."""
        if self.run == ALL:
            return table
        return f"(SELECT {_COLUMNS[table]} FROM {table} WHERE run = {self.run})"
