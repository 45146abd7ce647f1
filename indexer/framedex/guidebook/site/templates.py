"""The page templates: their filters and globals, and the headings of their output."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from framedex import words
from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import Book, setup_of
from framedex.guidebook.site.text import brief, lines_of, linked, public, times
from framedex.plaintext import visible

_HEADING = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)


class Templates:
    """The templates of a site. Texts of recordings are always escaped."""

    def __init__(self, book: Book) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(Path(__file__).with_name("templates")),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_shown,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(
            duration=words.duration,
            count=words.count,
            public=public,
            times=times,
            brief=brief,
            lines_of=lines_of,
            linked=linked,
            setup=setup_of,
            anchor=addresses.anchor,
        )
        self._environment.filters["calls_of"] = book.calls
        self._environment.globals.update(book=book, at=addresses)

    def fill(self, template: str, path: str, **contents: Any) -> str:
        """Return a template as HTML, for the page at a path of the site."""

        def to(target: str) -> str:
            return addresses.between(path, target)

        return self._environment.get_template(template).render(path=path, to=to, **contents)

    def page(self, template: str, path: str, **contents: Any) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Return a template as HTML, and the page's headings, as anchors and texts."""
        html = self.fill(template, path, **contents)
        return html, tuple((anchor, Markup(text).striptags()) for anchor, text in _HEADING.findall(html))


def _shown(value: Any) -> Any:
    """Return a text with invisible characters escaped; escaping for HTML follows later."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
