"""Static calls for the call hierarchy: calls that are in the source but were never recorded.

The setting `static-calls` selects the directions. Static calls are marked. Types are unknown, so several functions may
match a name. A qualifier before the name excludes some of them; the remaining calls are marked as uncertain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from framedex.base.plaintext import make_printable
from framedex.path_resolution.files import file_exists
from framedex.texts.places import format_caller_uncertainty
from framedex_server.answers.session import Session
from framedex_server.markup import shorten

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FunctionRow, Location

MARK = "static, never recorded"

MAX_CALLS = 200
"""Maximum number of calls listed for one definition, in text order."""


@dataclass(frozen=True, slots=True)
class SourceDefinition:
    """A definition in the source, stored in an item's `data`; `origin` is a document that selects the index."""

    path: str
    line: int
    origin: str

    def to_data(self) -> dict[str, Any]:
        """Return the item's `data` as JSON."""
        return {"static": {"path": self.path, "line": self.line}, "origin": self.origin}

    @staticmethod
    def from_data(data: Any) -> SourceDefinition | None:
        """Parse an item's `data` from the client; None if it is not ours."""
        match data:
            case {"static": {"path": str(path), "line": int(line)}, "origin": str(origin)}:
                return SourceDefinition(path, line, origin)
        return None


def static_callees(
    session: Session, definition: SourceDefinition, index: Index, recorded: Collection[tuple[str, int]] = ()
) -> list[types.CallHierarchyOutgoingCall]:
    """Return the calls in a definition's text, except calls to the `recorded` definitions (path, first line)."""
    most = min(MAX_CALLS, session.settings_for(definition.origin).limit)
    return list(islice(_find_unrecorded_callees(session, definition, index, recorded), most))


def static_callers(
    session: Session, definition: SourceDefinition, index: Index, recorded: Sequence[FunctionRow], shown: int
) -> tuple[list[types.CallHierarchyIncomingCall], int]:
    """Return the definitions whose text calls the definition at a place, and the number of further possible callers.

    Callers in `recorded` are left out; `shown` is the number of items already listed.
    """
    most = max(min(MAX_CALLS, session.settings_for(definition.origin).limit) - shown, 0)
    found = index.line(definition.path, definition.line).static_callers(recorded)
    callers = [each for each in found.callers if file_exists(each.location.path)]
    calls = []
    for each in callers[:most]:
        path, line = each.location.path, each.location.line
        item = _make_item(
            session, each.name, each.location, each.end_line, MARK + format_caller_uncertainty(each), definition.origin
        )
        ranges = [session.line_range(path, site) for site in each.lines]
        calls.append(types.CallHierarchyIncomingCall(item, ranges or [session.line_range(path, line)]))
    return calls, found.doubtful + len(callers) - len(calls)


def _find_unrecorded_callees(
    session: Session, definition: SourceDefinition, index: Index, recorded: Collection[tuple[str, int]]
) -> Iterator[types.CallHierarchyOutgoingCall]:
    for call in index.line(definition.path, definition.line).static_callees():
        if any((location.path, location.line) in recorded for _, location, _ in call.targets):
            continue
        several = f", one of {len(call.targets)} of this name" if len(call.targets) > 1 else ""
        for name, location, last in call.targets:
            if file_exists(location.path):
                item = _make_item(session, name, location, last, MARK + several, definition.origin)
                yield types.CallHierarchyOutgoingCall(item, [session.line_range(definition.path, call.line)])


def _make_item(
    session: Session, name: str, location: Location, last: int, detail: str, origin: str
) -> types.CallHierarchyItem:
    return types.CallHierarchyItem(
        name=shorten(make_printable(name)),
        kind=types.SymbolKind.Function,
        uri=session.documents.uri_of(location.path),
        range=session.extent_range(location.path, location.line, last),
        selection_range=session.line_range(location.path, location.line),
        detail=detail,
        data=SourceDefinition(location.path, location.line, origin).to_data(),
    )
