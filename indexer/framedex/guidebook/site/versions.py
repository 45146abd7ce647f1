"""The page of API versions, with the additions in each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import Book
from framedex.guidebook.site.page import Page
from framedex.guidebook.site.templates import Templates
from framedex.model.guidebook.described import ApiRelease


def versions_page(book: Book, releases: Sequence[ApiRelease], templates: Templates) -> Page:
    """Return the page: minor versions, newest first, with the functions and fields added in each."""
    functions: dict[int, list[str]] = defaultdict(list)
    shipped: dict[int, list[ApiRelease]] = defaultdict(list)
    for release in releases:
        shipped[release.minor].append(release)
    fields: dict[int, list[tuple[str, list[str]]]] = defaultdict(list)
    for each in book.described:
        if each.since is not None:
            functions[each.since].append(each.name)
        added: dict[int, list[str]] = defaultdict(list)
        for parameter in each.parameters:
            if parameter.since is not None and parameter.since != each.since:
                added[parameter.since].append(parameter.name)
        for version, names in added.items():
            fields[version].append((each.name, names))
    minors = sorted({*functions, *fields, *shipped}, reverse=True)
    html, headings = templates.page(
        *("versions.html", addresses.VERSIONS),
        versions=[(minor, shipped[minor], functions[minor], fields[minor]) for minor in minors],
    )
    return Page(addresses.VERSIONS, "Versions", html, headings, '<h1 id="top">Versions of the API</h1>')
