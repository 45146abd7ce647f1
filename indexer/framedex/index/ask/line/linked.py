"""Calls on threads without Python that were dispatched from a line."""

from __future__ import annotations

from framedex.index.read.asked import AskedLine
from framedex.model import LinkedCalls, LinkHow


def linked_calls(line: AskedLine) -> list[LinkedCalls]:
    """Return the calls on threads without Python that were dispatched from the line, most calls first.

    Calls with several candidate dispatch sites are left out.
    """
    rows = line.reader.rows(
        "SELECT b.name, b.boundary, l.how, sum(l.calls) AS calls, sum(l.duration), max(l.latest_call)"
        f" FROM {line.reader.totals('line_links')} l"
        f" JOIN boundaries b ON b.id = l.boundary WHERE {line.on('l')}"
        " GROUP BY b.id, l.how ORDER BY calls DESC, b.name"
    )
    return [LinkedCalls(function, boundary, LinkHow(how), *totals) for function, boundary, how, *totals in rows]
