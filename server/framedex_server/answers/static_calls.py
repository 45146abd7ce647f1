"""Static calls for the call hierarchy: those that stand in the source, but that no recording has seen.

Shown only if asked for, and marked. Only outgoing ones: the index keeps calls by the definition that makes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from framedex.plaintext import printable
from framedex.whereabouts.files import is_here
from framedex_server.answers.session import Session
from framedex_server.markup import shorten

if TYPE_CHECKING:
    from framedex.index import Index

MARK = "static, never recorded"

MOST_CALLS = 200
"""Calls of one definition that are listed, in the order of its text."""


@dataclass(frozen=True, slots=True)
class Written:
    """A definition in the source, as an item's `data` has it; `origin` is a document that its index answers for."""

    path: str
    line: int
    origin: str

    def to_data(self) -> dict[str, Any]:
        """As JSON."""
        return {"static": {"path": self.path, "line": self.line}, "origin": self.origin}

    @staticmethod
    def from_data(data: Any) -> Written | None:
        """From what a client sent back; None if it is not ours."""
        match data:
            case {"static": {"path": str(path), "line": int(line)}, "origin": str(origin)}:
                return Written(path, line, origin)
        return None


def static_callees(
    session: Session, written: Written, index: Index, recorded: Collection[tuple[str, int]] = ()
) -> list[types.CallHierarchyOutgoingCall]:
    """The calls that a definition's text makes, but for those to the `recorded` definitions (path, first line)."""
    most = min(MOST_CALLS, session.settings_at(written.origin).limit)
    return list(islice(_calls(session, written, index, recorded), most))


def _calls(
    session: Session, written: Written, index: Index, recorded: Collection[tuple[str, int]]
) -> Iterator[types.CallHierarchyOutgoingCall]:
    for call in index.line(written.path, written.line).static_callees():
        if any((location.path, location.line) in recorded for _, location, _ in call.targets):
            continue
        several = f", one of {len(call.targets)} of this name" if len(call.targets) > 1 else ""
        for name, location, last in call.targets:
            if is_here(location.path):
                item = types.CallHierarchyItem(
                    name=shorten(printable(name)),
                    kind=types.SymbolKind.Function,
                    uri=session.documents.uri_of(location.path),
                    range=session.extent_range(location.path, location.line, last),
                    selection_range=session.line_range(location.path, location.line),
                    detail=MARK + several,
                    data=Written(location.path, location.line, written.origin).to_data(),
                )
                yield types.CallHierarchyOutgoingCall(item, [session.line_range(written.path, call.line)])
