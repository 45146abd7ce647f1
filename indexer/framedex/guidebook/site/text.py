"""Texts of captures as they stand on pages: cut, visible and, where they have an address, linked."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from framedex.model import How
from framedex.model.guidebook.observed import Place
from framedex.plaintext import visible

LONGEST = 240
_NEAREST = " (nearest release)"  # what follows a place in the sources of a commit that is not the recorded one
_WEB = re.compile(r"https?://[^\s\"<>]+")


def brief(text: str, most: int = LONGEST) -> str:
    """A text of bounded length on one line, with everything that is no visible character escaped."""
    shown = visible(text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def times(count: int) -> str:
    """How often something was, as it stands behind its name."""
    return f"{count:,}\N{MULTIPLICATION SIGN}"


def lines_of(text: str, most: int = 4000) -> Markup:
    """A text of several lines, cut at as many characters, its line breaks kept."""
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return Markup("\n").join(escape(visible(line.expandtabs(4))) for line in cut.splitlines())


def public(place: Place) -> str | None:
    """The address of a place's page on the web; None where it has none, or one of another kind."""
    return place.url if place.url and _WEB.fullmatch(place.url) else None


def linked(place: Place | None) -> Markup:
    """A place as a link to its public page, where it has one."""
    if place is None or not place.text:
        return Markup("")
    text, nearest = place.text.removesuffix(_NEAREST), place.text.endswith(_NEAREST)
    known = [brief(place.how, 40)] if place.how not in ("", How.EXACT) else []
    said = [*known, "nearest release"] if nearest else known
    how = Markup(' <span class="how">{}</span>').format(", ".join(said)) if said else Markup("")
    if address := public(place):
        return Markup('<a class="place" href="{}">{}</a>{}').format(address, brief(text), how)
    return Markup('<span class="place">{}</span>{}').format(brief(text), how)
