"""Draw the functions called before and after a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from framedex import words
from framedex.guidebook.site.drawing import arrow_tip
from framedex.guidebook.site.text import brief, times
from framedex.model.guidebook.observed import Counted

_MOST = 6  # boxes per side
_WIDTH, _ROW, _BOX, _SIDE, _GAP = 830, 36, 27, 250, 40
_LETTERS = 35  # longest name that fits its box


def orders_svg(
    function: str, before: Sequence[Counted], after: Sequence[Counted], addresses: Mapping[str, str]
) -> Markup:
    """Return the picture: earlier calls on the left, later ones on the right; `addresses` are links to functions."""
    left, right = before[:_MOST], after[:_MOST]
    height = max(len(left), len(right), 1) * _ROW + 20
    middle = height / 2
    parts = [
        *_column(left, 0, _SIDE, (_SIDE + _GAP, middle), height, addresses),
        *_column(right, _WIDTH - _SIDE, _WIDTH - _SIDE, (_WIDTH - _SIDE - _GAP, middle), height, addresses),
        _box(function, None, _SIDE + _GAP, middle, "this", ""),
    ]
    return Markup(
        '<svg class="orders" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="group"'
        ' aria-labelledby="orders-t orders-d">'
        '<title id="orders-t">What is called before and after {name}</title>'
        '<desc id="orders-d">Before: {before}. After: {after}.</desc>'
        "{tip}{parts}</svg>"
    ).format(
        w=_WIDTH,
        h=height,
        name=brief(function),
        before=_said(left),
        after=_said(right),
        tip=arrow_tip("orders-tip"),
        parts=Markup("").join(parts),
    )


def _column(
    counted: Sequence[Counted],
    x: float,
    edge: float,
    this: tuple[float, float],
    height: float,
    addresses: Mapping[str, str],
) -> list[Markup]:
    """Return the boxes of a side with their arrows, between `edge` and the middle box."""
    is_left = x == 0
    whole = sum(each.count for each in counted) or 1
    top = (height - len(counted) * _ROW) / 2 + _ROW / 2
    found = []
    for index, each in enumerate(counted):
        y = top + index * _ROW
        start, end = ((edge, y), this) if is_left else (this, (edge, y))
        found.append(
            Markup(
                '<path class="arrow" d="M{} {} C{} {} {} {} {} {}" stroke-width="{}" marker-end="url(#orders-tip)"/>'
            ).format(
                *(start[0], _n(start[1]), start[0] + _GAP / 2, _n(start[1]), end[0] - _GAP / 2, _n(end[1])),
                *(end[0], _n(end[1]), _n(1 + 2 * each.count / whole)),
            )
        )
        found.append(_box(each.name, each.count, x, y, "other", addresses.get(each.name, "")))
    return found


def _box(name: str, count: int | None, x: float, y: float, kind: str, address: str) -> Markup:
    shown = brief(name if count is None else name.removeprefix("PJRT_"), _LETTERS - (0 if count is None else 6))
    label = Markup('<rect x="{}" y="{}" width="{}" height="{}" rx="5"/><text x="{}" y="{}">{}{}</text>').format(
        *(_n(x), _n(y - _BOX / 2), _SIDE, _BOX, _n(x + 9), _n(y + 4), shown),
        Markup(' <tspan class="count">{}</tspan>').format(times(count)) if count is not None else "",
    )
    inner = Markup('<g class="{}"><title>{}</title>{}</g>').format(kind, brief(name), label)
    return Markup('<a href="{}">{}</a>').format(address, inner) if address else inner


def _said(counted: Sequence[Counted]) -> str:
    return ", ".join(f"{brief(each.name)} {words.count(each.count, 'time')}" for each in counted) or "nothing"


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
