"""What is said of a line that the picked capture never passed, but others did: `{"elsewhere": 12}`, their calls.

Only to clients that say that they take it (`experimental.framedex.elsewhere`): to others the answer stays empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex_server.answers.requests import Json
from framedex_server.answers.session import Place, Session

if TYPE_CHECKING:
    from framedex.index import Index


def elsewhere(session: Session, index: Index, place: Place) -> Json | None:
    """What to answer instead of nothing; None where no other capture passed the line either."""
    calls = calls_elsewhere(session, index, place) if session.elsewhere_supported else 0
    return {"elsewhere": calls} if calls else None


def calls_elsewhere(session: Session, index: Index, place: Place) -> int:
    """The calls through a line in captures that are not picked; 0 where the picked one passed it, or none is."""
    if session.chosen.capture_in(index) is None:
        return 0
    if session.chosen.stacks_through(index, place.path, place.line, limit=1):
        return 0
    summary = index.line(place.path, place.line).summary()
    return 0 if summary is None else summary.calls
