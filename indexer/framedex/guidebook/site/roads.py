"""Render the stack paths to a function as HTML: merged stacks, with one list per part without branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from framedex.guidebook.site.text import brief, linked
from framedex.model.guidebook.observed import Road
from framedex.words import count

_DEEPEST = 40  # nested branches; deeper ones are only counted


class Budget:
    """The remaining characters for stack paths on a page."""

    def __init__(self, characters: int) -> None:
        self.left = characters

    def take(self, html: str) -> bool:
        """Whether the text fits; if so, it is deducted."""
        if len(html) > self.left:
            return False
        self.left -= len(html)
        return True


def roads_html(roads: Sequence[Road], budget: Budget) -> Markup:
    """Return the trees as nested lists. Branches fold by keyboard and without scripts; the most frequent are open."""
    return Markup("").join(_branches(roads, budget, 0))


def road_html(road: Sequence[Road]) -> Markup:
    """Return one stack path as a list of frames."""
    return Markup('<ol class="road">{}</ol>').format(Markup("").join(map(_frame, road)))


def _branches(roads: Sequence[Road], budget: Budget, depth: int) -> Iterator[Markup]:
    left_out = 0
    for index, road in enumerate(roads):
        chain = _chain(road)
        frames = Markup("").join(_frame(frame) for frame in chain)
        if depth >= _DEEPEST or not budget.take(frames):
            left_out += road.calls
            continue
        listed = Markup('<ol class="road">{}</ol>').format(frames)
        inner = Markup("").join(_branches(chain[-1].roads, budget, depth + 1))
        if len(roads) == 1:
            yield listed + inner
            continue
        yield Markup(
            '<details class="branch"{}><summary><span class="calls">{}</span> <code>{}</code>'
            ' <span class="place">{}</span></summary>{}{}</details>'
        ).format(
            Markup(" open") if index == 0 and depth < 3 else "",
            count(road.calls, "call"),
            brief(road.function),
            brief(road.place.text),
            listed,
            inner,
        )
    if left_out:
        yield Markup('<p class="left-out">{} more on roads that are left out here.</p>').format(count(left_out, "call"))


def _chain(road: Road) -> list[Road]:
    """Return the frames from this one to the next branch or end."""
    chain = [road]
    while len(chain[-1].roads) == 1:
        chain.append(chain[-1].roads[0])
    return chain


def _frame(frame: Road) -> Markup:
    return Markup("<li>{}</li>").format(_content(frame))


def _content(frame: Road) -> Markup:
    folded = Markup("")
    if frame.folded:
        folded = Markup('<span class="folded">{} of glue above</span>').format(count(frame.folded, "frame"))
    language = Markup("<i>Py</i>") if frame.language == "python" else Markup("<b>C++</b>")
    return Markup("{} <code>{}</code> {}{}").format(language, brief(frame.function), linked(frame.place), folded)
