"""All pages of a site except the documentation, in listed order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from framedex.guidebook.comparing import changed_roads
from framedex.guidebook.notes import note, object_note
from framedex.guidebook.site import differences, functions, home, lines, objects, tables, tasks, versions
from framedex.guidebook.site.book import Book
from framedex.guidebook.site.page import Page, Section
from framedex.guidebook.site.templates import Templates
from framedex.model.guidebook.compared import Comparison
from framedex.model.guidebook.described import ApiRelease


def contents_of(book: Book, releases: Sequence[ApiRelease], comparison: Comparison | None) -> list[Section]:
    """Return the pages of a book; `releases` are jaxlib releases with a known API, `comparison` the requested one."""
    templates = Templates(book)
    types = [objects.object_page(name, book, templates, object_note) for name in book.types()]
    programs = [
        Section(title, tuple(tasks.task_page(task, book, templates) for task in same))
        for title, same in tasks.by_program(book)
    ]
    changes = differences.changes_page(changed_roads(book.observations), templates)
    compared = [differences.comparison_page(comparison, templates)] if comparison else []
    return [
        Section("Guidebook", (home.home_page(book, templates), home.runs_page(book, templates))),
        Section("Functions", _functions(book, templates)),
        Section("Objects", (objects.overview_page(book, templates), *types)),
        Section("Tasks", (tasks.overview_page(book, templates), *programs)),
        Section("Versions", (versions.versions_page(book, releases, templates), changes, *compared)),
        Section("Lines", (lines.lines_page(book, templates),)),
    ]


def _functions(book: Book, templates: Templates) -> tuple[Page | Section, ...]:
    found = tables.tables_of(book)
    listed: list[Page | Section] = [tables.overview_page(found, templates)]
    for table in found:
        groups = [Section(title, _group(title, names, table, book, templates)) for title, names in table.groups]
        listed.append(Section(table.title, (tables.table_page(table, book, templates), *groups)))
    return tuple(listed)


def _group(title: str, names: Sequence[str], table: tables.Table, book: Book, templates: Templates) -> tuple[Page, ...]:
    """Return the pages of a group, listed by their titles without the group's prefix."""
    where = (table.path, table.title)
    pages = (functions.function_page(name, book, templates, note, where) for name in names)
    return tuple(replace(page, listed=page.title.removeprefix(f"{title}_")) for page in pages)
