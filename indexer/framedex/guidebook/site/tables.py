"""Functions by API table: the frameworks that call them, and how they are listed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import Book
from framedex.guidebook.site.page import Page
from framedex.guidebook.site.templates import Templates
from framedex.model.guidebook.described import Kind

_FEWEST = 3  # minimum number of functions in a group


@dataclass(frozen=True, slots=True)
class Table:
    """A table of functions: the path of its page, its title and description, and its functions in titled groups."""

    path: str
    title: str
    about: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def functions(self) -> tuple[str, ...]:
        """All functions of the table."""
        return tuple(function for _, functions in self.groups for function in functions)


def tables_of(book: Book) -> list[Table]:
    """Return the tables of a book, without empty ones."""
    names: dict[Kind, dict[str, list[str]]] = {kind: {} for kind in Kind}
    for each in book.described:
        names[each.kind].setdefault(each.table, []).append(each.name)
    api, legacy = ([name for table in names[kind].values() for name in table] for kind in (Kind.API, Kind.LEGACY))
    found = [
        Table("tables/pjrt.html", "PJRT C API", "The table that a plug-in answers with.", _by_prefix(api, 2)),
        Table(
            *("tables/extensions.html", "Extensions", "What a plug-in may offer beside its table."),
            _by_table(names[Kind.EXTENSION]),
        ),
        Table(
            *(
                "tables/objects.html",
                "Objects' own tables",
                "Functions that objects carry. Their calls are not recorded.",
            ),
            _by_table(names[Kind.OBJECT]),
        ),
        Table(
            *("tables/tpu.html", "TPU C API of 2023", "What jaxlib 0.4.13 looks up by name, before there was PJRT."),
            _by_prefix(legacy, 1),
        ),
        Table(
            *("tables/others.html", "Other functions", "Recorded, and in none of these tables."),
            _by_prefix(sorted(book.undescribed()), 1),
        ),
    ]
    return [table for table in found if table.groups]


def _by_table(names: Mapping[str, Sequence[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((table, tuple(functions)) for table, functions in sorted(names.items()))


def _by_prefix(names: Sequence[str], words: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Group the names by their first words; small groups are merged into the last group."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault("_".join(re.split(r"_|::", name)[:words]), []).append(name)
    small = [name for group in groups.values() if len(group) < _FEWEST for name in group]
    large = [(prefix, tuple(group)) for prefix, group in groups.items() if len(group) >= _FEWEST]
    return (*large, ("Others" if large else "All", tuple(small))) if small else tuple(large)


def table_page(table: Table, book: Book, templates: Templates) -> Page:
    """Return the page of a table: a row per function, a column per set-up that called any."""
    setups = [setup for setup in book.setups if any(book.calls_in(name, setup) for name in table.functions)]
    html, headings = templates.page("table.html", table.path, table=table, setups=setups)
    return Page(table.path, table.title, html, headings, f'<h1 id="top">{table.title}</h1><p>{table.about}</p>')


def overview_page(tables: Iterable[Table], templates: Templates) -> Page:
    """Return the page that lists all tables."""
    html, headings = templates.page("tables.html", addresses.FUNCTIONS, tables=tuple(tables))
    return Page(addresses.FUNCTIONS, "Functions", html, headings, '<h1 id="top">Functions</h1>')
