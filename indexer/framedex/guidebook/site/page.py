"""What the generator is given: pages, and the order in which they are listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its path in the site, its title as text, the HTML of its content, and its headings as anchor and text.

    `searched` is HTML of what search finds the page by; the rest of the content is not searched. `listed` is a shorter
    title, for lists in which the rest of it is plain; empty where there is none.
    """

    path: str
    title: str
    html: str
    headings: tuple[tuple[str, str], ...]
    searched: str
    listed: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Pages and sections below a title, as they are listed."""

    title: str
    entries: tuple[Page | Section, ...]

    def pages(self) -> Iterator[Page]:
        """All pages of the section and of those in it."""
        for entry in self.entries:
            if isinstance(entry, Page):
                yield entry
            else:
                yield from entry.pages()
