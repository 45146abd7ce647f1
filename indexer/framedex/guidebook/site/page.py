"""The generator's input: pages, in listed order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


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
