"""The releases that a text states, and the release of a local file.

`statements` has the forms of statements. The release of a file comes from the distribution installed next to its
package, or from jax's own version.py.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from framedex.patterns import compiled_on_use
from framedex.regularfile import open_regular
from framedex.releases.statements import (
    TRIGGERS,
    Release,
    StatementReader,
    imported_name,
    release_version,
    removed_or_added,
    triggers_in,
)
from framedex.systemlimits import raise_if_limit

_SITE = compiled_on_use(r"(?P<site>.*/(?:site|dist)-packages)/(?P<package>\w+)(?:\.py$|/)")
_LIBRARY = compiled_on_use(r".*/python(?P<version>\d+\.\d+)/")
_PYTHON = compiled_on_use(r".*(?:/lib\d*/python3\.(?P<minor>\d+)t?/|\\python3(?P<windows>\d+)\\lib\\)", re.IGNORECASE)
_TREE = compiled_on_use(r"(?P<folder>.*/)(?P<package>jaxlib|jax)/")
_VERSION = compiled_on_use(r"^_version\s*=\s*['\"]([\w.]+)['\"]", re.MULTILINE)
_TRIGGERS = compiled_on_use("|".join(map(re.escape, TRIGGERS)))
_LARGEST = 1 << 16  # bytes of a version.py
_LONGEST_LINE = 1 << 12  # characters: statements appear in short lines
_MOST_STATED = 4096


class StatedReleases:
    """The releases that the lines of one text state so far. Of several versions of a package, any may apply."""

    triggers = TRIGGERS

    def __init__(self, text: str = "") -> None:
        self._reader = StatementReader()
        self._versions: dict[str, set[str]] = defaultdict(set)
        self._replaced: dict[str, set[str]] = defaultdict(set)  # versions that uv reports as removed
        self.count = 0
        """The number of changes of the stated releases; 0 if nothing is stated."""
        for line in self._lines_to_read(text):
            self.take(line)

    @property
    def depends_on_lines_before(self) -> bool:
        """Whether the releases in the next line depend on earlier lines."""
        return self._reader.depends_on_lines_before

    @property
    def depended_on_lines_before(self) -> bool:
        """Whether the releases in the last line depend on earlier lines."""
        return self._reader.depended_on_lines_before

    def take(self, line: str) -> None:
        """Parse the next line."""
        if len(line) > _LONGEST_LINE or not (self._reader.awaits_answer or _TRIGGERS.search(line)):
            self.skip_lines(1)
            return
        change = removed_or_added(line) if "==" in line else None
        if change is not None and change[0] == "+":
            self._forget_replaced(change[1])
        for release in self._reader.read(line):
            if self._keep(release) and change == ("-", release.package):
                self._replaced[release.package].add(release.version)

    def skip_lines(self, count: int) -> None:
        """Skip lines that are not given to `take`."""
        self._reader.skip_lines(count)

    def of(self, package: str) -> frozenset[str]:
        """The versions of a package that the text states; empty if none."""
        return frozenset(self._versions.get(package, ()))

    def refuses(self, release: Release | None) -> bool:
        """Whether the text states other versions of the package, but not this one."""
        stated = self._versions.get(release.package) if release is not None else None
        return bool(stated and release and release.version not in stated)

    def _lines_to_read(self, text: str) -> Iterator[str]:
        """The lines that may state a release: lines with triggers, and answers to questions."""
        position, triggers = 0, triggers_in(text)
        while triggers is not None and (found := triggers.search(text, position)) is not None:
            begin, end = text.rfind("\n", 0, found.start()) + 1, _next_line(text, found.start())
            if self.depends_on_lines_before:
                self.skip_lines(text.count("\n", position, begin))
            position = end
            yield text[begin : position - 1]
            while self._reader.awaits_answer and position < len(text):
                begin, position = position, _next_line(text, position)
                yield text[begin : position - 1]

    def _keep(self, release: Release) -> bool:
        """Add a release; False if it was already known."""
        versions = self._versions[release.package]
        if release.version in versions or self.count >= _MOST_STATED:
            return False
        versions.add(release.version)
        self.count += 1
        return True

    def _forget_replaced(self, package: str) -> None:
        if replaced := self._replaced.pop(package, None):
            self._versions[package] -= replaced
            self.count += 1


class FileReleases:
    """The releases of local files. Each folder is read once."""

    def __init__(self) -> None:
        self._installed: dict[tuple[str, str], str | None] = {}

    def of(self, path: str) -> Release | None:
        """The release of a file; None if unknown."""
        if installed := _SITE.match(path):
            return self._found(installed["site"], installed["package"], _distribution)
        if library := _LIBRARY.match(path):
            return Release("python", library["version"])
        if tree := _TREE.match(path):
            return self._found(f"{tree['folder']}{tree['package']}", tree["package"], _own)
        return None

    def _found(self, folder: str, package: str, version_of: Callable[[str, str], str | None]) -> Release | None:
        key = folder, package
        if key not in self._installed:
            self._installed[key] = version_of(folder, package)
        version = self._installed[key]
        return Release(imported_name(package), release_version(version)) if version else None


def python_in_path(path: str) -> str:
    """The Python version in a file's installation path, such as `3.12`; empty if it has none.

    Windows paths are supported.
    """
    found = _PYTHON.match(path)
    return f"3.{found['minor'] or found['windows']}" if found else ""


def _next_line(text: str, position: int) -> int:
    """The position after the next line break, or after the end of the text plus one."""
    end = text.find("\n", position)
    return (len(text) if end < 0 else end) + 1


def _distribution(site: str, package: str) -> str | None:
    """The version of the only distribution for a package in a site-packages folder; else None."""
    try:
        names = [name for name in os.listdir(site) if name.endswith(".dist-info")]  # noqa: PTH208
    except OSError as error:
        raise_if_limit(error)
        return None
    wanted = imported_name(package)
    versions = [
        version.removesuffix(".dist-info")
        for distribution, dash, version in (name.partition("-") for name in names)
        if dash and imported_name(distribution) == wanted
    ]
    return versions[0] if len(versions) == 1 else None


def _own(folder: str, package: str) -> str | None:
    """The version in the version.py of a package in a source tree; None if missing."""
    try:
        with open_regular(Path(folder, "version.py")) as file:
            found = _VERSION.search(file.read(_LARGEST).decode(errors="replace"))
    except (OSError, ValueError):
        return None
    return found[1] if found else None
