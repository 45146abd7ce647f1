"""All pages of a site except the documentation, in listed order, and the tables that group the functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from framedex.guidebook.comparison import find_changed_paths
from framedex.guidebook.notes import read_note, read_object_note
from framedex.guidebook.site import addresses, functions, home, objects, tasks, versions
from framedex.guidebook.site.book import GuidebookData
from framedex.guidebook.site.templates import Page, Section, Templates
from framedex.model.guidebook import ApiRelease, Comparison, Kind


def list_pages(book: GuidebookData, releases: Sequence[ApiRelease], comparison: Comparison | None) -> list[Section]:
    """Return the pages of a book; `releases` are jaxlib releases with a known API, `comparison` the requested one."""
    templates = Templates(book)
    types = [objects.build_object_page(name, book, templates, read_object_note) for name in book.types()]
    programs = [
        Section(title, tuple(tasks.build_task_page(task, book, templates) for task in same))
        for title, same in tasks.group_by_program(book)
    ]
    changes = versions.build_changes_page(find_changed_paths(book.observations), templates)
    compared = [versions.build_comparison_page(comparison, templates)] if comparison else []
    return [
        Section("Guidebook", (home.build_home_page(book, templates), home.build_runs_page(book, templates))),
        Section("Functions", _function_sections(book, templates)),
        Section("Objects", (objects.build_objects_overview_page(book, templates), *types)),
        Section("Tasks", (tasks.build_tasks_overview_page(book, templates), *programs)),
        Section("Versions", (versions.build_versions_page(book, releases, templates), changes, *compared)),
        Section("Lines", (home.build_lines_page(book, templates),)),
    ]


def _function_sections(book: GuidebookData, templates: Templates) -> tuple[Page | Section, ...]:
    found = group_tables(book)
    listed: list[Page | Section] = [build_functions_overview_page(found, templates)]
    for table in found:
        groups = [Section(title, _group_pages(title, names, table, book, templates)) for title, names in table.groups]
        listed.append(Section(table.title, (build_table_page(table, book, templates), *groups)))
    return tuple(listed)


def _group_pages(
    title: str, names: Sequence[str], table: Table, book: GuidebookData, templates: Templates
) -> tuple[Page, ...]:
    """Return the pages of a group, listed by their titles without the group's prefix."""
    table_link = (table.path, table.title)
    pages = (functions.build_function_page(name, book, templates, read_note, table_link) for name in names)
    return tuple(replace(page, listed=page.title.removeprefix(f"{title}_")) for page in pages)


_MIN_GROUP_SIZE = 3  # minimum number of functions in a group


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


def group_tables(book: GuidebookData) -> list[Table]:
    """Return the tables of a book, without empty ones."""
    names: dict[Kind, dict[str, list[str]]] = {kind: {} for kind in Kind}
    for each in book.described:
        names[each.kind].setdefault(each.table, []).append(each.name)
    api, legacy = ([name for table in names[kind].values() for name in table] for kind in (Kind.API, Kind.LEGACY))
    found = [
        Table("tables/pjrt.html", "PJRT C API", "The function table of a plug-in.", _group_by_prefix(api, 2)),
        Table(
            *("tables/extensions.html", "Extensions", "Optional extensions of a plug-in's table."),
            _group_by_table(names[Kind.EXTENSION]),
        ),
        Table(
            *(
                "tables/objects.html",
                "Objects' own tables",
                "Functions that are fields of objects. Their calls are not recorded.",
            ),
            _group_by_table(names[Kind.OBJECT]),
        ),
        Table(
            *(
                "tables/tpu.html",
                "TPU C API of 2023",
                "Functions that jaxlib 0.4.13 looks up by name, from before PJRT.",
            ),
            _group_by_prefix(legacy, 1),
        ),
        Table(
            *("tables/others.html", "Other functions", "Recorded functions that are in none of these tables."),
            _group_by_prefix(sorted(book.functions_without_description()), 1),
        ),
    ]
    return [table for table in found if table.groups]


def _group_by_table(names: Mapping[str, Sequence[str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((table, tuple(functions)) for table, functions in sorted(names.items()))


def _group_by_prefix(names: Sequence[str], words: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Group the names by their first words; small groups are merged into the last group."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault("_".join(re.split(r"_|::", name)[:words]), []).append(name)
    small = [name for group in groups.values() if len(group) < _MIN_GROUP_SIZE for name in group]
    large = [(prefix, tuple(group)) for prefix, group in groups.items() if len(group) >= _MIN_GROUP_SIZE]
    return (*large, ("Others" if large else "All", tuple(small))) if small else tuple(large)


def build_table_page(table: Table, book: GuidebookData, templates: Templates) -> Page:
    """Return the page of a table: a row per function, a column per set-up that called any."""
    setups = [setup for setup in book.setups if any(book.count_calls_in(name, setup) for name in table.functions)]
    html, headings = templates.page("table.html", table.path, table=table, setups=setups)
    return Page(table.path, table.title, html, headings, f'<h1 id="top">{table.title}</h1><p>{table.about}</p>')


def build_functions_overview_page(tables: Iterable[Table], templates: Templates) -> Page:
    """Return the page that lists all tables."""
    html, headings = templates.page("tables.html", addresses.FUNCTIONS, tables=tuple(tables))
    return Page(addresses.FUNCTIONS, "Functions", html, headings, '<h1 id="top">Functions</h1>')
