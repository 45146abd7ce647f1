"""Draw the life cycle of an object type: the functions that make, use, delete and destroy its objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from framedex import words
from framedex.guidebook.site.book import total
from framedex.guidebook.site.drawing import arrow_tip
from framedex.guidebook.site.text import brief, times
from framedex.model.guidebook.observed import Counted, LifeCycle

_MOST = 10  # functions per stage
_WIDTH, _ROW, _HEAD, _GAP, _COLUMNS = 830, 24, 40, 34, 2
_LETTERS = 42


def life_cycle_svg(name: str, cycles: Sequence[LifeCycle], addresses: Mapping[str, str]) -> Markup:
    """Return the picture for all runs together; `addresses` are links to the pages of functions."""
    stages = [
        ("made by", total(cycle.made for cycle in cycles)),
        ("used by", total(cycle.used for cycle in cycles)),
        ("deleted by", total(cycle.deleted for cycle in cycles)),
        ("destroyed by", total(cycle.destroyed for cycle in cycles)),
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
        height = _height(counted)
        parts += _stage(title, counted, top, height, addresses)
        top += height + _GAP
    left = sum(cycle.left for cycle in cycles)
    return Markup(
        '<svg class="life" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="group" aria-labelledby="life-t life-d">'
        '<title id="life-t">The life of {name}</title><desc id="life-d">{said}</desc>'
        "{tip}{parts}</svg>"
    ).format(
        w=_WIDTH,
        h=max(top - _GAP + 1, 1),
        name=brief(name),
        said="; ".join([*(_said(title, counted) for title, counted in shown), f"{left:,} left at the end"]),
        tip=arrow_tip("life-tip"),
        parts=Markup("").join(parts),
    )


def _height(counted: Sequence[Counted]) -> int:
    rows = -(-min(len(counted), _MOST) // _COLUMNS) + (len(counted) > _MOST)
    return _HEAD + rows * _ROW + 8


def _stage(
    title: str, counted: Sequence[Counted], top: int, height: int, addresses: Mapping[str, str]
) -> Iterator[Markup]:
    yield Markup('<rect class="stage" x="1" y="{}" width="{}" height="{}" rx="7"/>').format(top, _WIDTH - 2, height)
    yield Markup('<text class="head" x="16" y="{}">{}</text>').format(top + 26, title)
    for index, each in enumerate(counted[:_MOST]):
        row, column = divmod(index, _COLUMNS)
        line = Markup('<text class="row" x="{}" y="{}">{} <tspan class="count">{}</tspan></text>').format(
            16 + column * (_WIDTH // _COLUMNS),
            top + _HEAD + 14 + row * _ROW,
            brief(each.name.removeprefix("PJRT_"), _LETTERS),
            times(each.count),
        )
        address = addresses.get(each.name)
        yield Markup('<a href="{}">{}</a>').format(address, line) if address else line
    if len(counted) > _MOST:
        yield Markup('<text class="row more" x="16" y="{}">and {} more</text>').format(
            top + height - 14, len(counted) - _MOST
        )


def _said(title: str, counted: Sequence[Counted]) -> str:
    return f"{title} " + ", ".join(f"{brief(each.name)} {words.count(each.count, 'time')}" for each in counted[:_MOST])
