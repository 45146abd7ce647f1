"""Which recorded line a place in an FFI handler stands for.

Stacks end on the line that registers a handler, but its author asks about the function that it was made from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from framedex_server.answers.session import Place, Session

if TYPE_CHECKING:
    from framedex.index import Index


def recorded_place(session: Session, index: Index, place: Place) -> Place:
    """The place to look for on stacks: in a handler's function where it is registered, else the place itself."""
    if _is_passed(session, index, place):
        return place
    registered = list(_registered(index, place))
    return next((each for each in registered if _is_passed(session, index, each)), next(iter(registered), place))


def _is_passed(session: Session, index: Index, place: Place) -> bool:
    return bool(session.chosen.stacks_through(index, place.path, place.line, limit=1))


def _registered(index: Index, place: Place) -> Iterator[Place]:
    here = {function.id for function in index.line(place.path, place.line).functions()}
    for use in index.line(place.path, place.line).ffi_uses():
        for handler in use.handlers:
            made_from, registered = handler.implementation, handler.location
            if made_from is not None and made_from.id in here and registered is not None:
                yield replace(place, path=registered.path, line=registered.line)
