"""Pages as the input of the generator, and their templates with filters, globals and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from framedex.base import words
from framedex.base.plaintext import make_visible
from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import GuidebookData, run_setup
from framedex.guidebook.site.html_text import format_lines, format_times, link_location, public_address, shorten


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its path in the site, its title as text, its content as HTML, and its headings as anchor and text.

    `searched` is HTML that search indexes instead of the content. `listed` is a shorter title for lists that make the
    rest obvious; empty if there is none.
    """

    path: str
    title: str
    html: str
    headings: tuple[tuple[str, str], ...]
    searched: str
    listed: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A titled group of pages and sections, in listed order."""

    title: str
    entries: tuple[Page | Section, ...]

    def pages(self) -> Iterator[Page]:
        """Yield all pages of the section and of nested sections."""
        for entry in self.entries:
            if isinstance(entry, Page):
                yield entry
            else:
                yield from entry.pages()


_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)


class Templates:
    """The templates of a site. Strings from recordings are always escaped."""

    def __init__(self, book: GuidebookData) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(Path(__file__).with_name("templates")),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_make_visible,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(
            duration=words.format_duration,
            count=words.count,
            public_address=public_address,
            format_times=format_times,
            shorten=shorten,
            format_lines=format_lines,
            link_location=link_location,
            setup=run_setup,
            anchor=addresses.anchor,
        )
        self._environment.filters["calls_of"] = book.calls
        self._environment.globals.update(book=book, at=addresses)

    def fill(self, template: str, path: str, **contents: Any) -> str:
        """Return a template as HTML, for the page at a path of the site."""

        def to(target: str) -> str:
            return addresses.relative_link(path, target)

        return self._environment.get_template(template).render(path=path, to=to, **contents)

    def page(self, template: str, path: str, **contents: Any) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Return a template as HTML, and the page's headings, as anchors and texts."""
        html = self.fill(template, path, **contents)
        return html, tuple((anchor, Markup(text).striptags()) for anchor, text in _HEADING.findall(html))


def _make_visible(value: Any) -> Any:
    """Return a string with invisible characters escaped; escaping for HTML follows later."""
    return make_visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
