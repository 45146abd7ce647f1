"""The change of a line since its file was recorded."""

from __future__ import annotations

from framedex.index.read.asked import AskedLine
from framedex.model import How, Location, Stale


def since_recorded(line: AskedLine) -> Location:
    """Return the location of the line; `stale` and `moved_from` report its change since the latest recording.

    A line that did not exist then has neither.
    """
    change = line.change()
    if change is None:
        return Location(line.path, line.line, How.EXACT)
    if change.lines is None:
        return Location(line.path, line.line, How.EXACT, stale=Stale.UNKNOWN)
    then = next(filter(None, (state.then(line.line) for state in line.states())), None)
    if then is None or then == line.line:
        return Location(line.path, line.line, How.EXACT)
    return Location(line.path, line.line, How.EXACT, stale=Stale.MOVED, moved_from=then)
