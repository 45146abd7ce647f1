"""Source locations in a report: a short file name, and a link."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from framedex.base.regularfile import read_regular_text
from framedex.commands.editor.browser import is_web_address
from framedex.commands.output.terminal import source_is_here
from framedex.model.locations import path_in_repository
from framedex.texts.places import format_cell_name, format_location, format_location_labels, format_recorded_text_labels

if TYPE_CHECKING:
    from framedex.model import Location

_VSCODE = ("vscode", "vscode-insiders", "vscodium", "cursor", "windsurf")
_JETBRAINS = ("clion", "pycharm", "idea")

EDITORS = {
    **{name: f"{name}://file{{path}}:{{line}}" for name in _VSCODE},
    **{name: f"{name}://open?file={{path}}&line={{line}}" for name in _JETBRAINS},
    "framedex": "framedex://{path}#{line}",
    "none": "",
}
"""Templates of links to a line of a local file, by editor. `framedex open` handles `framedex://` links."""


@dataclass(frozen=True, slots=True)
class ReportLocation:
    """A location in a report: its text, whole path, link (empty: none), and labels.

    `source` is the text of the line, in a notebook cell.
    """

    text: str
    path: str
    link: str
    labels: str
    source: str = ""


class ReportLocations:
    """Links and short names for locations; a short name is the unique end of a path in the report."""

    def __init__(self, paths: Collection[str], editor: str) -> None:
        self._template = EDITORS[editor]
        self._names = _shorten_names(paths)
        self._here: dict[str, bool] = {}
        self._shown: set[str] = set()

    def format(self, location: Location) -> ReportLocation:
        """Format a location for the report."""
        if format_cell_name(location.path):
            text = format_location(location.path, location.line)
            return ReportLocation(
                text,
                location.path,
                self._link(location),
                ", ".join(format_location_labels(location)),
                _read_source_line(location),
            )
        name = self._names.get(location.path, location.path)
        self._shown.add(location.path)
        link = self._link(location)
        labels = [
            *format_location_labels(location),
            *format_recorded_text_labels(location),
            *([] if link or not self._template else ["not here"]),
        ]
        return ReportLocation(f"{name}:{location.line}", location.path, link, ", ".join(labels))

    def files(self) -> list[tuple[str, str]]:
        """The short name and the whole path of each file that appeared under a short name so far."""
        return sorted((self._names[path], path) for path in self._shown if self._names.get(path, path) != path)

    def _link(self, location: Location) -> str:
        if location.url is not None:
            return (
                location.url if is_web_address(location.url) else ""
            )  # the settings of an untrusted project may contain any address
        if not self._is_here(location):
            return ""
        return self._template.format(path=quote(location.path, errors="surrogateescape"), line=location.line)

    def _is_here(self, location: Location) -> bool:
        """Whether the file is on this machine, cached per path."""
        if location.path not in self._here:
            self._here[location.path] = source_is_here(location)
        return self._here[location.path]


def _read_source_line(location: Location) -> str:
    """The text of a line without indentation; empty if it cannot be read."""
    try:
        lines = read_regular_text(Path(location.path)).splitlines()
    except OSError:
        return ""
    return lines[location.line - 1].strip() if 0 < location.line <= len(lines) else ""


def _shorten_names(paths: Collection[str]) -> dict[str, str]:
    """The shortest end of each path, in whole parts, that differs from the ends of all others."""
    found: dict[str, str] = {}
    remaining, parts = list(paths), 1
    while remaining:
        ends: dict[str, list[str]] = {}
        for path in remaining:
            ends.setdefault("/".join(path_in_repository(path).split("/")[-parts:]), []).append(path)
        remaining = []
        for end, paths_with_end in ends.items():
            if len(paths_with_end) == 1:
                found[paths_with_end[0]] = end
                continue
            # A path without further parts keeps its whole path: it may be the end of another path.
            for path in paths_with_end:
                if parts < len(path_in_repository(path).split("/")):
                    remaining.append(path)
                else:
                    found[path] = path
        parts += 1
    return found
