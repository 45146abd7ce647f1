"""Detection of finished recordings, for automatic indexing.

A capture grows in memory that its process has mapped, so the file system sends no notification. The capture folders
are polled instead: one `stat` each while nothing is new.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from framedex.errors import FramedexError
from framedex.upwards import folders_upwards
from framedex_server.indexes import projects_in

EVERY = 1.0
"""Seconds between two polls."""

LOOKS_PER_WALK = 30
"""Number of polls between two searches of the workspace for new projects."""


class Arrivals:
    """The captures below some folders, and the captures already returned."""

    def __init__(self) -> None:
        self._quiet: dict[Path, int] = {}
        self._told: set[Path] = set()
        self._growing: set[Path] = set()
        self._inside: tuple[Sequence[Path], list[Path]] = (), []
        self._looks = 0

    def ended(self, roots: Sequence[Path], indexed: Callable[[Path], set[Path]]) -> dict[Path, list[Path]]:
        """Return the captures whose recording has finished, by project; each is returned once.

        `indexed` returns the captures in a project's index. An indexed capture is returned only if an earlier poll saw
        it growing. Never raises.
        """
        found = {project: self._ended_in(project, indexed) for project in self._projects(roots)}
        return {project: captures for project, captures in found.items() if captures}

    def _projects(self, roots: Sequence[Path]) -> list[Path]:
        if self._looks % LOOKS_PER_WALK == 0 or self._inside[0] != roots:
            self._inside = roots, [project for root in roots for project in projects_in(root)]
        self._looks += 1
        above = (Path(folder) for root in roots for folder in folders_upwards(str(root)))
        around = [folder for folder in above if os.path.isdir(folder / ".framedex")]  # noqa: PTH112 - Path's raises
        return list(dict.fromkeys((*around, *self._inside[1])))

    def _ended_in(self, project: Path, indexed: Callable[[Path], set[Path]]) -> list[Path]:
        folder = project / ".framedex" / "captures"
        try:
            changed = folder.stat().st_mtime_ns
        except OSError:
            return []
        if self._quiet.get(folder) == changed:
            return []
        try:
            from framedex.captures import capture_folders  # fails without the native extension

            captures = [Path(os.path.realpath(capture)) for capture in capture_folders(folder)]
            begun = len(list(folder.iterdir())) - len(captures)
        except (FramedexError, OSError):
            return []
        new = [capture for capture in captures if capture not in self._told]
        growing = {capture for capture in new if not _is_over(capture)}
        ended = [capture for capture in new if capture not in growing]
        known = indexed(project) if ended else set()
        self._told.update(ended)
        due = [capture for capture in ended if capture in self._growing or capture not in known]
        self._growing |= growing
        if not growing and not begun:
            self._quiet[folder] = changed
        return due


def _is_over(capture: Path) -> bool:
    from framedex.captures import is_over

    try:
        return is_over(capture)
    except FramedexError:
        return True  # the reader of the capture will report the error
