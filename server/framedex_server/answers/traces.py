"""The command that opens a trace from a line, and the call that it opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex_server.answers.ffi_places import recorded_place
from framedex_server.answers.session import Place, Session

if TYPE_CHECKING:
    from framedex.index import Index

OPEN_TRACE = "framedex.openTrace"


def latest_call(session: Session, index: Index, place: Place) -> int | None:
    """Return the latest call of the longest stack through a line, else through the function around it.

    A line executed only by captures outside the selection has none: a neighbouring line's call would be misleading.
    """
    place = recorded_place(session, index, place)
    path, line = place.path, place.line
    hits = session.chosen.stacks_through(index, path, line)
    asked = index.line(path, line)
    if not hits and asked.summary() is None:
        functions = asked.functions()
        lines = [function.location.line for function in functions if function.location]
        extent = [function.end_line for function in functions]
        marks = index.file(path).marks(min(lines, default=line), max(extent, default=line))
        busiest = max(marks, key=lambda mark: mark.calls, default=None)
        hits = session.chosen.stacks_through(index, path, busiest.line) if busiest else []
    return hits[0].latest_call if hits else None
