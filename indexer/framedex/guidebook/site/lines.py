"""The page of all program lines that led to calls."""

from __future__ import annotations

from collections import defaultdict

from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import Book
from framedex.guidebook.site.page import Page
from framedex.guidebook.site.templates import Templates
from framedex.model.guidebook.observed import Place

_MOST_FILES = 60
_MOST_LINES = 60  # per file
_MOST_FUNCTIONS = 12  # per line


def lines_page(book: Book, templates: Templates) -> Page:
    """Return the page: files by name, with their lines in order, and the functions called from each."""
    files: dict[str, dict[Place, dict[str, int]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    for observed in book.observations.functions:
        for place, calls in observed.lines:
            files[place.text.rpartition(":")[0] or place.text][place][observed.function] += calls
    shown = [
        (file, _rows(files[file])[:_MOST_LINES], len(files[file]) - _MOST_LINES) for file in sorted(files)[:_MOST_FILES]
    ]
    html, headings = templates.page(
        *("lines.html", addresses.LINES), files=shown, left_out=len(files) - len(shown), most=_MOST_FUNCTIONS
    )
    searched = templates.fill("lines_searched.html", addresses.LINES, files=shown)
    return Page(addresses.LINES, "Lines", html, headings, searched)


def _rows(places: dict[Place, dict[str, int]]) -> list[tuple[Place, str, int, list[str]]]:
    rows = []
    for place, functions in places.items():
        line = place.text.rpartition(":")[2]
        rows.append(
            (place, line, sum(functions.values()), sorted(functions, key=lambda name: (-functions[name], name)))
        )
    rows.sort(key=lambda row: (int(row[1]) if row[1].isdecimal() else 0, row[1]))
    return rows
