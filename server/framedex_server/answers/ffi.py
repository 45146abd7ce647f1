"""FFI handlers, their registrations, and the lines that call or name FFI targets: lookups, and hover texts.

Stacks end on the line that registers a handler, but its author asks about the implementation. Stacks contain the line
that calls the result of `ffi_call`, but readers also query the line of the `ffi_call` itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from framedex.base.words import count, format_duration
from framedex.texts.errors import split_headline
from framedex.texts.places import format_location
from framedex_server.answers.session import RequestPosition, Session

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.programs.ffi.model import FfiHandler, FfiUse
    from framedex_server.markup import Markup

_FFI_CALL = re.compile(r"""\bffi_call\(\s*(["'])(?P<target>[^"'\\\n]+)\1""")
_MAX_TARGET_LINES = 3
"""Number of source lines searched for a target's name: a formatter may put the name below `ffi_call(`."""


def find_called_uses(session: Session, index: Index, position: RequestPosition, uses: Sequence[FfiUse]) -> list[FfiUse]:
    """Return the FFI uses that a line calls, else the recorded targets named by an `ffi_call` on the line."""
    called = [use for use in uses if is_called_at(use, position)]
    return called or [
        use for name in _find_named_targets(session, position) if (use := index.ffi.find_use(name)) is not None
    ]


def _find_named_targets(session: Session, position: RequestPosition) -> list[str]:
    first = session.documents.line(position.path, position.line)
    if "ffi_call(" not in first:
        return []
    text = "\n".join(
        [first, *(session.documents.line(position.path, position.line + each) for each in range(1, _MAX_TARGET_LINES))]
    )
    return [found["target"] for found in _FFI_CALL.finditer(text) if found.start() <= len(first)]


def resolve_registration(session: Session, index: Index, position: RequestPosition) -> RequestPosition:
    """Return the registration of the handler implemented at a place, else the place itself."""
    if _is_on_stacks(session, index, position):
        return position
    registered = list(_find_registrations(index, position))
    return next((each for each in registered if _is_on_stacks(session, index, each)), next(iter(registered), position))


def _is_on_stacks(session: Session, index: Index, position: RequestPosition) -> bool:
    return bool(session.selection.stacks_through(index, position.path, position.line, limit=1))


def _find_registrations(index: Index, position: RequestPosition) -> Iterator[RequestPosition]:
    here = {function.id for function in index.line(position.path, position.line).functions()}
    for use in index.line(position.path, position.line).ffi_uses():
        for handler in use.handlers:
            made_from, registered = handler.implementation, handler.location
            if made_from is not None and made_from.id in here and registered is not None:
                yield replace(position, path=registered.path, line=registered.line)


MAX_LISTED_SITES = 4
"""Maximum number of Python lines listed; the rest is counted."""


def format_ffi_use(markup: Markup, use: FfiUse, *, is_called: bool) -> Iterator[str]:
    """Yield the hover's lines about an FFI target: handlers if the place calls it, else the callers."""
    recent = use.recent
    times = f", median {format_duration(recent.median)}, p99 {format_duration(recent.p99)}" if recent.runs else ""
    errors = f", {count(recent.errors, 'error')}" if recent.errors else ""
    sample = f" (the latest {recent.runs:,})" if recent.runs < use.runs else ""
    runs = f"{count(use.runs, 'run')}{times}{errors}{sample}"
    yield f"{markup.strong('FFI target')} {markup.code(use.target)}: {runs}"
    if use.error:
        error, raised = split_headline(use.error)
        yield f"latest error: {markup.code(error)}" + (f", raised at {markup.code(raised)}" if raised else "")
    lines = list(dict.fromkeys(site.lines[0] for site in use.sites if site.lines))
    if is_called:
        for handler in use.handlers:
            yield _format_handler(markup, handler)
    else:
        for line in lines[:MAX_LISTED_SITES]:
            where = format_location(line.location.path, line.location.line)
            yield f"called from {markup.code(where)} in {markup.code(line.function)}"
        if len(lines) > MAX_LISTED_SITES:
            yield f"and from {count(len(lines) - MAX_LISTED_SITES, 'more line')}"
    if use.shapes:
        yield f"with {', '.join(map(markup.code, use.shapes))}"


def is_called_at(use: FfiUse, position: RequestPosition) -> bool:
    """Return whether the line has an `ffi_call` of the target."""
    locations = (site.lines[0].location for site in use.sites if site.lines)
    return any((location.path, location.line) == (position.path, position.line) for location in locations)


def _format_handler(markup: Markup, handler: FfiHandler) -> str:
    stage = "handler" if handler.stage == "execute" else handler.stage
    made_from = handler.implementation
    place = made_from.location if made_from is not None and made_from.location is not None else handler.location
    where = f" at {markup.code(format_location(place.path, place.line))}" if place is not None else ""
    return f"{stage} {markup.code((made_from or handler.function).name)}{where}"
