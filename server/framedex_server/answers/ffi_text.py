"""Hover texts about FFI: the handler for an `ffi_call`, and the callers for a handler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from framedex.errortext import split_headline
from framedex.placetext import place_text
from framedex.words import count, duration

if TYPE_CHECKING:
    from framedex.ffi.model import FfiHandler, FfiUse
    from framedex_server.answers.session import Place
    from framedex_server.markup import Markup

MOST_SITES = 4
"""Maximum number of Python lines listed; the rest is counted."""


def ffi_lines(markup: Markup, use: FfiUse, *, is_called: bool) -> Iterator[str]:
    """Yield the hover's lines about an FFI target: handlers if the place calls it, else the callers."""
    recent = use.recent
    times = f", median {duration(recent.median)}, p99 {duration(recent.p99)}" if recent.runs else ""
    errors = f", {count(recent.errors, 'error')}" if recent.errors else ""
    of_which = f" (the latest {recent.runs:,})" if recent.runs < use.runs else ""
    runs = f"{count(use.runs, 'run')}{times}{errors}{of_which}"
    yield f"{markup.strong('FFI target')} {markup.code(use.target)}: {runs}"
    if use.error:
        error, raised = split_headline(use.error)
        yield f"latest error: {markup.code(error)}" + (f", raised at {markup.code(raised)}" if raised else "")
    lines = list(dict.fromkeys(site.lines[0] for site in use.sites if site.lines))
    if is_called:
        for handler in use.handlers:
            yield _handler(markup, handler)
    else:
        for line in lines[:MOST_SITES]:
            where = place_text(line.location.path, line.location.line)
            yield f"called from {markup.code(where)} in {markup.code(line.function)}"
        if len(lines) > MOST_SITES:
            yield f"and from {count(len(lines) - MOST_SITES, 'more line')}"
    if use.shapes:
        yield f"with {', '.join(map(markup.code, use.shapes))}"


def is_called_at(use: FfiUse, place: Place) -> bool:
    """Return whether the line has an `ffi_call` of the target."""
    locations = (site.lines[0].location for site in use.sites if site.lines)
    return any((location.path, location.line) == (place.path, place.line) for location in locations)


def _handler(markup: Markup, handler: FfiHandler) -> str:
    stage = "handler" if handler.stage == "execute" else handler.stage
    made_from = handler.implementation
    place = made_from.location if made_from is not None and made_from.location is not None else handler.location
    where = f" at {markup.code(place_text(place.path, place.line))}" if place is not None else ""
    return f"{stage} {markup.code((made_from or handler.function).name)}{where}"
