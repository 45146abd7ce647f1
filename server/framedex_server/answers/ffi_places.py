"""Mapping between FFI handlers, their registrations, and lines that call or name FFI targets.

Stacks end on the line that registers a handler, but its author asks about its implementation. Stacks name the line
that calls the result of `ffi_call`, but the reader also asks about the `ffi_call` itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from framedex_server.answers.ffi_text import is_called_at
from framedex_server.answers.session import Place, Session

if TYPE_CHECKING:
    from framedex.ffi.model import FfiUse
    from framedex.index import Index

_NAMED = re.compile(r"""\bffi_call\(\s*(["'])(?P<target>[^"'\\\n]+)\1""")
_MOST_LINES = 3
"""Lines of source searched for a target's name: a formatter may put it below `ffi_call(`."""


def uses_called_at(session: Session, index: Index, place: Place, uses: Sequence[FfiUse]) -> list[FfiUse]:
    """Return those of the FFI uses of a line that it calls, else the recorded targets named by an `ffi_call` on it."""
    called = [use for use in uses if is_called_at(use, place)]
    return called or [use for name in _targets_named(session, place) if (use := index.ffi.use(name)) is not None]


def _targets_named(session: Session, place: Place) -> list[str]:
    first = session.documents.line(place.path, place.line)
    if "ffi_call(" not in first:
        return []
    text = "\n".join(
        [first, *(session.documents.line(place.path, place.line + each) for each in range(1, _MOST_LINES))]
    )
    return [found["target"] for found in _NAMED.finditer(text) if found.start() <= len(first)]


def recorded_place(session: Session, index: Index, place: Place) -> Place:
    """Return the registration of the handler implemented at a place, else the place itself."""
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
