"""Pages of differences: between two chosen sides, and between a framework's versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from framedex.guidebook.site import addresses
from framedex.guidebook.site.page import Page
from framedex.guidebook.site.templates import Templates
from framedex.model.guidebook.compared import ChangedRoad, ComparedFunction, Comparison

_MOST_ROADS = 50
_MOST_CALLS = 30  # of a stack path, from a little before its first difference
_BEFORE = 3


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A call in a side-by-side list; `sign` is "-" if only the left side has it, "+" if only the right, else empty."""

    sign: str
    function: str


def comparison_page(comparison: Comparison, templates: Templates) -> Page:
    """Return the page of a comparison: functions called by one side only, those called by both, and differing steps."""
    both = [each for each in comparison.functions if each.left and each.right]
    html, headings = templates.page(
        *("comparison.html", addresses.COMPARISON),
        comparison=comparison,
        one_sided=[
            (comparison.left, [each for each in comparison.functions if not each.right]),
            (comparison.right, [each for each in comparison.functions if not each.left]),
        ],
        both=sorted(both, key=_how_different),
        roads=_shown(comparison.roads),
        more=len(comparison.roads) - _MOST_ROADS,
    )
    return Page(addresses.COMPARISON, "Comparison", html, headings, '<h1 id="top">Comparison</h1>')


def changes_page(roads: Sequence[ChangedRoad], templates: Templates) -> Page:
    """Return the page of steps that changed between a framework's versions."""
    html, headings = templates.page(
        *("changes.html", addresses.CHANGES), roads=_shown(roads), more=len(roads) - _MOST_ROADS
    )
    return Page(addresses.CHANGES, "Changed roads", html, headings, '<h1 id="top">Changed roads</h1>')


def _how_different(each: ComparedFunction) -> tuple[float, str]:
    """Return a sort key that puts the functions with the largest ratio of calls first."""
    left, right = (each.left.calls if each.left else 0), (each.right.calls if each.right else 0)
    return (min(left, right) / max(left, right, 1), each.function)


def _shown(roads: Sequence[ChangedRoad]) -> list[tuple[ChangedRoad, list[ShownCall], int]]:
    """Return the changed steps with their calls side by side, and the number of calls not shown."""
    shown = []
    for road in roads[:_MOST_ROADS]:
        calls = _beside(road)
        start = max(next((index for index, call in enumerate(calls) if call.sign), 0) - _BEFORE, 0)
        part = calls[start : start + _MOST_CALLS]
        shown.append((road, part, len(calls) - start - len(part)))
    return shown


def _beside(road: ChangedRoad) -> list[ShownCall]:
    found = []
    matcher = SequenceMatcher(a=road.left_calls, b=road.right_calls, autojunk=False)
    for kind, left, left_end, right, right_end in matcher.get_opcodes():
        if kind == "equal":
            found += [ShownCall("", name) for name in road.left_calls[left:left_end]]
        else:
            found += [ShownCall("-", name) for name in road.left_calls[left:left_end]]
            found += [ShownCall("+", name) for name in road.right_calls[right:right_end]]
    return found
