"""The pages of object types."""

from __future__ import annotations

from collections.abc import Callable

from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import Book, total
from framedex.guidebook.site.lifecycles import life_cycle_svg
from framedex.guidebook.site.page import Page
from framedex.guidebook.site.prose import prose
from framedex.guidebook.site.templates import Templates


def object_page(name: str, book: Book, templates: Templates, note: Callable[[str], str | None]) -> Page:
    """Return the page of an object type: its life cycle in all runs, and in each."""
    path = book.object_pages[name]
    cycles = book.cycles(name)
    links = {each: addresses.between(path, page) for each, page in book.function_pages.items()}
    words = note(name)
    html, headings = templates.page(
        "object.html",
        path,
        name=name,
        cycles=cycles,
        words=prose(words, links) if words else None,
        picture=life_cycle_svg(name, cycles, links),
        stages=[
            ("Made by", total(cycle.made for cycle in cycles)),
            ("Used by", total(cycle.used for cycle in cycles)),
            ("Deleted by", total(cycle.deleted for cycle in cycles)),
            ("Destroyed by", total(cycle.destroyed for cycle in cycles)),
        ],
    )
    searched = templates.fill("object_searched.html", path, name=name, words=prose(words, links) if words else "")
    return Page(path, name, html, headings, searched)


def overview_page(book: Book, templates: Templates) -> Page:
    """Return the page that lists all types."""
    rows = [(name, book.cycles(name), total(cycle.made for cycle in book.cycles(name))) for name in book.types()]
    html, headings = templates.page("objects.html", addresses.OBJECTS, rows=rows)
    return Page(addresses.OBJECTS, "Objects", html, headings, '<h1 id="top">Objects</h1>')
