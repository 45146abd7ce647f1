"""Labels of a source location: the evidence for its line, and the changes since it was recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framedex.base.plaintext import make_visible, truncate
from framedex.model import LocationEvidence, Staleness, is_of_nearest_release
from framedex.model.locations import is_unchanged_between_releases

if TYPE_CHECKING:
    from framedex.model import Location, StaticCaller

_MAX_TEXT_LENGTH = 100  # characters of a recorded line

_CELL = re.compile(r".*/cells/(?:([^/]+)\.)?(In\[\d+\])(?:-\d+)?\.py")


def format_cell_name(path: str) -> str:
    """The name of the notebook cell stored in a capture's file (`captures/stored_files.py`); empty for another file.

    It is `train.ipynb cell In[3]`, or `cell In[3]` if the notebook is unknown.
    """
    cell = _CELL.fullmatch(path)
    return "" if cell is None else f"{cell[1]} cell {cell[2]}" if cell[1] else f"cell {cell[2]}"


def format_location(path: str, line: int) -> str:
    """A location as `path:line`, or `train.ipynb cell In[3] line 4` for a notebook cell."""
    cell = format_cell_name(path)
    return f"{cell} line {line}" if cell else f"{path}:{line}"


def format_location_labels(location: Location) -> list[str]:
    """The labels of a line: evidence unless exact, `nearest release` for another release's sources, and staleness."""
    known = [_format_evidence_label(location)] * (location.how is not LocationEvidence.EXACT)
    return known + format_release_labels(location) + format_stale_labels(location)


def _format_evidence_label(location: Location) -> str:
    if location.last_line is None:
        return location.how.value
    if location.last_line == location.line:
        return f"{location.how.value} calls of this line"
    return f"{location.how.value} lines {location.line} and {location.last_line}"


def format_recorded_text_labels(location: Location) -> list[str]:
    """The recorded text of a line that was changed or removed; empty if unknown."""
    text = make_visible(location.recorded_text)
    return [f"as recorded: {truncate(text, _MAX_TEXT_LENGTH)}"] if text else []


def format_release_labels(location: Location) -> list[str]:
    """The label of a location in another release's sources, for a recorded release with unknown sources."""
    if is_unchanged_between_releases(location.path):
        return ["same in both neighbouring releases"]
    return ["nearest release"] * is_of_nearest_release(location.path)


def format_caller_uncertainty(caller: StaticCaller) -> str:
    """The uncertainty of a static caller, as a suffix for other text; empty if the caller is certain."""
    if caller.one_of > 1:
        return f", one of {caller.one_of} that it may call"
    return "" if caller.is_sure else ", may call another of this name"


def format_stale_labels(location: Location) -> list[str]:
    """The label of a line whose file has changed since it was recorded or indexed."""
    if location.stale is None:
        return []
    if location.stale is Staleness.UNKNOWN:
        return ["file changed since"]
    return [
        f"moved from line {location.moved_from}"
        if location.stale is Staleness.MOVED
        else f"was line {location.moved_from}, edited since"
    ]
