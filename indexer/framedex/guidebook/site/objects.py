"""The pages of object types, with drawings of their life cycles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from markupsafe import Markup

from framedex.base import words
from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import GuidebookData, sum_counts
from framedex.guidebook.site.html_text import draw_arrow_tip, format_times, render_prose, shorten
from framedex.guidebook.site.templates import Page, Templates
from framedex.model.guidebook import LifeCycle, NameCount


def build_object_page(name: str, book: GuidebookData, templates: Templates, note: Callable[[str], str | None]) -> Page:
    """Return the page of an object type: its life cycle in all runs, and in each."""
    path = book.object_pages[name]
    cycles = book.cycles(name)
    links = {each: addresses.relative_link(path, page) for each, page in book.function_pages.items()}
    words = note(name)
    html, headings = templates.page(
        "object.html",
        path,
        name=name,
        cycles=cycles,
        words=render_prose(words, links) if words else None,
        picture=draw_life_cycle(name, cycles, links),
        stages=[
            ("Made by", sum_counts(cycle.made for cycle in cycles)),
            ("Used by", sum_counts(cycle.used for cycle in cycles)),
            ("Deleted by", sum_counts(cycle.deleted for cycle in cycles)),
            ("Destroyed by", sum_counts(cycle.destroyed for cycle in cycles)),
        ],
    )
    searched = templates.fill(
        "object_searched.html", path, name=name, words=render_prose(words, links) if words else ""
    )
    return Page(path, name, html, headings, searched)


def build_objects_overview_page(book: GuidebookData, templates: Templates) -> Page:
    """Return the page that lists all types."""
    rows = [(name, book.cycles(name), sum_counts(cycle.made for cycle in book.cycles(name))) for name in book.types()]
    html, headings = templates.page("objects.html", addresses.OBJECTS, rows=rows)
    return Page(addresses.OBJECTS, "Objects", html, headings, '<h1 id="top">Objects</h1>')


_MAX_FUNCTIONS = 10  # functions per stage
_WIDTH, _ROW, _HEAD, _GAP, _COLUMNS = 830, 24, 40, 34, 2
_MAX_LETTERS = 42


def draw_life_cycle(name: str, cycles: Sequence[LifeCycle], addresses: Mapping[str, str]) -> Markup:
    """Return the picture for all runs together; `addresses` are links to the pages of functions."""
    stages = [
        ("made by", sum_counts(cycle.made for cycle in cycles)),
        ("used by", sum_counts(cycle.used for cycle in cycles)),
        ("deleted by", sum_counts(cycle.deleted for cycle in cycles)),
        ("destroyed by", sum_counts(cycle.destroyed for cycle in cycles)),
    ]
    shown = [(title, counted) for title, counted in stages if counted]
    parts: list[Markup] = []
    top = 1
    for title, counted in shown:
        if parts:
            parts.append(
                Markup('<path class="arrow" d="M40 {}V{}" stroke-width="2" marker-end="url(#life-tip)"/>').format(
                    top - _GAP + 3, top - 3
                )
            )
        height = _stage_height(counted)
        parts += _draw_stage(title, counted, top, height, addresses)
        top += height + _GAP
    left = sum(cycle.left for cycle in cycles)
    return Markup(
        '<svg class="life" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="group" aria-labelledby="life-t life-d">'
        '<title id="life-t">The life of {name}</title><desc id="life-d">{said}</desc>'
        "{tip}{parts}</svg>"
    ).format(
        w=_WIDTH,
        h=max(top - _GAP + 1, 1),
        name=shorten(name),
        said="; ".join([*(_format_stage(title, counted) for title, counted in shown), f"{left:,} left at the end"]),
        tip=draw_arrow_tip("life-tip"),
        parts=Markup("").join(parts),
    )


def _stage_height(counted: Sequence[NameCount]) -> int:
    rows = -(-min(len(counted), _MAX_FUNCTIONS) // _COLUMNS) + (len(counted) > _MAX_FUNCTIONS)
    return _HEAD + rows * _ROW + 8


def _draw_stage(
    title: str, counted: Sequence[NameCount], top: int, height: int, addresses: Mapping[str, str]
) -> Iterator[Markup]:
    yield Markup('<rect class="stage" x="1" y="{}" width="{}" height="{}" rx="7"/>').format(top, _WIDTH - 2, height)
    yield Markup('<text class="head" x="16" y="{}">{}</text>').format(top + 26, title)
    for index, each in enumerate(counted[:_MAX_FUNCTIONS]):
        row, column = divmod(index, _COLUMNS)
        line = Markup('<text class="row" x="{}" y="{}">{} <tspan class="count">{}</tspan></text>').format(
            16 + column * (_WIDTH // _COLUMNS),
            top + _HEAD + 14 + row * _ROW,
            shorten(each.name.removeprefix("PJRT_"), _MAX_LETTERS),
            format_times(each.count),
        )
        address = addresses.get(each.name)
        yield Markup('<a href="{}">{}</a>').format(address, line) if address else line
    if len(counted) > _MAX_FUNCTIONS:
        yield Markup('<text class="row more" x="16" y="{}">and {} more</text>').format(
            top + height - 14, len(counted) - _MAX_FUNCTIONS
        )


def _format_stage(title: str, counted: Sequence[NameCount]) -> str:
    return f"{title} " + ", ".join(
        f"{shorten(each.name)} {words.count(each.count, 'time')}" for each in counted[:_MAX_FUNCTIONS]
    )
