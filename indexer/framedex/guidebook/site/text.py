"""Texts of captures for display: truncated, with invisible characters escaped, and linked if they have an address."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from framedex.model import How
from framedex.model.guidebook.observed import Place
from framedex.plaintext import truncate, visible

LONGEST = 240
_NEAREST = " (nearest release)"  # marks a location in the sources of another commit than the recorded one
_WEB = re.compile(r"https?://[^\s\"<>]+")


def brief(text: str, most: int = LONGEST) -> str:
    """Return a text of bounded length on one line, with invisible characters escaped."""
    return truncate(visible(text), most)


def times(count: int) -> str:
    """Return a count with a multiplication sign, for display after a name."""
    return f"{count:,}\N{MULTIPLICATION SIGN}"


def lines_of(text: str, most: int = 4000) -> Markup:
    """Return a text of several lines, truncated at `most` characters, with its line breaks."""
    return Markup("\n").join(escape(visible(line.expandtabs(4))) for line in truncate(text, most).splitlines())


def public(place: Place) -> str | None:
    """Return the web address of a location; None if it has none, or one that is not http(s)."""
    return place.url if place.url and _WEB.fullmatch(place.url) else None


def linked(place: Place | None) -> Markup:
    """Return a location as a link to its public page, if it has one."""
    if place is None or not place.text:
        return Markup("")
    text, nearest = place.text.removesuffix(_NEAREST), place.text.endswith(_NEAREST)
    known = [brief(place.how, 40)] if place.how not in ("", How.EXACT) else []
    said = [*known, "nearest release"] if nearest else known
    how = Markup(' <span class="how">{}</span>').format(", ".join(said)) if said else Markup("")
    if address := public(place):
        return Markup('<a class="place" href="{}">{}</a>{}').format(address, brief(text), how)
    return Markup('<span class="place">{}</span>{}').format(brief(text), how)
