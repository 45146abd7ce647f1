"""Of which captures the totals are that a question reads: of all, or of the latest run that passed what it is about.

Every table of totals has both (see `schema.sql`). What passes a line, a frame or a function passes no later run than
that itself, so a question about it reads the rows of its very run, in place of the table.
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
    """What counts: with `is_latest` the latest run that a question finds, which is `run` once it is found, else all.

    `is_within` is of an index that has only the captures that were chosen (`within.py`).
    """

    is_latest: bool = False
    run: int = ALL
    is_within: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether some captures are left out."""
        return self.run != ALL or self.is_within

    def counted(self, table: str, capture: int | None = None) -> str:
        """A condition, after others, for the rows of a table with captures: of this one, else of those that count."""
        if capture is not None:
            return f" AND {table}.capture = {capture}"
        return f" AND {table}.capture IN (SELECT id FROM captures WHERE run = {self.run})" if self.run else ""

    def totals(self, table: str) -> str:
        """What to ask in place of a table of totals: its rows and columns of the run, under the same names."""
        if self.run == ALL:
            return table
        return f"(SELECT {_COLUMNS[table]} FROM {table} WHERE run = {self.run})"
