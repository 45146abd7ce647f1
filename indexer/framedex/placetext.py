"""What is said beside a place: how its line is known, and what became of it since it was recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framedex.model import How, Stale, is_of_nearest_release
from framedex.plaintext import visible

if TYPE_CHECKING:
    from framedex.model import Location, StaticCaller

_LONGEST_TEXT = 100  # characters of a recorded line

_CELL = re.compile(r".*/cells/(?:([^/]+)\.)?(In\[\d+\])(?:-\d+)?\.py")


def cell_name(path: str) -> str:
    """The cell whose text a capture keeps in a file (`captures/cells.py`), empty for another file.

    `train.ipynb cell In[3]`, or `cell In[3]` where the notebook is not known.
    """
    cell = _CELL.fullmatch(path)
    return "" if cell is None else f"{cell[1]} cell {cell[2]}" if cell[1] else f"cell {cell[2]}"


def place_text(path: str, line: int) -> str:
    """`path:line`, of a cell of a notebook `train.ipynb cell In[3] line 4`."""
    cell = cell_name(path)
    return f"{cell} line {line}" if cell else f"{path}:{line}"


def location_labels(location: Location) -> list[str]:
    """The labels of a line: how it is known unless exactly, whether only in another release than the recorded one,
    and what became of it where its file has changed.
    """
    known = [location.how.value] * (location.how is not How.EXACT)
    return known + release_labels(location) + stale_labels(location)


def recorded_text_labels(location: Location) -> list[str]:
    """The text of a line that was changed or removed, as it was recorded; none if it is not known."""
    text = visible(location.recorded_text)
    return [f"as recorded: {text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + '…'}"] if text else []


def release_labels(location: Location) -> list[str]:
    """The label of a place in the sources of another release, as the recorded one's are not known."""
    return ["nearest release"] * is_of_nearest_release(location.path)


def doubt_of_caller(caller: StaticCaller) -> str:
    """How far a caller's source tells which function it calls, to follow what else is said; empty where it does."""
    if caller.one_of > 1:
        return f", one of {caller.one_of} that it may call"
    return "" if caller.is_sure else ", may call another of this name"


def stale_labels(location: Location) -> list[str]:
    """What has become of a line whose file has changed since it was recorded or indexed."""
    if location.stale is None:
        return []
    if location.stale is Stale.UNKNOWN:
        return ["file changed since"]
    return [
        f"moved from line {location.moved_from}"
        if location.stale is Stale.MOVED
        else f"was line {location.moved_from}, edited since"
    ]
